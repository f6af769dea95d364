// AppendNumber: a number as CSV and JSON write it: an integer in full, a floating-point number with the fewest digits
// that read back as the same value.
//
//   AppendNumber(line, 0.1);   // "0.1"
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <sstream>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace glaive::engine {

template <std::integral T>
void AppendNumber(std::string& line, T value) {
  absl::StrAppend(&line, +value);  // a character as its number
}
template <std::floating_point T>
void AppendNumber(std::string& line, T value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  line.append(digits.data(), end);
}
inline void AppendNumber(std::string& line, absl::int128 value) { line += (std::ostringstream() << value).str(); }

}  // namespace glaive::engine
