#include "queries/nexmark/draws.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "queries/common/random.h"

namespace glaive::queries::nexmark {

std::uint64_t Price(std::uint64_t random) {
  return static_cast<std::uint64_t>(std::llround(std::pow(10, 6 * Unit(random)) * 100));
}

void FillText(std::span<char> field, std::uint64_t random) {
  constexpr std::uint64_t kLowNibbles = 0x0f0f0f0f0f0f0f0f;
  constexpr std::uint64_t kAllOfA = 0x6161616161616161;  // 8 times 'a'
  for (std::size_t done = 0; done < field.size(); done += sizeof(random)) {
    const std::uint64_t letters = (random & kLowNibbles) + kAllOfA;  // 'a' to 'p'
    std::memcpy(&field[done], &letters, std::min(sizeof(letters), field.size() - done));
    random = Mix(random + kCounterStep);
  }
}

}  // namespace glaive::queries::nexmark
