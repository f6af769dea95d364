#include "queries/swa/generator.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"

#include "queries/common/random.h"

namespace glaive::queries::swa {
namespace {

constexpr std::array<std::string_view, 5> kAdTypes = {"banner", "modal", "sponsored-search", "mail", "mobile"};
constexpr std::array<std::string_view, 3> kEventTypes = {"view", "click", "purchase"};

template <std::size_t kSize>
void SetText(char (&field)[kSize], std::string_view text) {
  std::memcpy(field, text.data(), text.size());
}

/// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
void SetUuid(char (&field)[36], std::uint64_t high, std::uint64_t low) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t digit = 0;
  for (std::size_t i = 0; i < sizeof(field); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      field[i] = '-';
      continue;
    }
    field[i] = kDigits[(digit < 16 ? high : low) >> (4 * (digit % 16)) & 15];
    ++digit;
  }
}

}  // namespace

AirEvent AirEventGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const std::uint64_t kinds = draw(5);
  AirEvent event{.ad_id = keys().Draw(draw(0)),
                 .event_time_ms = event_time_ms,
                 .user_id = {},
                 .page_id = {},
                 .ad_type = {},
                 .event_type = {},
                 .ip_address = {}};
  SetUuid(event.user_id, draw(1), draw(2));
  SetUuid(event.page_id, draw(3), draw(4));
  SetText(event.ad_type, kAdTypes[Below(kAdTypes.size(), kinds)]);
  SetText(event.event_type, kEventTypes[Below(kEventTypes.size(), kinds << 16)]);
  SetText(event.ip_address, absl::StrCat("10.", kinds & 255, ".", kinds >> 8 & 255, ".", kinds >> 16 & 255));
  return event;
}

}  // namespace glaive::queries::swa
