// Nodes that are alive but silent, and nodes that are busy.

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/pulse.h"
#include "rdma/bootstrap/reminder.h"
#include "tests/rdma/bootstrap_cluster.h"
#include "tests/rdma/pipe.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMilli = 1'000'000;

BootstrapOptions Impatience(absl::Duration peer_timeout) {
  BootstrapOptions options = Patience();
  options.peer_timeout = peer_timeout;
  return options;
}

TEST(Pulse, BeatsFiveTimesInATimeOut) {
  Pulse pulse(absl::Seconds(1), 0);
  int beats = 0;
  for (std::int64_t now_ms = 0; now_ms < 10'000; ++now_ms) beats += pulse.Due(now_ms * kMilli) ? 1 : 0;
  EXPECT_EQ(beats, 50);
}

TEST(Pulse, SilenceForTheTimeOutIsDeath) {
  Pulse pulse(absl::Seconds(1), 0);
  for (std::int64_t now_ms = 0; now_ms < 1'000; now_ms += 10) EXPECT_FALSE(pulse.Lost(0, now_ms * kMilli)) << now_ms;
  EXPECT_TRUE(pulse.Lost(0, 1'000 * kMilli));
}

TEST(Pulse, AnyRecordIsASignOfLife) {
  Pulse pulse(absl::Seconds(1), 0);
  for (std::int64_t now_ms = 0; now_ms < 100'000; now_ms += 10) {
    EXPECT_FALSE(pulse.Lost(static_cast<std::uint64_t>(now_ms / 900), now_ms * kMilli)) << now_ms;
  }
}

TEST(Pulse, WhoWasKeptFromPollingHearsBeforeItJudges) {
  Pulse pulse(absl::Seconds(1), 0);
  EXPECT_FALSE(pulse.Lost(0, 3'600'000 * kMilli)) << "an hour without a poll";
  EXPECT_FALSE(pulse.Lost(1, 3'600'010 * kMilli));
  EXPECT_FALSE(pulse.Lost(1, 3'600'500 * kMilli));
}

TEST(Pulse, AnAbsenceOfTheTimeOutIsKnownUntilTheNextPoll) {
  Pulse pulse(absl::Seconds(1), 0);
  EXPECT_FALSE(pulse.Lost(0, 999 * kMilli));
  EXPECT_EQ(pulse.absence(), absl::ZeroDuration());
  EXPECT_FALSE(pulse.Lost(1, 8'199 * kMilli));
  EXPECT_EQ(pulse.absence(), absl::Milliseconds(7'200));
  EXPECT_FALSE(pulse.Lost(1, 8'200 * kMilli));
  EXPECT_EQ(pulse.absence(), absl::ZeroDuration());
}

TEST(Pulse, WithoutTimeOutNobodyIsLost) {
  Pulse pulse(absl::ZeroDuration(), 0);
  for (std::int64_t hour = 1; hour < 100; ++hour) EXPECT_FALSE(pulse.Lost(0, hour * 3'600'000 * kMilli));
  EXPECT_FALSE(pulse.Due(0));
}

TEST(ControlPlaneSilence, WhoWakesUpToFindTheOthersGoneSaysThatItWasStopped) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Connection connection(UniqueFd(ends[0]), "other", kMemberLimits);
  connection.StartPulse(absl::Seconds(5), 0);
  connection.Tend(0, /*judge=*/true);
  UniqueFd(ends[1]).Reset();
  connection.Receive();
  ASSERT_TRUE(connection.ended());
  const Member self{.rank = NodeId{3}, .host_id = "host", .pid = 1003};
  const absl::Status loss = absl::UnavailableError("node 0 was lost");
  connection.Tend(7'200 * kMilli, /*judge=*/true);
  EXPECT_EQ(
      connection.ExplainLoss(loss, self),
      absl::UnavailableError("node 3 (process 1003) was stopped, or kept from running, for 7.2s, longer than "
                             "--peer-timeout=5s, and the others have ended the run without it (node 0 was lost)"));
  EXPECT_EQ(connection.ExplainLoss(absl::InternalError("a defect"), self), absl::InternalError("a defect"));
  connection.Tend(7'300 * kMilli, /*judge=*/true);
  EXPECT_EQ(connection.ExplainLoss(loss, self), loss);
}

TEST(ControlPlaneSilence, AMemberThatFallsSilentIsLost) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(3, clock, Impatience(absl::Milliseconds(500)));
  InsideClient silent(address);
  silent.Send(HelloOf(1, 3));
  auto other = ControlPlane::Join(address, HelloOf(2, 3), Impatience(absl::Milliseconds(500)), clock);
  ASSERT_TRUE(other.ok()) << other.status();
  auto plane = coordinator.get();
  ASSERT_TRUE(plane.ok()) << plane.status();
  for (ControlPlane* each : {plane->get(), other->get()}) {
    const absl::Status failure = AwaitFailure(*each);
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(failure.message(), HasSubstr("node 1 (process 1001) was lost: it has been silent for 500ms"));
  }
}

TEST(ControlPlaneSilence, AMemberThatFallsSilentBeforeTheRunBeginsEndsTheStart) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(3, clock, Impatience(absl::Milliseconds(500)));
  InsideClient silent(address);
  silent.Send(HelloOf(1, 3));
  EXPECT_THAT(coordinator.get().status().message(), HasSubstr("was lost before the run began: it has been silent"));
}

TEST(ControlPlaneSilence, ACoordinatorThatNeverSpeaksMayBeBusyUntilTheJoinTimeOut) {
  const SteadyClock clock;
  const Listener listener = BindAnywhere();  // the kernel takes the connection, nobody else does
  BootstrapOptions options = Impatience(absl::Milliseconds(500));
  options.join_timeout = absl::Seconds(1);
  const auto joined = ControlPlane::Join(listener.address(), HelloOf(1, 2), options, clock);
  EXPECT_EQ(joined.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(joined.status().message(), HasSubstr("has not said a word within 1s"));
}

TEST(ControlPlaneSilence, ACoordinatorThatFallsSilentInTheHandshakeIsLost) {
  const SteadyClock clock;
  const Listener listener = BindAnywhere();
  auto member = std::async(std::launch::async, [&] {
    return ControlPlane::Join(listener.address(), HelloOf(1, 2), Impatience(absl::Milliseconds(500)), clock);
  });
  UniqueFd accepted;
  while (!accepted.valid()) accepted = UniqueFd(::accept(listener.fd(), nullptr, nullptr));
  Connection silent(std::move(accepted), "member", kMemberLimits);
  silent.Send(EncodeMessage(ChallengeMessage{.nonce = MakeNonce(FillRandomly)}));
  const auto joined = member.get();
  EXPECT_EQ(joined.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(joined.status().message(), HasSubstr("it has been silent for 500ms"));
}

TEST(ControlPlaneSilence, AMemberThatHasLeftWaitsForABusyCoordinator) {
  const SteadyClock clock;
  Planes planes = StartCluster(2, clock, Impatience(absl::Milliseconds(500)));
  std::thread member([&] { EXPECT_EQ(planes[1]->Leave(absl::Seconds(30)), absl::OkStatus()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // it joins files, say
  EXPECT_EQ(planes[0]->Leave(absl::Seconds(30)), absl::OkStatus());
  member.join();
}

TEST(ControlPlaneSilence, NodesWhoseMainThreadsAreBusyAreHeard) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock, Impatience(absl::Milliseconds(500)));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // nobody calls its plane
  for (auto& plane : planes) EXPECT_EQ(plane->PollFailure(), std::nullopt);
  OnEveryNode(planes, [](ControlPlane& plane) { EXPECT_TRUE(plane.AllGather("phase", "x").ok()); });
}

TEST(ControlPlaneSilence, ANodeThatDoesNotEndAfterAFailureIsOverdue) {
  const SteadyClock clock;
  std::atomic<int> overdue{0};
  BootstrapOptions options = Impatience(absl::Milliseconds(500));
  options.overdue = [&](const absl::Status& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("was lost"));
    ++overdue;
    return true;
  };
  Planes planes = StartCluster(2, clock, options);
  planes[1].reset();
  const std::int64_t start_ns = clock.NowNanos();
  while (overdue == 0) std::this_thread::yield();
  EXPECT_GE(clock.NowNanos() - start_ns, absl::ToInt64Nanoseconds(kFailureGrace));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(overdue, 1);
}

TEST(ControlPlaneTiming, ANodeAloneThatDoesNotEndAfterAnInterruptIsOverdue) {
  const SteadyClock clock;
  Pipe interrupt;
  std::promise<absl::Status> overdue;
  BootstrapOptions options = Impatience(absl::Minutes(1));  // polls come often all the same
  options.interrupt_fd = interrupt.read_fd();
  options.overdue = [&](const absl::Status& failure) {
    overdue.set_value(failure);
    return true;
  };
  const PlaneOr plane = ControlPlane::Alone(HelloOf(0, 1), kRunToken, options, clock);
  ASSERT_TRUE(plane.ok()) << plane.status();
  const std::int64_t start_ns = clock.NowNanos();
  interrupt.Write();
  EXPECT_EQ(overdue.get_future().get(), Interrupted());  // nobody calls the plane
  const absl::Duration time = absl::Nanoseconds(clock.NowNanos() - start_ns);
  EXPECT_GE(time, kFailureGrace);
  EXPECT_LE(time, kFailureGrace + absl::Milliseconds(300));
}

TEST(ControlPlaneSilence, AnInterruptIsOverdueBehindAFailureThatDoesNoHarmUntilItIsDealtWith) {
  const SteadyClock clock;
  Pipe interrupt;
  std::promise<void> lost;
  std::promise<void> interrupted_twice;
  int interrupts = 0;
  BootstrapOptions options = Impatience(absl::Milliseconds(500));
  options.interrupt_fd = interrupt.read_fd();
  options.overdue = [&](const absl::Status& failure) {
    if (!IsInterrupted(failure)) {
      lost.set_value();
      return true;
    }
    if (++interrupts == 2) interrupted_twice.set_value();
    return interrupts == 2;
  };
  Planes planes = StartCluster(2, clock, options);
  planes[1].reset();
  lost.get_future().wait();
  interrupt.Write();
  EXPECT_EQ(interrupted_twice.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(ControlPlaneSilence, TheCoordinatorSaysWhomItWaitsForAndWhere) {
  const SteadyClock clock;
  std::promise<std::string> said;
  std::once_flag once;
  BootstrapOptions options = Patience();
  options.log = [&](const std::string& text) {
    if (text.starts_with("waits at ")) std::call_once(once, [&] { said.set_value(text); });
  };
  LateCoordinator coordinator = CoordinateLater(4, clock, options);
  RawClient stranger(coordinator.address);
  stranger.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  std::vector<std::future<PlaneOr>> members;
  const auto join = [&](std::uint32_t rank) {
    members.push_back(std::async(std::launch::async, [&, rank] {
      return ControlPlane::Join(coordinator.address, HelloOf(rank, 4), Patience(), clock);
    }));
  };
  join(2);
  EXPECT_THAT(said.get_future().get(),
              testing::AllOf(testing::StartsWith("waits at " + coordinator.address +
                                                 " for ranks 1, 3 of 4 nodes, for at most 30s (--join-timeout); "),
                             testing::HasSubstr("; no other host reaches a loopback address; "),
                             testing::HasSubstr(" was turned away: ")));
  join(1);
  join(3);
  EXPECT_TRUE(coordinator.plane.get().ok());
  for (auto& member : members) EXPECT_TRUE(member.get().ok());
}

TEST(ControlPlaneSilence, AMemberSaysWhereItLooksForTheCoordinator) {
  const SteadyClock clock;
  const std::string address = BindAnywhere().address();  // where nobody listens
  std::vector<std::string> said;
  BootstrapOptions options = Patience(absl::Milliseconds(2500));
  options.log = [&](const std::string& text) { said.push_back(text); };
  EXPECT_EQ(ControlPlane::Join(address, HelloOf(1, 2), options, clock).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(said,
              testing::ElementsAre("calls the coordinator at " + address + " (Connection refused), for at most 2.5s"));
}

TEST(Reminder, IsDueAfterTwoSecondsAndEachTimeTheWaitIsTwiceAsLong) {
  constexpr std::int64_t kSecond = 1'000 * kMilli;
  Reminder reminder(5 * kSecond);
  std::vector<std::int64_t> due;
  for (std::int64_t second = 5; second <= 65; ++second) {
    if (reminder.Due(second * kSecond)) due.push_back(second - 5);
  }
  EXPECT_THAT(due, testing::ElementsAre(2, 4, 8, 16, 32));
}

}  // namespace
}  // namespace glaive::rdma
