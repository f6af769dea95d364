// IsDecimal: whether a text is a decimal number, without the parsers' code.
//
//   IsDecimal("1.5e3");  // true
#pragma once

#include <cstddef>
#include <string_view>

namespace glaive {

/// Digits with perhaps a fraction and an exponent: no sign, no blank, no "inf" and no "0x1".
inline bool IsDecimal(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  std::size_t mantissa = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace glaive
