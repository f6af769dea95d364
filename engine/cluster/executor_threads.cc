#include "engine/cluster/executor_threads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/cpu_pinning.h"
#include "engine/fiber/idle_strategy.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/processor_clock.h"

namespace glaive::engine {
namespace {

constexpr std::chrono::milliseconds kWatchInterval(20);

absl::Status Stopped() { return absl::CancelledError("the run was stopped"); }

}  // namespace

ExecutorThreads::ExecutorThreads(std::span<const std::unique_ptr<Executor>> executors, std::vector<int> cpus)
    : executors_(executors), cpus_(std::move(cpus)) {}

ExecutorThreads::~ExecutorThreads() { StopAndJoin(); }

void ExecutorThreads::StopAndJoin() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  stop_.store(true, std::memory_order_relaxed);
  given_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

absl::Status ExecutorThreads::Start() {
  if (is_ending_) {  // only this thread sets it
    return failure_.ok() ? Stopped() : failure_;
  }
  return CatchExhaustion([this] {
    for (std::size_t i = threads_.size(); i < executors_.size(); ++i) {
      threads_.emplace_back([this, i] { ThreadMain(i); });
    }
    return absl::OkStatus();
  });
}

absl::Status ExecutorThreads::OnEach(Step step, const Watch& watch) {
  if (absl::Status started = Start(); !started.ok()) {
    StopAndJoin();
    return started;
  }
  std::unique_lock lock(mutex_);
  step_ = &step;
  ++steps_;
  unfinished_ = executors_.size();
  given_.notify_all();
  while (failure_.ok() && unfinished_ > 0) {
    changed_.wait_for(lock, kWatchInterval);
    lock.unlock();
    // The threads have pointers into this frame, so no exception may leave it.
    const absl::Status seen = CatchExhaustion([&watch] { return watch(); });
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

absl::Status ExecutorThreads::Open(const Watch& watch) {
  return OnEach([this](std::size_t index, const Watch& stop) { return executors_[index]->Open(stop); }, watch);
}

absl::Status ExecutorThreads::Run(const Watch& watch) {
  const auto run = [this](std::size_t index, const Watch& /*stop*/) {
    Executor& executor = *executors_[index];
    absl::Status status = CatchExhaustion([&] { return RunExecutor(executor); });
    executor.Stop(status);  // its fibers end on this thread, also where the library has thrown
    return status;
  };
  absl::Status status = OnEach(run, watch);
  StopAndJoin();
  return status;
}

void ExecutorThreads::ThreadMain(std::size_t index) {
  const absl::Status pinned = cpus_.empty() ? absl::OkStatus() : PinThisThread(cpus_[index]);
  const Watch stop = [this] { return stop_.load(std::memory_order_relaxed) ? Stopped() : absl::OkStatus(); };
  std::uint64_t done = 0;
  while (const Step* const step = AwaitStep(done++)) {
    const absl::Status status = pinned.ok() ? CatchExhaustion([&] { return (*step)(index, stop); }) : pinned;
    bool is_news = false;
    {
      const std::lock_guard lock(mutex_);
      failure_.Update(status);
      is_news = --unfinished_ == 0 || !status.ok();
    }
    if (is_news) {
      changed_.notify_one();
    }
  }
}

const ExecutorRunner::Step* ExecutorThreads::AwaitStep(std::uint64_t done) {
  std::unique_lock lock(mutex_);
  given_.wait(lock, [&] { return steps_ > done || is_ending_; });
  return is_ending_ ? nullptr : step_;
}

absl::Status ExecutorThreads::RunExecutor(Executor& executor) {
  // Others of the node wait for immediate values that this one takes in. They wait also for its end, and it for theirs.
  const BackoffOptions briefly{.max_sleep_ns = 500'000};
  BackoffIdleStrategy idle(executor.mesh().hands_on() ? briefly : BackoffOptions());
  BackoffIdleStrategy after_end(briefly);
  if (absl::Status status = executor.Start(); !status.ok()) {
    return status;
  }
  const double begin = ThreadSeconds();
  while (!executor.done()) {
    if (stop_.load(std::memory_order_relaxed)) {
      executor.Stop(Stopped());
    } else if (executor.RunRound()) {
      idle.Reset();
    } else {
      idle.Idle();
    }
  }
  executor.AddProcessorTime(static_cast<std::uint64_t>((ThreadSeconds() - begin) * 1e9));
  while (executor.status().ok() && !AllDone()) {
    if (stop_.load(std::memory_order_relaxed)) return Stopped();
    if (executor.PollChannels()) {
      after_end.Reset();
    } else {
      after_end.Idle();
    }
  }
  return executor.status();
}

bool ExecutorThreads::AllDone() const {
  return std::ranges::all_of(executors_, [](const auto& executor) { return executor->done(); });
}

}  // namespace glaive::engine
