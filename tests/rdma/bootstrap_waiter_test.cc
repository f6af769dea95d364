#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/unique_fd.h"
#include "rdma/bootstrap/waiter.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

class WaiterTest : public ::testing::Test {
 protected:
  WaiterTest() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end_ = UniqueFd(ends[0]);
    write_end_ = UniqueFd(ends[1]);
  }

  std::vector<pollfd> PipeEntry() const { return {{.fd = read_end_.get(), .events = POLLIN, .revents = 0}}; }
  void MakeReadable() { EXPECT_EQ(::write(write_end_.get(), "x", 1), 1); }

  HandClock clock_;
  UniqueFd read_end_;
  UniqueFd write_end_;
};

TEST_F(WaiterTest, ReturnsWhenADescriptorHasAnEvent) {
  Waiter waiter(-1, GoOn, clock_);
  MakeReadable();
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
  Waiter waiter(read_end_.get(), GoOn, clock_);
  MakeReadable();
  std::vector<pollfd> fds;
  EXPECT_EQ(waiter.Wait(fds, waiter.DeadlineIn(absl::Seconds(5))).code(), absl::StatusCode::kCancelled);
}

TEST_F(WaiterTest, WhatANodeSaysOfItsEndGoesBeforeTheWatchThatSawItEnd) {
  Waiter waiter(-1, [] { return absl::UnavailableError("a node has exited"); }, clock_);
  std::vector<pollfd> fds = PipeEntry();
  const std::int64_t deadline_ns = waiter.DeadlineIn(absl::Seconds(5));
  EXPECT_EQ(waiter.Wait(fds, deadline_ns).code(), absl::StatusCode::kUnavailable);
  MakeReadable();
  EXPECT_EQ(waiter.Wait(fds, deadline_ns), absl::OkStatus());
  waiter.DropWatch();
  fds.clear();
  EXPECT_EQ(waiter.Wait(fds, deadline_ns), absl::OkStatus());
}

}  // namespace
}  // namespace glaive::rdma
