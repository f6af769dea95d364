#include "queries/ysb/uuid.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace glaive::queries::ysb {

bool ParseUuid(std::string_view text, std::span<std::uint8_t, 16> bytes) {
  if (text.size() != 36) {
    return false;
  }
  std::size_t at = 0;
  for (std::uint8_t& byte : bytes) {
    if (at == 8 || at == 13 || at == 18 || at == 23) {
      if (text[at++] != '-') {
        return false;
      }
    }
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
    if (failure != std::errc() || end != text.data() + at + 2) {
      return false;
    }
    at += 2;
  }
  return true;
}

}  // namespace glaive::queries::ysb
