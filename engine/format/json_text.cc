#include "engine/format/json_text.h"

#include <cstdint>

namespace glaive::engine {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(unsigned char byte) { return byte >= 0x80 && byte <= 0xBF; }

/// How many bytes of UTF-8 (RFC 3629, section 4) are one character at the beginning of `text`, whose first byte is no
/// ASCII character; 0 if there is none.
std::size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  const auto continues = [&](std::size_t i) { return IsContinuation(static_cast<unsigned char>(byte(i))); };
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_right = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second <= 0x9F);
    return is_right && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_right = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second <= 0x8F);
    return is_right && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void AppendEscape(std::string& line, unsigned char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      line += "\\\"";
      break;
    case '\\':
      line += "\\\\";
      break;
    case '\n':
      line += "\\n";
      break;
    case '\r':
      line += "\\r";
      break;
    case '\t':
      line += "\\t";
      break;
    default:
      line += "\\u00";
      line += kDigits[c >> 4];
      line += kDigits[c & 15];
  }
}

}  // namespace

void AppendJsonText(std::string& line, std::string_view text) {
  line += '"';
  std::size_t plain = 0;  // text[plain, i) is copied as it is
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    const std::size_t character = c < 0x80 ? 0 : CharacterBytes(text.substr(i, 4));
    if (character > 0) {
      i += character;
      continue;
    }
    line += text.substr(plain, i - plain);
    if (c < 0x80) {
      AppendEscape(line, c);
    } else {
      line += kReplacement;
    }
    plain = ++i;
  }
  line += text.substr(plain);
  line += '"';
}

}  // namespace glaive::engine
