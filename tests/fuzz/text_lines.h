// LinesOf: the lines of a file's text by the rules of engine/source/line_reader.h, found without its code: all of the
// text is at hand, and nothing is read in pieces.
//
//   for (const FileLine& line : LinesOf("a\n\nb")) ...  // {1, "a"}, {3, "b"}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glaive {

struct FileLine {
  std::uint64_t number;   // from 1
  std::string_view text;  // without its end
  bool is_too_long = false;
};

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// A line of more bytes is too long.
inline constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

/// All lines but blank ones. A byte order mark at the text's beginning belongs to no line, but counts to the first
/// line's length.
inline std::vector<FileLine> LinesOf(std::string_view text) {
  std::vector<FileLine> lines;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text = newline == std::string_view::npos ? std::string_view() : text.substr(newline + 1);
    if (line.size() > kMostLineBytes) {
      lines.push_back({.number = number, .text = {}, .is_too_long = true});
      continue;
    }
    if (number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    bool is_blank = true;
    for (const char c : line) is_blank = is_blank && (c == ' ' || c == '\t' || c == '\r');
    if (!is_blank) lines.push_back({.number = number, .text = line});
  }
  return lines;
}

}  // namespace glaive
