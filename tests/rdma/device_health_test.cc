#include "rdma/verbs/device_health.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr bool kNoneFailed = false;  // of the writes
constexpr std::int64_t kSecond = 1'000'000'000;

TEST(DeviceHealth, AShortPauseOfAPortIsNoFailure) {
  DeviceHealth health("mlx5_0", 2);
  health.OnPortDown(2, 10 * kSecond);
  EXPECT_TRUE(health.Failure(10 * kSecond + kSecond / 4, kNoneFailed).ok());
  health.OnPortUp(2);
  EXPECT_TRUE(health.Failure(20 * kSecond, kNoneFailed).ok());
}

TEST(DeviceHealth, APortThatStaysDownIsOneUntilItIsUp) {
  DeviceHealth health("mlx5_0", 2);
  health.OnPortDown(2, 10 * kSecond);
  health.OnPortDown(2, 11 * kSecond);  // still down
  const absl::Status failure = health.Failure(11 * kSecond, kNoneFailed);
  EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(failure.message(), HasSubstr("mlx5_0 port 2 went down"));
  health.OnPortUp(2);
  EXPECT_TRUE(health.Failure(12 * kSecond, kNoneFailed).ok());
}

TEST(DeviceHealth, APortIsDownAtOnceWhenWritesHaveFailed) {
  DeviceHealth health("mlx5_0", 2);
  EXPECT_TRUE(health.Failure(10 * kSecond, /*writes_have_failed=*/true).ok());
  health.OnPortDown(2, 10 * kSecond);
  EXPECT_FALSE(health.Failure(10 * kSecond, /*writes_have_failed=*/true).ok());
}

TEST(DeviceHealth, APortThatIsDownIsSaidAtOnceAndIsNoFatalError) {
  DeviceHealth health("mlx5_0", 2);
  EXPECT_TRUE(health.PortDown().ok());
  health.OnPortDown(2, 10 * kSecond);
  EXPECT_EQ(health.PortDown().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(health.PortDown().message(), AllOf(HasSubstr("mlx5_0 port 2 is down"), HasSubstr("ip link")));
  EXPECT_TRUE(health.Fatal().ok()) << "while connections are made it is waited for";
  health.OnPortUp(2);
  EXPECT_TRUE(health.PortDown().ok());
  health.OnFatal("removed");
  EXPECT_THAT(health.Fatal().message(), HasSubstr("mlx5_0: removed;"));
}

TEST(DeviceHealth, OtherPortsDoNotCount) {
  DeviceHealth health("mlx5_0", 2);
  health.OnPortDown(1, 0);
  EXPECT_TRUE(health.Failure(kSecond, kNoneFailed).ok());
  health.OnPortDown(2, 0);
  health.OnPortUp(1);
  EXPECT_FALSE(health.Failure(kSecond, kNoneFailed).ok());
}

TEST(DeviceHealth, AFatalErrorStaysAndTheFirstIsTheReason) {
  DeviceHealth health("mlx5_0", 1);
  health.OnFatal("first");
  health.OnFatal("second");
  health.OnPortUp(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(health.Failure(0, kNoneFailed).message(), AllOf(HasSubstr("mlx5_0: first;"), HasSubstr("dmesg")));
  }
}

TEST(DeviceHealth, ErrorsOfQueuePairsAreTakenOnce) {
  DeviceHealth health("mlx5_0", 1);
  EXPECT_FALSE(health.has_queue_pair_errors());
  health.OnQueuePairError(17, absl::InternalError("fatal"));
  health.OnQueuePairError(17, absl::UnavailableError("access"));
  EXPECT_TRUE(health.Failure(kSecond, kNoneFailed).ok());
  EXPECT_TRUE(health.has_queue_pair_errors());
  EXPECT_EQ(health.TakeQueuePairError(18), std::nullopt);
  EXPECT_EQ(health.TakeQueuePairError(17), absl::InternalError("fatal"));
  EXPECT_EQ(health.TakeQueuePairError(17), std::nullopt);
  EXPECT_FALSE(health.has_queue_pair_errors());
}

}  // namespace
}  // namespace glaive::rdma
