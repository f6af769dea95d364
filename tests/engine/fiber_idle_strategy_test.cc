#include <cstdint>

#include <gtest/gtest.h>

#include "engine/fiber/idle_strategy.h"

namespace glaive::engine {
namespace {

using Kind = IdleStep::Kind;

constexpr BackoffOptions kOptions{
    .spin_rounds = 3, .yield_rounds = 2, .first_sleep_ns = 40'000, .max_sleep_ns = 70'000};

TEST(BackoffIdleStrategyTest, SpinsThenYieldsThenSleepsAQuarterLongerEachTimeUpToTheMaximum) {
  BackoffIdleStrategy idle(kOptions);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(idle.NextStep(), IdleStep{.kind = Kind::kSpin});
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(idle.NextStep(), IdleStep{.kind = Kind::kYield});
  }
  for (const std::int64_t sleep_ns : {40'000, 50'000, 62'500, 70'000, 70'000}) {
    EXPECT_EQ(idle.NextStep(), (IdleStep{.kind = Kind::kSleep, .sleep_ns = sleep_ns}));
  }
}

TEST(BackoffIdleStrategyTest, WorkStartsItOver) {
  BackoffIdleStrategy idle(kOptions);
  for (int i = 0; i < 7; ++i) {
    idle.NextStep();
  }
  idle.Reset();
  EXPECT_EQ(idle.NextStep().kind, Kind::kSpin);
  for (int i = 0; i < 4; ++i) {
    idle.NextStep();
  }
  EXPECT_EQ(idle.NextStep(), (IdleStep{.kind = Kind::kSleep, .sleep_ns = 40'000}));
}

TEST(BackoffIdleStrategyTest, AFirstSleepAboveTheMaximumIsCut) {
  BackoffIdleStrategy idle({.spin_rounds = 0, .yield_rounds = 0, .first_sleep_ns = 500, .max_sleep_ns = 100});
  EXPECT_EQ(idle.NextStep(), (IdleStep{.kind = Kind::kSleep, .sleep_ns = 100}));
}

TEST(BackoffIdleStrategyTest, EveryKindOfStepReturns) {
  BackoffIdleStrategy idle({.spin_rounds = 1, .yield_rounds = 1, .first_sleep_ns = 1, .max_sleep_ns = 2});
  for (int i = 0; i < 4; ++i) {
    idle.Idle();
  }
}

TEST(NoWaitTest, ReturnsAtOnce) {
  NoWait idle;
  for (int i = 0; i < 1'000'000; ++i) {
    idle.Idle();
  }
  idle.Reset();
}

}  // namespace
}  // namespace glaive::engine
