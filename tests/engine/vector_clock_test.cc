// VectorClock: the minimum of its entries, and that none goes back.

#include "engine/progress/vector_clock.h"

#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

TEST(VectorClock, ItsMinimumIsThatOfTheSlowest) {
  VectorClock clock(3);
  EXPECT_EQ(clock.Min(), kMinEventTimeMs);
  EXPECT_FALSE(clock.Advance(0, 100));
  EXPECT_FALSE(clock.Advance(2, 50));
  EXPECT_TRUE(clock.Advance(1, 70));
  EXPECT_EQ(clock.Min(), 50);
  EXPECT_TRUE(clock.Advance(2, kMaxEventTimeMs));
  EXPECT_EQ(clock.Min(), 70);
}

TEST(VectorClock, StandingStillMovesNothing) {
  VectorClock clock(1);
  EXPECT_TRUE(clock.Advance(0, 5));
  EXPECT_FALSE(clock.Advance(0, 5));
}

TEST(VectorClockDeathTest, GoingBackIsADefect) {
  VectorClock clock(1);
  clock.Advance(0, 5);
  EXPECT_DEATH(clock.Advance(0, 4), "clock of flow 0 goes back from 5 to 4");
}

}  // namespace
}  // namespace glaive::engine
