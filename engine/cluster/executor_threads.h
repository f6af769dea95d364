// ExecutorThreads: runs each executor of a node on a thread of its own.
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
  /// `executors` outlive the runner. `cpus`: the CPU of each; empty: not pinned.
  ExecutorThreads(std::span<const std::unique_ptr<Executor>> executors, std::vector<int> cpus);
  ExecutorThreads(const ExecutorThreads&) = delete;
  ExecutorThreads& operator=(const ExecutorThreads&) = delete;
  ~ExecutorThreads() override;

  absl::Status Open(const Watch& watch) override;
  absl::Status Run(const Watch& watch) override;

 private:
  enum class Phase : std::uint8_t { kOpening, kOpened, kEnded };

  void ThreadMain(std::size_t index);
  absl::Status RunExecutor(Executor& executor);
  void SetPhase(std::size_t index, Phase phase, const absl::Status& status);
  absl::Status WaitFor(Phase phase, const Watch& watch);
  void StopAndJoin();

  std::span<const std::unique_ptr<Executor>> executors_;
  std::vector<int> cpus_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};  // relaxed: it carries no data, and is looked at every round

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Phase> phases_;
  bool go_ = false;
  absl::Status failure_;
};

}  // namespace glaive::engine
