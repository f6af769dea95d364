// How a run's nodes learn of each other's end.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/message.h"
#include "tests/rdma/bootstrap_cluster.h"
#include "tests/rdma/pipe.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ControlPlaneFailure, NobodyReportsAFailureWhileAllIsWell) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  for (auto& plane : planes) EXPECT_EQ(plane->PollFailure(), std::nullopt);
}

TEST(ControlPlaneFailure, ALostMemberIsNamedToAllOthers) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[1].reset();
  const absl::Status at_coordinator = AwaitFailure(*planes[0]);
  const absl::Status at_member = AwaitFailure(*planes[2]);
  for (const absl::Status& failure : {at_coordinator, at_member}) {
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(failure.message(), HasSubstr("node 1 (process 1001) was lost"));
  }
}

TEST(ControlPlaneFailure, ALostCoordinatorIsNamedToAllMembers) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[0].reset();
  for (const std::size_t rank : {1, 2}) {
    const absl::Status failure = AwaitFailure(*planes[rank]);
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(failure.message(), HasSubstr("node 0 (process 1000), the coordinator, was lost"));
  }
}

TEST(ControlPlaneFailure, ALostMemberEndsAGatherThatOthersWaitIn) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[2].reset();
  planes.resize(2);
  OnEveryNode(planes, [](ControlPlane& plane) {
    const absl::Status status = plane.AllGather("phase", "x").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("node 2 (process 1002) was lost"));
  });
}

TEST(ControlPlaneFailure, AFailureStaysTheSame) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[1].reset();
  const absl::Status first = AwaitFailure(*planes[0]);
  planes[2].reset();
  EXPECT_EQ(planes[0]->PollFailure(), first);
  EXPECT_EQ(planes[0]->AllGather("phase", "x").status(), first);
  EXPECT_EQ(planes[0]->Leave(absl::Seconds(1)), first);
}

TEST(ControlPlaneFailure, AKilledProcessIsNoticed) {
  const SteadyClock clock;
  Listener listener = BindAnywhere();
  const std::string address = listener.address();
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    const auto plane = ControlPlane::Join(address, HelloOf(1, 2), Patience(), clock);
    ::raise(plane.ok() ? SIGKILL : SIGABRT);
  }
  auto plane = ControlPlane::Coordinate(std::move(listener), HelloOf(0, 2), kRunToken, Patience(), clock);
  ASSERT_TRUE(plane.ok()) << plane.status();
  const absl::Status failure = AwaitFailure(**plane);
  EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failure.message(), HasSubstr("node 1 (process 1001) was lost"));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(ControlPlaneFailure, AMembersAbortReachesEveryNodeWithItsCodeAndText) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  std::thread aborting([&] { planes[1]->Abort(absl::ResourceExhaustedError("state is over --memory-limit")); });
  for (const std::size_t rank : {0, 2}) {
    const absl::Status failure = AwaitFailure(*planes[rank]);
    EXPECT_EQ(failure.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(failure.message(), "node 1 ended the run: state is over --memory-limit");
  }
  planes[0].reset();
  aborting.join();
}

TEST(ControlPlaneFailure, TheCoordinatorsAbortReachesEveryNodeEvenIfItEndsAtOnce) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  std::thread aborting([&] {
    planes[0]->Abort(absl::CancelledError("interrupted by SIGINT"));
    planes[0].reset();
  });
  for (const std::size_t rank : {1, 2}) {
    const absl::Status failure = AwaitFailure(*planes[rank]);
    EXPECT_EQ(failure.code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(failure.message(), "node 0 ended the run: interrupted by SIGINT");
  }
  planes.resize(1);
  aborting.join();
}

TEST(ControlPlaneFailure, AnAbortEndsAGatherThatOthersWaitIn) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  OnEveryNode(planes, [](ControlPlane& plane) {
    if (plane.rank() == NodeId{2}) {
      plane.Abort(absl::NotFoundError("no such file"));
      return;
    }
    const absl::Status status = plane.AllGather("phase", "x").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    plane.Abort(status);  // as a main does with every error; adds nothing here
  });
}

TEST(ControlPlaneFailure, AGatherWhosePartsHaveComeSucceedsWhateverComesBehindThem) {
  const SteadyClock clock;
  for (int round = 0; round < 20; ++round) {
    Planes planes = StartCluster(2, clock);
    std::thread member([&] {
      ASSERT_EQ(planes[1]->AllGather("committed", "x").status(), absl::OkStatus());
      EXPECT_THAT(AwaitFailure(*planes[1]).message(), HasSubstr("was lost"));
      planes[1].reset();
    });
    EXPECT_EQ(planes[0]->AllGather("committed", "x").status(), absl::OkStatus());
    planes[0]->Abort(absl::UnavailableError("node 1 was lost"));  // the member hears it together with the parts
    member.join();
  }
}

TEST(ControlPlaneFailure, AbortAfterTheOthersKnowDoesNotReplaceTheReason) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[1].reset();
  (void)AwaitFailure(*planes[0]);
  std::thread aborting([&] { planes[0]->Abort(absl::InternalError("something else")); });
  EXPECT_THAT(AwaitFailure(*planes[2]).message(), HasSubstr("was lost"));
  planes[2].reset();
  aborting.join();
}

TEST(ControlPlaneFailure, AnAddressThatCanNeverWorkEndsTheSearchForTheCoordinatorAtOnce) {
  const SteadyClock clock;
  // Link-local without an interface; where there is no IPv6, its family alone.
  const absl::Status refused =
      ControlPlane::Join("[fe80::1]:7700", HelloOf(1, 2), Patience(absl::Seconds(60)), clock).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("cannot connect to [fe80::1]:7700"), HasSubstr("--coordinator")));
}

TEST(ControlPlaneFailure, TheInterruptEndsEveryWait) {
  const SteadyClock clock;
  Pipe interrupt;
  interrupt.Write();
  BootstrapOptions options = Patience();
  options.interrupt_fd = interrupt.read_fd();
  EXPECT_EQ(ControlPlane::Coordinate(BindAnywhere(), HelloOf(0, 2), kRunToken, options, clock).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(ControlPlane::Join(BindAnywhere().address(), HelloOf(1, 2), options, clock).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(ControlPlaneFailure, TheInterruptEndsAGather) {
  const SteadyClock clock;
  Pipe interrupt;
  BootstrapOptions options = Patience();
  options.interrupt_fd = interrupt.read_fd();
  Planes planes = StartCluster(2, clock, options);
  interrupt.Write();
  for (auto& plane : planes) {
    EXPECT_EQ(plane->AllGather("phase", "x").status().code(), absl::StatusCode::kCancelled);
  }
}

TEST(ControlPlaneFailure, AnInterruptedMemberWaitsForWhatRank0Decides) {
  const SteadyClock clock;
  Pipe interrupt;
  BootstrapOptions options = Patience();
  options.interrupt_fd = interrupt.read_fd();
  LateCoordinator coordinator = CoordinateLater(2, clock);
  const PlaneOr member = ControlPlane::Join(coordinator.address, HelloOf(1, 2), options, clock);
  const PlaneOr rank0 = coordinator.plane.get();
  ASSERT_TRUE(member.ok() && rank0.ok());
  interrupt.Write();
  std::future<absl::Status> agreed = std::async(std::launch::async, [&] { return (*member)->AllAgree("committed"); });
  const absl::Status interrupted = absl::CancelledError("node 1 ended the run: interrupted");
  EXPECT_EQ(AwaitFailure(**rank0), interrupted) << "so that it comes before the decision";
  EXPECT_EQ((*rank0)->AllAgree("committed"), interrupted);
  EXPECT_EQ(agreed.get(), Interrupted());
}

TEST(ControlPlaneFailure, AllNodesLearnTheSameDecisionWheneverTheyAreInterrupted) {
  const SteadyClock clock;
  for (int round = 0; round < 30; ++round) {
    Pipe interrupt;
    BootstrapOptions options = Patience();
    options.interrupt_fd = interrupt.read_fd();
    Planes planes = StartCluster(3, clock, options);
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
      interrupt.Write();
    });
    std::atomic<int> agreed{0};
    OnEveryNode(planes, [&agreed](ControlPlane& plane) {
      const absl::Status decided = plane.AllAgree("committed");
      agreed += decided.ok() ? 1 : 0;
      if (!decided.ok()) plane.Abort(decided);  // rank 0 tells the others
    });
    EXPECT_TRUE(agreed == 0 || agreed == 3) << agreed;
    user.join();
  }
}

TEST(ControlPlaneFailure, WhatANodeWatchesEndsItsGather) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  for (const std::size_t node : {1U, 0U}) {  // node 2 never comes
    planes[node]->WatchAlso([] { return absl::UnavailableError("the queue pair is broken"); });
    EXPECT_EQ(planes[node]->AllGather("phase", "x").status(), absl::UnavailableError("the queue pair is broken"));
  }
}

TEST(ControlPlaneFailure, WhatANodeHasWatchedNoMoreEndsNothing) {
  const SteadyClock clock;
  Planes planes = StartCluster(2, clock);
  for (auto& plane : planes) {
    plane->WatchAlso([] { return absl::UnavailableError("the queue pair is broken"); });
    plane->WatchAlso(GoOn);
  }
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(planes[1]->AllGather("phase", "x").status(), absl::OkStatus());
  });
  EXPECT_EQ(planes[0]->AllGather("phase", "x").status(), absl::OkStatus());
  later.join();
}

TEST(ControlPlaneFailure, AGatherWithADeadlineNamesWhoIsMissing) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  std::thread one_comes([&] { (void)planes[1]->AllGather("phase", "x"); });
  const absl::Status status = planes[0]->AllGather("phase", "x", absl::Milliseconds(500)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("node 2 (process 1002)"), HasSubstr("'phase'")));
  planes[0].reset();
  one_comes.join();
}

TEST(ControlPlaneFailure, NodesAtDifferentPhasesAreToldApart) {
  const SteadyClock clock;
  Planes planes = StartCluster(2, clock);
  OnEveryNode(planes, [](ControlPlane& plane) {
    const std::string phase = plane.rank() == NodeId{0} ? "first" : "second";
    const absl::Status status = plane.AllGather(phase, "x").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("is at 'second' while node 0 is at 'first'"));
  });
}

/// The coordinator's failure in a run of two nodes, whose member joins and then does what `misbehave(client)` does.
template <typename Misbehave>
absl::Status FailureAfter(const Misbehave& misbehave) {
  const SteadyClock clock;
  auto [address, coordinator] = CoordinateLater(2, clock);
  InsideClient client(address);
  client.Send(HelloOf(1, 2));
  auto plane = coordinator.get();
  if (!plane.ok()) {
    return plane.status();
  }
  misbehave(client);
  return AwaitFailure(**plane);
}

TEST(ControlPlaneFailure, AMemberThatBreaksTheProtocolIsNamed) {
  const absl::Status failure = FailureAfter([](InsideClient& client) { client.SendBytes("nonsense"); });
  EXPECT_EQ(failure.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(failure.message(), HasSubstr("node 1 (process 1001) broke the protocol"));
}

TEST(ControlPlaneFailure, AMemberThatFloodsGathersIsStopped) {
  const absl::Status failure = FailureAfter([](InsideClient& client) {
    for (int i = 0; i < 3; ++i) client.Send(GatherMessage{.phase = "p", .payload = "x"});
  });
  EXPECT_THAT(failure.message(), HasSubstr("out of turn"));
}

TEST(ControlPlaneLeave, ClosingAfterLeaveIsNoDeath) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  OnEveryNode(planes, [](ControlPlane& plane) {
    ASSERT_TRUE(plane.AllGather("end", "").ok());
    EXPECT_EQ(plane.Leave(absl::Seconds(30)), absl::OkStatus());
  });
}

TEST(ControlPlaneLeave, NodesThatHaveLeftMayEndBeforeTheOthers) {
  const SteadyClock clock;
  std::atomic<bool> watched{false};
  BootstrapOptions options = Patience();
  options.watch = [&watched] { return watched ? absl::UnavailableError("a node has exited") : absl::OkStatus(); };
  Planes planes = StartCluster(3, clock, options);
  watched = true;
  std::thread one_leaves([&] { EXPECT_EQ(planes[1]->Leave(absl::Seconds(30)), absl::OkStatus()); });
  std::thread other_leaves([&] {
    one_leaves.join();
    EXPECT_EQ(planes[2]->Leave(absl::Seconds(30)), absl::OkStatus());
  });
  EXPECT_EQ(planes[0]->Leave(absl::Seconds(30)), absl::OkStatus());
  other_leaves.join();
}

TEST(ControlPlaneLeave, AMemberMayLeaveWhileOthersStillWork) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  EXPECT_EQ(planes[1]->Leave(absl::ZeroDuration()), absl::OkStatus());
  planes[1].reset();
  const absl::Status status = planes[0]->AllGather("late phase", "x").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("node 1 (process 1001) left the run before 'late phase'"));
  EXPECT_THAT(AwaitFailure(*planes[2]).message(), HasSubstr("left the run"));
}

TEST(ControlPlaneLeave, LeavingDoesNotOverlookADeath) {
  const SteadyClock clock;
  Planes planes = StartCluster(3, clock);
  planes[1].reset();
  EXPECT_EQ(planes[0]->Leave(absl::Seconds(30)).code(), absl::StatusCode::kUnavailable);
}

TEST(ControlPlaneLeave, SomebodyWhoNeverLeavesIsNotWaitedForLongerThanTheGrace) {
  HandClock clock;
  Planes planes = StartCluster(2, clock);
  std::thread leaving([&] { EXPECT_EQ(planes[0]->Leave(absl::Seconds(2)), absl::OkStatus()); });
  clock.Advance(absl::Seconds(1));
  // However late the call was, it ends at most two seconds of this clock after it began.
  std::atomic<bool> left{false};
  std::thread ticking([&] {
    while (!left) {
      clock.Advance(absl::Milliseconds(100));
      std::this_thread::yield();
    }
  });
  leaving.join();
  left = true;
  ticking.join();
}

}  // namespace
}  // namespace glaive::rdma
