// YsbEvent: one advertising event of the Yahoo Streaming Benchmark, as 78 packed bytes.
//
// Plain data, little-endian, alignment 1: an array of events has no gaps and is read in place.
//
//   offset  bytes  field
//        0      8  ad_id          u64, the key of the slash profile, looked up for the campaign in the yahoo profile
//        8      8  event_time_ms  i64, milliseconds since 1970
//       16     16  user_id        UUID bytes
//       32     16  page_id        UUID bytes
//       48     16  ad_uuid        UUID bytes; the yahoo profile's ad_id is their first 8
//       64      8  record_number  u64, position in its executor's input, from 0
//       72      4  ip             u32
//       76      1  event_type     u8, EventType
//       77      1  ad_type        u8, AdType
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::queries::ysb {

enum class EventType : std::uint8_t { kView = 0, kClick = 1, kPurchase = 2 };
inline constexpr std::uint32_t kEventTypes = 3;

enum class AdType : std::uint8_t { kBanner = 0, kModal = 1, kSponsoredSearch = 2, kMail = 3, kMobile = 4 };
inline constexpr std::uint32_t kAdTypes = 5;

/// See the byte table above. Take fields by value: references to packed fields are misaligned.
struct [[gnu::packed]] YsbEvent {
  std::uint64_t ad_id;
  std::int64_t event_time_ms;
  std::uint8_t user_id[16];
  std::uint8_t page_id[16];
  std::uint8_t ad_uuid[16];
  std::uint64_t record_number;
  std::uint32_t ip;
  EventType event_type;
  AdType ad_type;
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(YsbEvent) == 78 && alignof(YsbEvent) == 1);
static_assert(std::is_trivially_copyable_v<YsbEvent> && std::is_standard_layout_v<YsbEvent>);
static_assert(offsetof(YsbEvent, ad_id) == 0 && offsetof(YsbEvent, event_time_ms) == 8);
static_assert(offsetof(YsbEvent, user_id) == 16 && offsetof(YsbEvent, page_id) == 32);
static_assert(offsetof(YsbEvent, ad_uuid) == 48 && offsetof(YsbEvent, record_number) == 64);
static_assert(offsetof(YsbEvent, ip) == 72 && offsetof(YsbEvent, event_type) == 76);
static_assert(offsetof(YsbEvent, ad_type) == 77);

/// Where an event has its time, for sources.
struct YsbEventTime {
  std::int64_t operator()(const YsbEvent& event) const { return event.event_time_ms; }
};

}  // namespace glaive::queries::ysb
