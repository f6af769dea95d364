// UUIDs of advertisements and campaigns: read from text, and shortened to the 64-bit ids that events are joined by.
//
//   std::uint8_t bytes[16];
//   if (!ParseUuid("00112233-4455-6677-8899-aabbccddeeff", bytes)) ...
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace glaive::queries::ysb {

/// Whether `text` is 8-4-4-4-12 hexadecimal digits (RFC 4122, section 3). If not, `bytes` may hold anything.
bool ParseUuid(std::string_view text, std::span<std::uint8_t, 16> bytes);

/// The first 8 bytes, the lowest first.
inline std::uint64_t IdOf(std::span<const std::uint8_t, 16> uuid) {
  std::uint64_t id = 0;
  std::memcpy(&id, uuid.data(), sizeof(id));
  return id;
}

}  // namespace glaive::queries::ysb
