// When an epoch ends, with plain integers.
#include "engine/progress/epoch_policy.h"

#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

constexpr EpochPolicy kSmallEpochs{.epoch_bytes = 1000, .epoch_min_bytes = 100, .epoch_interval_ns = 50};

TEST(EpochPolicy, EndsAfterItsBytes) {
  EXPECT_TRUE(kSmallEpochs.ShouldEnd({.bytes = 1000, .elapsed_ns = 0, .has_news = true}));
  EXPECT_FALSE(kSmallEpochs.ShouldEnd({.bytes = 999, .elapsed_ns = 0, .has_news = true}));
}

TEST(EpochPolicy, EndsAtAWindowsEndOnceTheMinimumWasReadOrTheIntervalIsOver) {
  EXPECT_FALSE(kSmallEpochs.ShouldEnd({.bytes = 99, .elapsed_ns = 49, .passed_window_end = true, .has_news = true}));
  EXPECT_TRUE(kSmallEpochs.ShouldEnd({.bytes = 100, .elapsed_ns = 0, .passed_window_end = true, .has_news = true}));
  EXPECT_TRUE(kSmallEpochs.ShouldEnd({.bytes = 0, .elapsed_ns = 50, .passed_window_end = true, .has_news = true}));
}

TEST(EpochPolicy, EndsAfterTheIntervalOnlyIfThereIsNews) {
  EXPECT_TRUE(kSmallEpochs.ShouldEnd({.bytes = 1, .elapsed_ns = 50, .has_news = true}));
  EXPECT_FALSE(kSmallEpochs.ShouldEnd({.bytes = 0, .elapsed_ns = 1'000'000, .has_news = false}));
}

}  // namespace
}  // namespace glaive::engine
