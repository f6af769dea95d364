#include "engine/executor/executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace glaive::engine {
namespace {

// A poll is a system call or two.
constexpr std::int64_t kPeerCheckIntervalNanos = 20'000'000;

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const ExecutorConfig& config, const Query& query) {
  const Roles roles = config.roles.value_or(Roles(config.mesh.executor_count));
  absl::StatusOr<MessagePlan> messages = PlanMessages(query.inputs(roles), config.mesh.executor_count,
                                                      config.mesh.channel.slot_bytes, config.fragment_bytes);
  if (!messages.ok()) {
    return messages.status();
  }
  absl::StatusOr<std::unique_ptr<rdma::ExecutorMesh>> mesh =
      rdma::ExecutorMesh::Prepare(config.mesh, messages->segments);
  if (!mesh.ok()) {
    return mesh.status();
  }
  return std::unique_ptr<Executor>(new Executor(config, query, *std::move(messages), *std::move(mesh)));
}

Executor::Executor(const ExecutorConfig& config, const Query& query, MessagePlan messages,
                   std::unique_ptr<rdma::ExecutorMesh> mesh)
    : query_(&query),
      mesh_(std::move(mesh)),
      memory_(config.state_limit_bytes, config.mesh.run_token, config.thresholds),
      state_prefault_bytes_(config.state_prefault_bytes),
      scheduler_(config.scheduler) {
  metrics_.executor = Value(config.mesh.self);
  context_.self = config.mesh.self;
  context_.executor_count = config.mesh.executor_count;
  context_.roles = config.roles.value_or(Roles(config.mesh.executor_count));
  const std::uint32_t per_node = config.mesh.executors_per_node;
  const ExecutorId first{Value(config.mesh.self) / per_node * per_node};
  context_.process_reads = context_.roles.ReadersAmong(first, per_node) > 0;
  context_.clock = config.clock;
  context_.epoch_policy = config.epoch_policy;
  context_.max_lead_ms = config.max_lead_ms;
  context_.idle_timeout_ns = config.idle_timeout_ns;
  context_.fold = config.fold;
  context_.fold.folds = config.fold.folds && !context_.roles.partitions();
  context_.rows_per_turn = config.rows_per_turn;
  context_.geometries = std::move(messages.geometries);
  context_.exchange_credits = messages.exchange_credits;
  context_.mesh = mesh_.get();
  context_.memory = &memory_;
  context_.metrics = &metrics_;
  context_.live = &live_;
  context_.delta_observer = config.delta_observer;
  context_.claims = config.claims;
}

absl::Status Executor::Open(const Watch& watch) {
  context_.watch = watch;
  absl::Status status = memory_.Prefault(state_prefault_bytes_, watch);
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<QueryTask>> task = query_->Open(context_);
    status = task.status();
    task_ = task.ok() ? *std::move(task) : nullptr;
  }
  return status.ok()
             ? status
             : absl::Status(status.code(), absl::StrCat("executor ", Value(context_.self), ": ", status.message()));
}

absl::Status Executor::Start() { return task_->Spawn(scheduler_); }

bool Executor::RunRound() {
  context_.failure.Update(PollMesh());
  const bool ran = scheduler_.RunRound();
  context_.failure.Update(scheduler_.failure());
  mesh_->Flush();
  ran_ = ran;
  if (!context_.failure.ok() || scheduler_.done()) {
    End();
  }
  return HasHandedOn() || ran;
}

bool Executor::PollChannels() {
  ran_ = false;
  context_.failure.Update(PollMesh());
  mesh_->Flush();
  return HasHandedOn();
}

bool Executor::HasHandedOn() {
  const std::uint64_t handed_on = mesh_->handed_on();
  return std::exchange(handed_on_, handed_on) != handed_on;
}

absl::Status Executor::PollMesh() {
  absl::Status channels = mesh_->Poll();
  const std::int64_t now_ns = context_.clock->NowNanos();
  if (ran_) {
    metrics_.longest_round_ns = std::max(metrics_.longest_round_ns, static_cast<std::uint64_t>(now_ns - polled_ns_));
  }
  polled_ns_ = now_ns;
  if (channels.ok() && now_ns < next_peer_check_ns_) {
    return channels;
  }
  next_peer_check_ns_ = now_ns + kPeerCheckIntervalNanos;
  return LostPeer(channels);
}

// A channel that failed says which message; who is gone, and why, is better known by the connection.
absl::Status Executor::LostPeer(const absl::Status& channels) {
  const absl::Status failure = mesh_->PollFailure();
  const absl::Status& worse = failure.ok() ? channels : failure;
  if (worse.ok()) {
    return worse;
  }
  return {worse.code(), absl::StrCat(worse.message(), " (seen by executor ", Value(context_.self), " in epoch ",
                                     live_.epochs.load(std::memory_order_relaxed) + 1, ")")};
}

void Executor::Stop(const absl::Status& reason) {
  if (!done()) {
    context_.failure.Update(reason);
    End();
  }
}

void Executor::End() {
  scheduler_.Cancel();
  if (task_ != nullptr) {
    task_->Measure();
  }
  done_.store(true, std::memory_order_release);  // last: what it leaves behind is complete
}

}  // namespace glaive::engine
