#include "queries/common/vocabulary.h"

#include <algorithm>

#include "queries/common/random.h"

namespace glaive::queries {
namespace {

constexpr std::uint64_t kFrequent = 100;
constexpr std::uint64_t kLetters = 13;  // of digits, and as many of filler
/// Lengths, each as probable as another.
constexpr std::array<std::uint32_t, 24> kLengths = {2, 3, 4, 4, 5, 5, 5,  6,  6,  6,  7,  7,
                                                    7, 8, 8, 8, 9, 9, 10, 10, 11, 12, 15, 18};

/// The bytes that a word is to have, more or less.
std::uint32_t DrawLength(std::uint64_t number, std::uint64_t random) {
  return number <= kFrequent ? 2 + static_cast<std::uint32_t>(Below(4, random))
                             : kLengths[Below(kLengths.size(), random)];
}

}  // namespace

GeneratedWord WordOf(std::uint64_t number) {
  GeneratedWord word;
  const auto add = [&word](char byte) { word.bytes[word.length++] = byte; };
  const std::uint64_t random = Mix(number);
  for (std::uint64_t rest = number; rest > 0; rest = (rest - 1) / kLetters) {
    add(static_cast<char>('a' + (rest - 1) % kLetters));
  }
  const std::uint32_t length = DrawLength(number, random);
  std::uint64_t letters = Mix(random);
  bool is_capital = random % 16 == 0;
  while (word.length < length) {
    add(static_cast<char>((is_capital ? 'N' : 'n') + Below(kLetters, letters)));
    letters = Mix(letters);
    is_capital = false;
  }
  if (random % 16 == 1) {
    add(static_cast<char>('0' + Below(10, letters)));
  } else if (random % 16 == 2) {
    add('\xC3');  // é
    add('\xA9');
  }
  return word;
}

}  // namespace glaive::queries
