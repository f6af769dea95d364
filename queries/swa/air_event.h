// AirEvent: an advertising event as AIR's benchmarks have it: the Yahoo benchmark's, its ids and kinds as text, 136
// bytes (AIR's events are of variable length and have 136 bytes on average).
//
// Plain data, little-endian, without gaps. Text is filled up with zeros.
//
//   offset  bytes  field
//        0      8  ad_id          u64, the key
//        8      8  event_time_ms  i64, milliseconds since 1970
//       16     36  user_id        a UUID as text
//       52     36  page_id        a UUID as text
//       88     16  ad_type        "banner", "modal", "sponsored-search", "mail", "mobile"
//      104     16  event_type     "view", "click", "purchase"
//      120     16  ip_address     "10.1.2.3"
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::queries::swa {

/// See the byte table above.
struct AirEvent {
  std::uint64_t ad_id;
  std::int64_t event_time_ms;
  char user_id[36];
  char page_id[36];
  char ad_type[16];
  char event_type[16];
  char ip_address[16];
};

static_assert(sizeof(AirEvent) == 136 && std::is_trivially_copyable_v<AirEvent>);
static_assert(offsetof(AirEvent, page_id) == 52 && offsetof(AirEvent, ip_address) == 120);

struct AirEventTime {
  std::int64_t operator()(const AirEvent& event) const { return event.event_time_ms; }
};

}  // namespace glaive::queries::swa
