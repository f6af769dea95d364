#include "queries/ysb/ysb_event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::queries::ysb {
namespace {

TEST(YsbEventTest, ItsBytesAreThoseOfTheTable) {
  YsbEvent event{};
  event.ad_id = 0x0102030405060708;
  event.event_time_ms = -2;
  event.user_id[0] = 0x11;
  event.page_id[15] = 0x22;
  event.ad_uuid[1] = 0x33;
  event.record_number = 0x99;
  event.ip = 0x7f000001;
  event.event_type = EventType::kPurchase;
  event.ad_type = AdType::kMobile;
  std::array<std::uint8_t, 78> bytes;
  static_assert(sizeof(bytes) == sizeof(event));
  std::memcpy(bytes.data(), &event, sizeof(event));

  std::array<std::uint8_t, 78> expected{};
  for (std::size_t i = 0; i < 8; ++i) {
    expected[i] = static_cast<std::uint8_t>(8 - i);
    expected[8 + i] = 0xff;
  }
  expected[8] = 0xfe;
  expected[16] = 0x11;
  expected[47] = 0x22;
  expected[49] = 0x33;
  expected[64] = 0x99;
  expected[72] = 0x01;
  expected[75] = 0x7f;
  expected[76] = 2;
  expected[77] = 4;
  EXPECT_THAT(bytes, testing::ElementsAreArray(expected));
}

TEST(YsbEventTest, AnArrayHasNoGaps) {
  std::array<YsbEvent, 3> events;
  EXPECT_EQ(sizeof(events), 3u * 78u);
}

}  // namespace
}  // namespace glaive::queries::ysb
