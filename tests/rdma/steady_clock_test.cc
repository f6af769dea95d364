#include "rdma/base/steady_clock.h"

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace glaive {
namespace {

std::int64_t SystemMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST(SteadyClock, TellsTheTimeOfDayAndNeverGoesBack) {
  constexpr std::int64_t kToleranceMs = 10'000;  // a machine may be busy, or its time be set meanwhile
  const SteadyClock clock;
  std::int64_t before_ms = clock.WallMillis();
  EXPECT_NEAR(static_cast<double>(before_ms), static_cast<double>(SystemMillis()), kToleranceMs);
  const std::int64_t start_ns = clock.NowNanos();
  const std::int64_t start_ms = before_ms;
  while (clock.NowNanos() - start_ns < 20'000'000) {
    const std::int64_t now_ms = clock.WallMillis();
    ASSERT_GE(now_ms, before_ms);
    before_ms = now_ms;
  }
  EXPECT_GE(clock.WallMillis(), start_ms + 19) << "it goes on with the monotonic clock";
}

}  // namespace
}  // namespace glaive
