// The threads that take a node's executors from one step to the next. Steps need no executors.

#include "engine/cluster/executor_threads.h"

#include <atomic>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "engine/metrics/machine.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::size_t kExecutors = 3;

class ExecutorThreadsTest : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<Executor>> executors_{kExecutors};
};

TEST_F(ExecutorThreadsTest, AllStepsOfAnExecutorRunOnAThreadOfItsOwn) {
  ExecutorThreads runner(executors_, {});
  std::vector<std::set<std::thread::id>> threads(kExecutors);
  for (int step = 0; step < 100; ++step) {
    std::vector<int> visits(kExecutors);
    const absl::Status status = runner.OnEach(
        [&](std::size_t index, const Watch& /*stop*/) {
          threads[index].insert(std::this_thread::get_id());
          ++visits[index];
          return absl::OkStatus();
        },
        GoOn);
    ASSERT_EQ(status, absl::OkStatus());
    ASSERT_THAT(visits, ElementsAre(1, 1, 1));
  }
  std::set<std::thread::id> all = {std::this_thread::get_id()};
  for (const auto& ids : threads) {
    EXPECT_THAT(ids, SizeIs(1));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_THAT(all, SizeIs(1 + kExecutors));
}

TEST_F(ExecutorThreadsTest, TheFirstStepRunsWhereTheExecutorIsPinned) {
  const std::vector<int> allowed = AllowedCpus();
  const std::vector<int> cpus = {allowed.front(), allowed.back(), allowed.front()};
  ExecutorThreads runner(executors_, cpus);
  std::vector<std::vector<int>> seen(kExecutors);
  const absl::Status status = runner.OnEach(
      [&](std::size_t index, const Watch& /*stop*/) {
        seen[index] = AllowedCpus();
        return absl::OkStatus();
      },
      GoOn);
  ASSERT_EQ(status, absl::OkStatus());
  EXPECT_THAT(seen, ElementsAre(ElementsAre(cpus[0]), ElementsAre(cpus[1]), ElementsAre(cpus[2])));
}

TEST_F(ExecutorThreadsTest, AProcessorThatCannotBeHadEndsTheFirstStep) {
  ExecutorThreads runner(executors_, {0, 0, 1'000'000});
  std::atomic<bool> has_run{false};
  const absl::Status status = runner.OnEach(
      [&](std::size_t index, const Watch& /*stop*/) {
        has_run = has_run || index == 2;
        return absl::OkStatus();
      },
      GoOn);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(has_run);
}

TEST_F(ExecutorThreadsTest, TheErrorOfOneEndsTheStepOfAll) {
  ExecutorThreads runner(executors_, {});
  const absl::Status status = runner.OnEach(
      [&](std::size_t index, const Watch& stop) {
        while (index != 1 && stop().ok()) {
        }
        return index == 1 ? absl::ResourceExhaustedError("no rings") : stop();
      },
      GoOn);
  EXPECT_EQ(status, absl::ResourceExhaustedError("no rings"));
  const auto never = [](std::size_t /*index*/, const Watch& /*stop*/) {
    ADD_FAILURE() << "a step after an error";
    return absl::OkStatus();
  };
  EXPECT_EQ(runner.OnEach(never, GoOn), status);
}

TEST_F(ExecutorThreadsTest, TheWatchEndsAStep) {
  ExecutorThreads runner(executors_, {});
  const absl::Status status = runner.OnEach(
      [&](std::size_t /*index*/, const Watch& stop) {
        while (stop().ok()) {
        }
        return stop();
      },
      [] { return absl::CancelledError("Ctrl-C"); });
  EXPECT_EQ(status, absl::CancelledError("Ctrl-C"));
}

TEST_F(ExecutorThreadsTest, MemoryThatCannotBeHadIsAnError) {
  ExecutorThreads runner(executors_, {});
  const absl::Status status =
      runner.OnEach([](std::size_t /*index*/, const Watch& /*stop*/) -> absl::Status { throw std::bad_alloc(); }, GoOn);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::engine
