#include "engine/cluster/node_run.h"

#include <utility>

#include "engine/cluster/executor_threads.h"

namespace glaive::engine {

absl::StatusOr<std::unique_ptr<NodeRun>> NodeRun::Create(const NodeRunConfig& config, const Query& query) {
  std::unique_ptr<NodeRun> run(new NodeRun());
  const std::uint32_t executors = config.executor.mesh.executors_per_node;
  for (std::uint32_t i = 0; i < executors; ++i) {
    ExecutorConfig mine = config.executor;
    mine.mesh.self = ExecutorId{Value(config.node) * executors + i};
    if (config.host != nullptr) {
      config.host->Equip(mine);
    }
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(mine, query);
    if (!executor.ok()) {
      return executor.status();
    }
    run->executors_.push_back(*std::move(executor));
  }
  run->runner_ = config.host != nullptr ? config.host->MakeRunner(run->executors_, config.cpus)
                                        : std::make_unique<ExecutorThreads>(run->executors_, config.cpus);
  return run;
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

absl::Status NodeRun::Run(const Watch& watch) {
  return runner_->Run([&]() -> absl::Status {
    absl::Status status = watch();
    status.Update(PollFailure());
    return status;
  });
}

absl::Status NodeRun::PollFailure() {
  absl::Status status;
  for (const auto& executor : executors_) {
    status.Update(executor->done() && executor->status().ok() ? executor->PollFailure() : absl::OkStatus());
  }
  return status;
}

absl::Status NodeRun::Commit(const Watch& watch) {
  for (const auto& executor : executors_) {
    absl::Status status = watch();
    if (status.ok()) {
      status = executor->Commit();
    }
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
