// UUIDs as text, read and written without the parsers' code.
//
//   text = SpellUuid(bytes, /*upper=*/false);  // "00112233-4455-6677-8899-aabbccddeeff"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/hex_digit.h"

namespace glaive {

using UuidBytes = std::array<std::uint8_t, 16>;

inline std::string SpellUuid(const UuidBytes& bytes, bool upper) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), upper ? "%02X" : "%02x", static_cast<unsigned>(bytes[i]));
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += digits;
  }
  return text;
}

/// The bytes if the text is 8-4-4-4-12 hexadecimal digits.
inline std::optional<UuidBytes> ReadUuid(std::string_view text) {
  UuidBytes bytes{};
  std::size_t digits = 0;
  if (text.size() != 36) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const std::optional<std::uint32_t> digit = HexDigit(text[i]);
    if (!digit.has_value()) return std::nullopt;
    std::uint8_t& byte = bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4U | *digit);
  }
  return bytes;
}

/// The first 8 bytes as a number, the lowest first.
inline std::uint64_t FirstBytesOf(const UuidBytes& bytes) {
  std::uint64_t id = 0;
  std::memcpy(&id, bytes.data(), sizeof(id));
  return id;
}

}  // namespace glaive
