// The words of generated text: word number n, for any n from 1 to kMaxKeys. No two are the same.
//
//   n's digits of base 13, in letters from a to m | filler, of other letters
//
// Most of the first hundred, which are the frequent ones where words are skewed, have 2 to 5 bytes; others have 2 to
// 12, and one in twelve has up to 18. A few have a capital, digits or a letter beyond ASCII in their filler.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace glaive::queries {

struct GeneratedWord {
  std::string_view view() const { return {bytes.data(), length}; }

  std::uint32_t length = 0;
  std::array<char, 24> bytes;  // no word has as many
};

/// `number` is from 1 to kMaxKeys (queries/common/key_distribution.h).
GeneratedWord WordOf(std::uint64_t number);

}  // namespace glaive::queries
