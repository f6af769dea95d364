#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/waiter.h"
#include "tests/rdma/bootstrap_cluster.h"
#include "tests/rdma/pipe.h"

namespace glaive::rdma {
namespace {

class WaiterTest : public ::testing::Test {
 protected:
  std::vector<pollfd> PipeEntry() const { return {{.fd = pipe_.read_fd(), .events = POLLIN, .revents = 0}}; }

  HandClock clock_;
  Pipe pipe_;
};

TEST_F(WaiterTest, ReturnsWhenADescriptorHasAnEvent) {
  Waiter waiter(-1, GoOn, clock_);
  pipe_.Write();
  std::vector<pollfd> fds = PipeEntry();
  EXPECT_EQ(waiter.Wait(fds, waiter.DeadlineIn(absl::InfiniteDuration())), absl::OkStatus());
  EXPECT_NE(fds[0].revents, 0);
}

TEST_F(WaiterTest, TheDeadlineIsByTheClockItWasGiven) {
  Waiter waiter(-1, GoOn, clock_);
  std::vector<pollfd> fds = PipeEntry();
  const std::int64_t deadline_ns = waiter.DeadlineIn(absl::Seconds(5));
  EXPECT_EQ(waiter.Wait(fds, deadline_ns), absl::OkStatus());
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(waiter.Wait(fds, deadline_ns).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(WaiterTest, AReadableInterruptIsACancellation) {
  Waiter waiter(pipe_.read_fd(), GoOn, clock_);
  pipe_.Write();
  std::vector<pollfd> fds;
  EXPECT_EQ(waiter.Wait(fds, waiter.DeadlineIn(absl::Seconds(5))).code(), absl::StatusCode::kCancelled);
}

TEST_F(WaiterTest, WhatANodeSaysOfItsEndGoesBeforeTheWatchThatSawItEnd) {
  Waiter waiter(-1, [] { return absl::UnavailableError("a node has exited"); }, clock_);
  std::vector<pollfd> fds = PipeEntry();
  const std::int64_t deadline_ns = waiter.DeadlineIn(absl::Seconds(5));
  EXPECT_EQ(waiter.Wait(fds, deadline_ns).code(), absl::StatusCode::kUnavailable);
  pipe_.Write();
  EXPECT_EQ(waiter.Wait(fds, deadline_ns), absl::OkStatus());
  waiter.DropWatch();
  fds.clear();
  EXPECT_EQ(waiter.Wait(fds, deadline_ns), absl::OkStatus());
}

}  // namespace
}  // namespace glaive::rdma
