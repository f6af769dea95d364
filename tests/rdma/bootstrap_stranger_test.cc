// What comes to the coordinator's door and does not belong there.

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/sanitizers.h"
#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/message.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(Admission, StrangersNeitherDelayNorEndTheStart) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  RawClient silent(address);
  RawClient garbage(address);
  garbage.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient huge(address);
  huge.Send(EncodeFrame(std::string(1 << 20, 'x'), "").substr(0, 4096));
  RawClient half(address);
  half.Send(EncodeMessage(HelloOf(1, 2)).substr(0, 20));
  RawClient impolite(address);
  impolite.Send(EncodeMessage(LeaveMessage{}));
  {
    RawClient gone(address);
  }
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  const auto coordinator =
      ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(absl::Seconds(60)), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

TEST(Admission, ASilentStrangerIsShownOutAfterFiveSeconds) {
  HandClock clock;
  std::atomic<bool> over{false};
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  RawClient silent(address);
  RawClient garbage(address);
  garbage.Send("garbage");
  auto coordinator = std::async(std::launch::async, [&] {
    return ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(absl::Seconds(60)), clock);
  });
  std::thread time([&] {
    while (!over) {
      clock.Advance(absl::Milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  // A challenge is all they get.
  EXPECT_THAT(garbage.ReadToEnd(), HasSubstr("challenge"));
  EXPECT_THAT(silent.ReadToEnd(), HasSubstr("challenge"));
  const auto ended = coordinator.get();
  over = true;
  time.join();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(ended.status().message(), HasSubstr("was turned away: it said nothing for 5s"));
}

TEST(Admission, AFloodOfStrangersLeavesRoomForTheMember) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 400; ++i) flood.push_back(std::make_unique<RawClient>(address));
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  const auto coordinator = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  EXPECT_TRUE(member.get().ok());
}

TEST(Admission, AFloodBehindAMemberDoesNotPushItOut) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  auto member =
      std::async(std::launch::async, [&] { return ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it is the first in the queue, and all come at once
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 600; ++i) flood.push_back(std::make_unique<RawClient>(address));
  const auto coordinator = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  EXPECT_TRUE(coordinator.ok()) << coordinator.status();
  const auto joined = member.get();
  EXPECT_TRUE(joined.ok()) << joined.status();
}

TEST(Admission, TooFewDescriptorsAreSaidAtOnce) {
  if (kAddressSanitizer) {
    GTEST_SKIP() << "UndefinedBehaviorSanitizer opens a pipe to look at an object that it meets for the first time";
  }
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  RawClient at_the_door(listener.address());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = ::dup(STDERR_FILENO);
  ASSERT_EQ(::close(lowest_free), 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(lowest_free);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto coordinator = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(coordinator.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("raise ulimit -n"));
}

TEST(Admission, ANodeThatDiesBeforeTheRunBeginsEndsTheStart) {
  const SteadyClock clock;
  auto [address, later] = CoordinateLater(3, clock);
  {
    InsideClient(address).Send(HelloOf(1, 3));
  }
  const auto coordinator = later.get();
  EXPECT_EQ(coordinator.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("node 1 (process 1001) was lost before the run began"));
}

TEST(Admission, AHelloOfAnotherVersionIsRefusedByName) {
  const SteadyClock clock;
  std::vector<Hello> hellos = {HelloOf(0, 2), HelloOf(1, 2)};
  hellos[1].protocol_version = 99;
  for (const PlaneOr& plane : StartNodes(hellos, clock, Patience())) {
    EXPECT_THAT(plane.status().message(), HasSubstr("rank 1 has bootstrap protocol 99"));
  }
}

TEST(Admission, TheWatchEndsTheWaitWithItsOwnError) {
  const SteadyClock clock;
  BootstrapOptions options = Patience();
  options.watch = [] { return absl::UnavailableError("rank 1 (process 7) exited with code 3"); };
  const auto coordinator = ControlPlane::Coordinate(BindAnywhere(), HelloOf(0, 2), kRunToken, options, clock);
  EXPECT_THAT(coordinator.status().message(), HasSubstr("exited with code 3"));
}

}  // namespace
}  // namespace glaive::rdma
