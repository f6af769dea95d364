// HexDigit: the value of a hexadecimal digit, without the parsers' code.
//
//   HexDigit('F');  // 15
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace glaive {

/// None if `c` is no hexadecimal digit.
inline std::optional<std::uint32_t> HexDigit(char c) {
  const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
  if (digit == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
}

}  // namespace glaive
