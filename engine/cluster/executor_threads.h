// ExecutorThreads: runs each executor of a node on a thread of its own, from its preparation to its end.
//
// The main thread gives all threads one step after the other, and waits until each has done it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "absl/status/status.h"

#include "engine/cluster/executor_runner.h"
#include "engine/executor/executor.h"

namespace glaive::engine {

class ExecutorThreads final : public ExecutorRunner {
 public:
  /// `executors` outlive the runner; those that a step makes are null before. `cpus`: the CPU of each; empty: not
  /// pinned.
  ExecutorThreads(std::span<const std::unique_ptr<Executor>> executors, std::vector<int> cpus);
  ExecutorThreads(const ExecutorThreads&) = delete;
  ExecutorThreads& operator=(const ExecutorThreads&) = delete;
  ~ExecutorThreads() override;

  absl::Status OnEach(Step step, const Watch& watch) override;
  absl::Status Open(const Watch& watch) override;
  absl::Status Run(const Watch& watch) override;

 private:
  absl::Status Start();
  void ThreadMain(std::size_t index);
  /// The step that follows number `done`; null when the thread is to end.
  const Step* AwaitStep(std::uint64_t done);
  absl::Status RunExecutor(Executor& executor);
  bool AllDone() const;
  void StopAndJoin();

  std::span<const std::unique_ptr<Executor>> executors_;
  std::vector<int> cpus_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};  // relaxed: it carries no data, and is read every round

  std::mutex mutex_;                 // guards the members below
  std::condition_variable given_;    // for the threads: a step, or the end
  std::condition_variable changed_;  // for the main thread: all have ended the step, or one has failed
  const Step* step_ = nullptr;       // of OnEach
  std::uint64_t steps_ = 0;          // given so far
  std::size_t unfinished_ = 0;       // threads that have not ended the last one
  bool is_ending_ = false;
  absl::Status failure_;
};

}  // namespace glaive::engine
