#include "engine/cluster/node_set_up.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "engine/cluster/input_comparison.h"
#include "engine/cluster/protocol_error.h"
#include "engine/cluster/transport_plan.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/reminder.h"
#include "state/store/fragment_geometry.h"

namespace glaive::engine {
namespace {

/// Windows of event time that a flow may lead by unless --max-lead says otherwise.
constexpr std::int64_t kDefaultLeadWindows = 4;

constexpr absl::Duration kConnectPollInterval = absl::Milliseconds(1);

}  // namespace

NodeSetUp::NodeSetUp(QueryProgram& program, const EngineOptions& options, rdma::ControlPlane& plane, const Clock& clock,
                     Host& host, NodeParts& parts)
    : program_(&program), options_(&options), plane_(&plane), clock_(&clock), host_(&host), parts_(&parts) {}

absl::Status NodeSetUp::Run(const Watch& watch) {
  absl::StatusOr<std::unique_ptr<Query>> query = program_->Build(*options_, options_->cluster.executor_count(), watch);
  if (!query.ok()) {
    return query.status();
  }
  parts_->query = *std::move(query);
  if (absl::Status status = CompareInputs(*plane_, program_->inputs()); !status.ok()) {
    return status;
  }
  const absl::StatusOr<rdma::MeshOptions> mesh = PlanMesh();
  if (!mesh.ok()) {
    return mesh.status();
  }
  const absl::StatusOr<MemoryPlan> plan = PlanNodeMemory(*mesh);
  if (!plan.ok()) {
    return plan.status();
  }
  const absl::StatusOr<std::vector<int>> cpus = ChooseCpus();
  if (!cpus.ok()) {
    return cpus.status();
  }
  absl::StatusOr<std::unique_ptr<NodeRun>> run = NodeRun::Create(
      {.executor = ConfigureExecutors(*mesh, *plan), .node = plane_->rank(), .cpus = *cpus, .host = host_},
      *parts_->query);
  if (!run.ok()) {
    return run.status();
  }
  parts_->run = *std::move(run);
  if (absl::Status status = ExchangeChannels(); !status.ok()) {
    return status;
  }
  if (absl::Status status = AwaitConnections(watch); !status.ok()) {
    return status;
  }
  return parts_->run->Open(watch);
}

absl::StatusOr<rdma::MeshOptions> NodeSetUp::PlanMesh() {
  const absl::StatusOr<TransportPlan> transports = PlanTransports(options_->cluster.transport, plane_->members());
  if (!transports.ok()) {
    return transports.status();
  }
  rdma::MeshOptions mesh;
  mesh.self = ExecutorId{Value(plane_->rank()) * options_->cluster.executors};
  mesh.executors_per_node = options_->cluster.executors;
  mesh.executor_count = options_->cluster.executor_count();
  mesh.channel.slot_bytes = options_->channel.slot_bytes;
  mesh.channel.credits = options_->channel.credits;
  mesh.ring_budget_bytes = options_->channel.ring_budget_bytes;
  mesh.run_token = plane_->run_token();
  mesh.write_mode = options_->cluster.write_mode;
  transports->ApplyTo(mesh);
  nodes_on_host_ = transports->NodesOnHostOf(plane_->rank());
  rank_on_host_ = transports->RankOnHost(plane_->rank());
  if (transports->needs_device) {
    absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> device = host_->OpenDevice(options_->cluster);
    if (!device.ok()) {
      return device.status();
    }
    mesh.device = *std::move(device);
  }
  if (mesh.device != nullptr) {
    if (mesh.VerbsQueuePairs() > mesh.device->info().max_queue_pairs) {
      return absl::InvalidArgumentError(absl::StrCat(
          "this run needs ", mesh.VerbsQueuePairs(), " queue pairs a node, but ", mesh.device->info().device,
          " has at most ", mesh.device->info().max_queue_pairs, "; lower --executors or --nodes"));
    }
    absl::StatusOr<std::vector<std::string>> devices = plane_->AllGather("devices", mesh.device->info().Describe());
    if (!devices.ok()) {
      return devices.status();
    }
    parts_->devices = *std::move(devices);
  }
  if (Value(plane_->rank()) == 0) {
    host_->out() << "transport " << transports->reason
                 << (mesh.device == nullptr ? "" : absl::StrCat("; queue pairs a node: ", mesh.VerbsQueuePairs()))
                 << "\n"
                 << DescribeDevices(parts_->devices);
  }
  return mesh;
}

absl::StatusOr<MemoryPlan> NodeSetUp::PlanNodeMemory(const rdma::MeshOptions& mesh) const {
  const absl::StatusOr<std::vector<state::FragmentGeometry>> fragments =
      state::FragmentGeometry::PlanAll(options_->cluster.executor_count(), mesh.channel.slot_bytes,
                                       parts_->query->delta_entry_bytes(), options_->state.fragment_bytes);
  if (!fragments.ok()) {
    return fragments.status();
  }
  const absl::StatusOr<rdma::ChannelPlan> channels = rdma::PlanChannels(mesh);
  if (!channels.ok()) {
    return channels.status();
  }
  const MemoryNeeds needs{
      .executors = options_->cluster.executors,
      .nodes_on_host = nodes_on_host_,
      .source_bytes = parts_->query->source_memory_bytes(),
      .segment_bytes = std::uint64_t{state::FragmentGeometry::PoolSegments(*fragments)} * mesh.channel.slot_bytes,
      .ring_bytes = channels->node_ring_bytes / options_->cluster.executors,
      .verify_bytes = options_->output.verify ? program_->verify_memory_bytes(options_->cluster.executor_count()) : 0,
      .table_bytes = parts_->query->table_bytes(),
      .limit_bytes = options_->state.memory_limit_bytes,
      .prefault_bytes = options_->state.prefault_bytes};
  absl::StatusOr<MemoryPlan> plan = PlanMemory(needs, host_->available_memory_bytes());
  if (plan.ok() && Value(plane_->rank()) == 0) {
    host_->out() << plan->Describe() << (channels->note.empty() ? "" : absl::StrCat("  ", channels->note, "\n"))
                 << std::flush;
  }
  return plan;
}

absl::StatusOr<std::vector<int>> NodeSetUp::ChooseCpus() {
  std::vector<int> allowed = host_->allowed_cpus();
  const std::size_t executors = options_->cluster.executors;
  absl::StatusOr<std::vector<int>> cpus = absl::ResourceExhaustedError(
      absl::StrCat(nodes_on_host_ * executors, " executors on this host may run on ", allowed.size()));
  if (nodes_on_host_ * executors <= allowed.size()) {
    // Each node of the run begins with a share of its own, so that they do not take each other's.
    std::ranges::rotate(allowed, allowed.begin() + static_cast<std::ptrdiff_t>(rank_on_host_ * executors));
    cpus = host_->ClaimCpus(allowed, executors);
  }
  const absl::StatusOr<std::vector<std::string>> obstacles =
      plane_->AllGather("processors", cpus.ok() ? "" : std::string(cpus.status().message()));
  if (!obstacles.ok()) {
    return obstacles.status();
  }
  // The system would run executors that are not pinned on processors to which another node's executors are pinned.
  const auto& members = plane_->members();
  const std::size_t own = Value(plane_->rank());
  std::string obstacle;
  for (std::size_t node = 0; node < members.size() && obstacle.empty(); ++node) {
    if (members[node].host_id == members[own].host_id && !(*obstacles)[node].empty()) {
      obstacle = absl::StrCat(node == own ? "" : absl::StrCat("node ", node, ": "), (*obstacles)[node]);
    }
  }
  if (!obstacle.empty()) {
    host_->ReleaseCpus();
    cpus = std::vector<int>();
  }
  if (own == 0) {
    host_->out() << "processors: "
                 << (obstacle.empty() ? absl::StrCat("node 0's executors are pinned to ", absl::StrJoin(*cpus, ", "))
                                      : absl::StrCat("not pinned, ", obstacle))
                 << "\n"
                 << std::flush;
  }
  return cpus;
}

ExecutorConfig NodeSetUp::ConfigureExecutors(const rdma::MeshOptions& mesh, const MemoryPlan& plan) const {
  const EpochOptions& epoch = options_->epoch;
  const std::int64_t lead_ms = absl::ToInt64Milliseconds(epoch.max_lead);
  return ExecutorConfig{.mesh = mesh,
                        .epoch_policy = {.epoch_bytes = epoch.epoch_bytes,
                                         .epoch_min_bytes = epoch.epoch_min_bytes,
                                         .epoch_interval_ns = absl::ToInt64Nanoseconds(epoch.epoch_interval)},
                        .max_lead_ms = lead_ms == 0 ? kDefaultLeadWindows * parts_->query->window_ms() : lead_ms,
                        .idle_timeout_ns = absl::ToInt64Nanoseconds(epoch.idle_timeout),
                        .fragment_bytes = options_->state.fragment_bytes,
                        .fold = {.records_per_saved = options_->cluster.nodes > 1 ? 4U : 2U},
                        .thresholds = {},
                        .state_limit_bytes = plan.state_bytes_per_executor,
                        .state_prefault_bytes = options_->state.prefault_bytes,
                        .clock = clock_,
                        .scheduler = {}};
}

absl::Status NodeSetUp::ExchangeChannels() {
  std::vector<std::string> mine;
  for (const rdma::MeshDescriptor& descriptor : parts_->run->descriptors()) {
    mine.push_back(descriptor.Encode());
  }
  const absl::StatusOr<std::vector<std::string>> nodes = plane_->AllGather("channels", absl::StrJoin(mine, "\n"));
  if (!nodes.ok()) {
    return nodes.status();
  }
  std::vector<rdma::MeshDescriptor> all;
  for (std::uint32_t rank = 0; rank < nodes->size(); ++rank) {
    for (const auto line : absl::StrSplit((*nodes)[rank], '\n')) {
      absl::StatusOr<rdma::MeshDescriptor> descriptor = rdma::MeshDescriptor::Decode({line.data(), line.size()});
      if (!descriptor.ok()) {
        return ProtocolError(rank, descriptor.status().message());
      }
      if (options_->cluster.NodeOf(Value(descriptor->executor)) != rank) {
        return ProtocolError(rank,
                             absl::StrCat("it describes executor ", Value(descriptor->executor), " of another node"));
      }
      all.push_back(*std::move(descriptor));
    }
  }
  return parts_->run->Connect(all);
}

absl::Status NodeSetUp::AwaitConnections(const Watch& watch) {
  const std::int64_t start_ns = clock_->NowNanos();
  const std::int64_t deadline_ns = start_ns + absl::ToInt64Nanoseconds(options_->cluster.join_timeout);
  rdma::Reminder reminder(start_ns);
  while (true) {
    const absl::StatusOr<std::optional<NodeId>> missing = parts_->run->PollConnecting();
    if (!missing.ok()) {
      return missing.status();
    }
    if (!missing->has_value()) {
      return absl::OkStatus();
    }
    const std::int64_t now_ns = clock_->NowNanos();
    if (now_ns >= deadline_ns) {
      const auto& device = parts_->run->executors().front()->mesh().options().device;
      return absl::DeadlineExceededError(absl::StrCat(
          "node ", Value(**missing),
          " has no queue pair to this node after --join-timeout=", absl::FormatDuration(options_->cluster.join_timeout),
          device == nullptr ? "" : absl::StrCat("; this node is at ", device->info().Describe()),
          ". Both addresses must be in one RDMA network: try rping between them, or choose others with --bind or "
          "--device"));
    }
    if (absl::Status status = watch(); !status.ok()) {
      return status;
    }
    if (reminder.Due(now_ns)) {
      host_->Tell(absl::StrCat("waits for a queue pair to ", Describe(**missing), ", for at most ",
                               absl::FormatDuration(options_->cluster.join_timeout), " (--join-timeout)"));
    }
    host_->Sleep(kConnectPollInterval);
  }
}

std::string NodeSetUp::Describe(NodeId node) const {
  const std::string name = rdma::NodeName(plane_->members()[Value(node)]);
  const std::vector<std::string>& devices = parts_->devices;
  return devices.empty() ? name : absl::StrCat(name, " at ", devices[Value(node)]);
}

}  // namespace glaive::engine
