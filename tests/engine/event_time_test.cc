// The scale of event times: its ends stay where they are.
#include "engine/base/event_time.h"

#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

TEST(EventTime, IsHeldBackWithinTheScaleWhoseEndsStay) {
  EXPECT_EQ(HeldBack(100, 30), 70);
  EXPECT_EQ(HeldBack(-100, 0), -100);
  EXPECT_EQ(HeldBack(kMinEventTimeMs + 30, 30), kMinEventTimeMs);
  EXPECT_EQ(HeldBack(kMinEventTimeMs + 29, 30), kMinEventTimeMs);
  EXPECT_EQ(HeldBack(kMinEventTimeMs, 1), kMinEventTimeMs);
  EXPECT_EQ(HeldBack(kMaxEventTimeMs, 30), kMaxEventTimeMs);
}

}  // namespace
}  // namespace glaive::engine
