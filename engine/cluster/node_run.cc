#include "engine/cluster/node_run.h"

#include <algorithm>
#include <utility>

#include "engine/cluster/executor_threads.h"
#include "rdma/transport/node_arrivals.h"

namespace glaive::engine {

absl::StatusOr<std::unique_ptr<NodeRun>> NodeRun::Create(const NodeRunConfig& config, const Query& query,
                                                         const Watch& watch) {
  std::unique_ptr<NodeRun> run(new NodeRun());
  const std::uint32_t executors = config.executor.mesh.executors_per_node;
  std::vector<ExecutorConfig> configs(executors, config.executor);
  const auto node_arrivals = std::make_shared<rdma::NodeArrivals>(executors);
  for (std::uint32_t i = 0; i < executors; ++i) {
    configs[i].mesh.self = ExecutorId{Value(config.node) * executors + i};
    configs[i].mesh.node_arrivals = node_arrivals;
    if (config.host != nullptr) {
      config.host->Equip(configs[i]);
    }
  }
  run->executors_.resize(executors);
  run->runner_ = config.host != nullptr ? config.host->MakeRunner(run->executors_, config.cpus)
                                        : std::make_unique<ExecutorThreads>(run->executors_, config.cpus);
  const auto create = [&](std::size_t index, const Watch& stop) {
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(configs[index], query);
    if (!executor.ok()) {
      return executor.status();
    }
    run->executors_[index] = *std::move(executor);
    return config.prefault_rings ? run->executors_[index]->mesh().PrefaultRings(stop) : absl::OkStatus();
  };
  if (absl::Status status = run->runner_->OnEach(create, watch); !status.ok()) {
    return status;
  }
  return run;
}

std::vector<rdma::MeshDescriptor> NodeRun::descriptors() const {
  std::vector<rdma::MeshDescriptor> descriptors;
  for (const auto& executor : executors_) {
    descriptors.push_back(executor->descriptor());
  }
  return descriptors;
}

absl::Status NodeRun::Connect(std::span<const rdma::MeshDescriptor> all, const Watch& watch) {
  return runner_->OnEach([&](std::size_t index, const Watch& /*stop*/) { return executors_[index]->Connect(all); },
                         watch);
}

absl::StatusOr<std::optional<NodeId>> NodeRun::PollConnecting(const Watch& watch) {
  return FirstMissing(&rdma::ExecutorMesh::PollConnecting, watch);
}

absl::StatusOr<std::optional<NodeId>> NodeRun::PollProbes(const Watch& watch) {
  return FirstMissing(&rdma::ExecutorMesh::PollProbes, watch);
}

absl::StatusOr<std::optional<NodeId>> NodeRun::FirstMissing(MeshPoll mesh_poll, const Watch& watch) {
  std::vector<std::optional<NodeId>> missing(executors_.size());
  const auto poll = [&](std::size_t index, const Watch& /*stop*/) {
    const absl::StatusOr<std::optional<NodeId>> polled = (executors_[index]->mesh().*mesh_poll)();
    missing[index] = polled.ok() ? *polled : std::nullopt;
    return polled.status();
  };
  if (absl::Status status = runner_->OnEach(poll, watch); !status.ok()) {
    return status;
  }
  const auto first = std::ranges::find_if(missing, [](const auto& node) { return node.has_value(); });
  return first == missing.end() ? std::nullopt : *first;
}

absl::Status NodeRun::PollChannels() {
  absl::Status status;
  for (const auto& executor : executors_) {
    executor->PollChannels();
    status.Update(executor->status());
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
