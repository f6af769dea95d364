#include "engine/cluster/node_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/cluster/cpu_pinning.h"
#include "engine/fiber/idle_strategy.h"

namespace glaive::engine {
namespace {

constexpr std::chrono::milliseconds kWatchInterval(20);

}  // namespace

absl::StatusOr<std::unique_ptr<NodeRun>> NodeRun::Create(const NodeRunConfig& config, const Query& query) {
  std::unique_ptr<NodeRun> run(new NodeRun(config));
  const std::uint32_t executors = config.executor.mesh.executors_per_node;
  for (std::uint32_t i = 0; i < executors; ++i) {
    ExecutorConfig mine = config.executor;
    mine.mesh.self = ExecutorId{Value(config.node) * executors + i};
    mine.pick_policy = nullptr;
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(mine, query);
    if (!executor.ok()) {
      return executor.status();
    }
    run->executors_.push_back(*std::move(executor));
  }
  run->phases_.assign(executors, Phase::kOpening);
  return run;
}

NodeRun::~NodeRun() { StopAndJoin(); }

void NodeRun::StopAndJoin() {
  {
    const std::lock_guard lock(mutex_);
    go_ = true;
    failure_.Update(threads_.empty() ? absl::OkStatus() : absl::CancelledError("the run was stopped"));
  }
  stop_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

std::vector<rdma::MeshDescriptor> NodeRun::descriptors() const {
  std::vector<rdma::MeshDescriptor> descriptors;
  for (const auto& executor : executors_) {
    descriptors.push_back(executor->descriptor());
  }
  return descriptors;
}

absl::Status NodeRun::Connect(std::span<const rdma::MeshDescriptor> all) {
  absl::Status status;
  for (const auto& executor : executors_) {
    status.Update(executor->Connect(all));
  }
  return status;
}

absl::StatusOr<std::optional<NodeId>> NodeRun::PollConnecting() {
  std::optional<NodeId> missing;
  for (const auto& executor : executors_) {
    absl::StatusOr<std::optional<NodeId>> unconnected = executor->mesh().PollConnecting();
    if (!unconnected.ok()) {
      return unconnected;
    }
    missing = missing.has_value() ? missing : *unconnected;
  }
  return missing;
}

absl::Status NodeRun::Open(const Watch& watch) {
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    threads_.emplace_back([this, i] { ThreadMain(i); });
  }
  return WaitFor(Phase::kOpened, watch);
}

absl::Status NodeRun::Run(const Watch& watch) {
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

absl::Status NodeRun::WaitFor(Phase phase, const Watch& watch) {
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

absl::Status NodeRun::Commit() {
  absl::Status status;
  for (const auto& executor : executors_) {
    status.Update(executor->Commit());
  }
  return status;
}

void NodeRun::Retract() {
  for (const auto& executor : executors_) {
    executor->Retract();
  }
}

void NodeRun::SetPhase(std::size_t index, Phase phase, const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    phases_[index] = phase;
    failure_.Update(status);
  }
  changed_.notify_all();
}

void NodeRun::ThreadMain(std::size_t index) {
  Executor& executor = *executors_[index];
  absl::Status status = config_.cpus.empty() ? absl::OkStatus() : PinThisThread(config_.cpus[index]);
  status.Update(executor.Open());
  SetPhase(index, Phase::kOpened, status);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return go_ || !failure_.ok(); });
    status.Update(failure_);
  }
  SetPhase(index, Phase::kEnded, status.ok() ? RunExecutor(executor) : status);
}

absl::Status NodeRun::RunExecutor(Executor& executor) {
  BackoffIdleStrategy idle({});
  if (absl::Status status = executor.Start(); !status.ok()) {
    return status;
  }
  while (!executor.done()) {
    if (stop_.load(std::memory_order_relaxed)) {
      executor.Stop(absl::CancelledError("the run was stopped"));
    } else if (executor.RunRound()) {
      idle.Reset();
    } else {
      idle.Idle();
    }
  }
  return executor.status();
}

}  // namespace glaive::engine
