#include "engine/cluster/executor_threads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/cluster/cpu_pinning.h"
#include "engine/fiber/idle_strategy.h"
#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

constexpr std::chrono::milliseconds kWatchInterval(20);

absl::Status Stopped() { return absl::CancelledError("the run was stopped"); }

}  // namespace

ExecutorThreads::ExecutorThreads(std::span<const std::unique_ptr<Executor>> executors, std::vector<int> cpus)
    : executors_(executors), cpus_(std::move(cpus)), phases_(executors.size(), Phase::kOpening) {}

ExecutorThreads::~ExecutorThreads() { StopAndJoin(); }

void ExecutorThreads::StopAndJoin() {
  {
    const std::lock_guard lock(mutex_);
    go_ = true;
    failure_.Update(threads_.empty() ? absl::OkStatus() : Stopped());
  }
  stop_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

absl::Status ExecutorThreads::Open(const Watch& watch) {
  absl::Status started = CatchExhaustion([this] {
    for (std::size_t i = 0; i < executors_.size(); ++i) {
      threads_.emplace_back([this, i] { ThreadMain(i); });
    }
    return absl::OkStatus();
  });
  if (!started.ok()) {
    StopAndJoin();
    return started;
  }
  return WaitFor(Phase::kOpened, watch);
}

absl::Status ExecutorThreads::Run(const Watch& watch) {
  {
    const std::lock_guard lock(mutex_);
    go_ = true;
  }
  changed_.notify_all();
  absl::Status status = WaitFor(Phase::kEnded, watch);
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  return status;
}

absl::Status ExecutorThreads::WaitFor(Phase phase, const Watch& watch) {
  std::unique_lock lock(mutex_);
  while (failure_.ok() && std::any_of(phases_.begin(), phases_.end(), [&](Phase p) { return p < phase; })) {
    changed_.wait_for(lock, kWatchInterval);
    lock.unlock();
    const absl::Status seen = watch();
    lock.lock();
    failure_.Update(seen);
  }
  const absl::Status status = failure_;
  lock.unlock();
  if (!status.ok()) {
    StopAndJoin();
  }
  return status;
}

void ExecutorThreads::SetPhase(std::size_t index, Phase phase, const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    phases_[index] = phase;
    failure_.Update(status);
  }
  changed_.notify_all();
}

void ExecutorThreads::ThreadMain(std::size_t index) {
  Executor& executor = *executors_[index];
  absl::Status status = cpus_.empty() ? absl::OkStatus() : PinThisThread(cpus_[index]);
  const Watch watch = [this] { return stop_.load(std::memory_order_relaxed) ? Stopped() : absl::OkStatus(); };
  status.Update(CatchExhaustion([&] { return executor.Open(watch); }));
  SetPhase(index, Phase::kOpened, status);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return go_ || !failure_.ok(); });
    status.Update(failure_);
  }
  if (status.ok()) {
    status = CatchExhaustion([&] { return RunExecutor(executor); });
    executor.Stop(status);  // its fibers end on this thread, also where the library has thrown
  }
  SetPhase(index, Phase::kEnded, status);
}

absl::Status ExecutorThreads::RunExecutor(Executor& executor) {
  BackoffIdleStrategy idle({});
  if (absl::Status status = executor.Start(); !status.ok()) {
    return status;
  }
  while (!executor.done()) {
    if (stop_.load(std::memory_order_relaxed)) {
      executor.Stop(Stopped());
    } else if (executor.RunRound()) {
      idle.Reset();
    } else {
      idle.Idle();
    }
  }
  return executor.status();
}

}  // namespace glaive::engine
