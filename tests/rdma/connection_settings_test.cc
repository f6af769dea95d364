#include "rdma/verbs/connection_settings.h"

#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

TEST(AckTimeout, IsAPowerOfTwoOfTheSpecificationsUnit) {
  EXPECT_EQ(AckTimeout(0), absl::Nanoseconds(4096));
  EXPECT_EQ(AckTimeout(14), absl::Nanoseconds(67'108'864));
}

TEST(AckTimeoutExponent, IsThatOf67MillisecondsWhereThereIsTime) {
  EXPECT_EQ(AckTimeoutExponent(absl::Seconds(5)), 14);
  EXPECT_EQ(AckTimeoutExponent(absl::Hours(24)), 14);
}

// An attempt and six retries, each of which a device may stretch to four times the timeout.
TEST(AckTimeoutExponent, LetsAllRetriesEndWithinThePeerTimeout) {
  for (int ms = 1; ms < 4'000; ms = ms * 5 / 4 + 1) {
    const absl::Duration peer_timeout = absl::Milliseconds(ms);
    const std::uint8_t exponent = AckTimeoutExponent(peer_timeout);
    EXPECT_LE(28 * AckTimeout(exponent), peer_timeout) << ms;
    if (exponent < 14) EXPECT_GT(56 * AckTimeout(exponent), peer_timeout) << ms;
  }
  EXPECT_EQ(AckTimeoutExponent(absl::Milliseconds(500)), 12);
}

TEST(AckTimeoutExponent, IsNeverZeroWhichWouldBeEndless) { EXPECT_EQ(AckTimeoutExponent(absl::ZeroDuration()), 1); }

}  // namespace
}  // namespace glaive::rdma
