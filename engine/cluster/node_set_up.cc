#include "engine/cluster/node_set_up.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "engine/cluster/input_comparison.h"
#include "engine/cluster/protocol_error.h"
#include "engine/cluster/transport_plan.h"
#include "engine/executor/message_plan.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/reminder.h"
#include "rdma/mesh/mesh_memory.h"
#include "rdma/verbs/connect_failures.h"
#include "rdma/verbs/relaxed_ordering.h"

namespace glaive::engine {
namespace {

/// Windows of event time that a flow may lead by unless --max-lead says otherwise.
constexpr std::int64_t kDefaultLeadWindows = 4;

constexpr absl::Duration kConnectPollInterval = absl::Milliseconds(1);

/// What a node waits beyond --join-timeout: the node that connects to it gives up then, and says why it failed.
constexpr absl::Duration kConnectPatience = absl::Seconds(1);

/// How long the first message of full size may take: some seconds of retries, whatever the device's timeouts are.
constexpr absl::Duration kProbePatience = absl::Seconds(15);

/// Why executors of that host cannot be pinned, as node `own` of it says it; empty: they are. The system would run
/// executors that are not pinned on processors to which another node's executors are pinned, so all are or none is.
/// `found` by each node: an obstacle, or its processors behind an empty line.
std::string ObstacleOn(const std::string& host_id, const std::vector<rdma::Member>& members,
                       const std::vector<std::string>& found, std::size_t own) {
  for (std::size_t node = 0; node < members.size(); ++node) {
    if (members[node].host_id == host_id && !absl::StartsWith(found[node], "\n")) {
      return absl::StrCat(node == own ? "" : absl::StrCat("node ", node, ": "), found[node]);
    }
  }
  return "";
}

}  // namespace

NodeSetUp::NodeSetUp(QueryProgram& program, const EngineOptions& options, rdma::ControlPlane& plane, const Clock& clock,
                     Host& host, FileClaims& claims, NodeParts& parts)
    : program_(&program),
      options_(&options),
      plane_(&plane),
      clock_(&clock),
      host_(&host),
      numa_(host.numa_nodes()),
      claims_(&claims),
      parts_(&parts) {}

absl::Status NodeSetUp::Run(const Watch& watch) {
  absl::StatusOr<std::unique_ptr<Query>> query =
      program_->Build(*options_, options_->cluster.executor_count(), *claims_, watch);
  if (!query.ok()) {
    return query.status();
  }
  parts_->query = *std::move(query);
  std::vector<ComparedInput> inputs = program_->inputs();
  std::ranges::move(parts_->query->compared_inputs(), std::back_inserter(inputs));
  if (absl::Status status = CompareInputs(*plane_, inputs); !status.ok()) {
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
  absl::StatusOr<std::unique_ptr<NodeRun>> run =
      NodeRun::Create({.executor = ConfigureExecutors(*mesh, *plan),
                       .node = plane_->rank(),
                       .cpus = *cpus,
                       .host = host_,
                       .prefault_rings = !cpus->empty() && numa_.are_several()},
                      *parts_->query, watch);
  if (!run.ok()) {
    return run.status();
  }
  parts_->run = *std::move(run);
  if (absl::Status status = ExchangeChannels(watch); !status.ok()) {
    return status;
  }
  if (absl::Status status = AwaitConnections(watch); !status.ok()) {
    return status;
  }
  WarnOfPlacement();
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
  mesh.run_key = plane_->run_key();
  mesh.clock = clock_;
  absl::StatusOr<rdma::ChannelPlan> channels = rdma::PlanChannels(mesh);
  if (!channels.ok()) {
    return channels.status();
  }
  channels_ = *std::move(channels);
  mesh.channel = channels_.channel;
  transports->ApplyTo(mesh);
  nodes_on_host_ = transports->NodesOnHostOf(plane_->rank());
  if (transports->needs_device) {
    absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> device =
        host_->OpenDevice(options_->cluster, plane_->local_address());
    if (!device.ok()) {
      return device.status();
    }
    mesh.device = *std::move(device);
  }
  device_node_ = host_->NumaNodeOf(mesh.device.get());
  if (transports->needs_device) {
    if (absl::Status status = AgreeOnArrival(mesh); !status.ok()) {
      return status;
    }
  }
  if (mesh.device != nullptr) {
    PlanOrdering(mesh);
    if (mesh.VerbsQueuePairs() > mesh.device->info().max_queue_pairs) {
      return absl::InvalidArgumentError(absl::StrCat(
          "this run needs ", mesh.VerbsQueuePairs(), " queue pairs a node, but ", mesh.device->info().device,
          " has at most ", mesh.device->info().max_queue_pairs, "; lower --executors or --nodes"));
    }
  }
  const absl::StatusOr<std::vector<std::string>> places = ExchangeDevices(mesh);
  if (!places.ok()) {
    return places.status();
  }
  nodes_before_ = transports->NodesBefore(plane_->rank(), *places);
  if (Value(plane_->rank()) == 0) {
    host_->out() << "transport " << transports->reason
                 << (mesh.device == nullptr ? ""
                                            : absl::StrCat("; queue pairs a node: ", mesh.VerbsQueuePairs(),
                                                           "; messages arrive by ", rdma::Name(mesh.arrival)))
                 << "\n"
                 << DescribeDevices(parts_->devices);
  }
  return mesh;
}

// The NUMA node of each node's device, as text; empty where a node has none.
absl::StatusOr<std::vector<std::string>> NodeSetUp::ExchangeDevices(const rdma::MeshOptions& mesh) {
  std::vector<std::string> places(plane_->members().size());
  if (mesh.device == nullptr) {
    return places;
  }
  const std::string own = DescribeDevice(mesh.device->info(), mesh.relaxed_ordering);
  const std::string own_place = device_node_.has_value() ? absl::StrCat(*device_node_) : "";
  const absl::StatusOr<std::vector<std::string>> devices =
      plane_->AllGather("devices", absl::StrCat(own, "\n", own_place));
  if (!devices.ok()) {
    return devices.status();
  }
  for (std::size_t node = 0; node < places.size(); ++node) {
    const std::pair<std::string, std::string> parts = absl::StrSplit((*devices)[node], absl::MaxSplits('\n', 1));
    parts_->devices.push_back(parts.first);
    places[node] = parts.second;
  }
  return places;
}

void NodeSetUp::PlanOrdering(rdma::MeshOptions& mesh) const {
  const RelaxedOrderingChoice choice = options_->cluster.relaxed_ordering;
  mesh.relaxed_ordering = PlanRelaxedOrdering(choice, mesh.device->info(), rdma::RelaxedOrderingPays());
  const std::string caveat = RelaxedOrderingCaveat(choice, mesh.device->info());
  if (!caveat.empty()) {
    host_->Tell(caveat);
  }
}

// Nodes differ by their devices, and come to the same decision on what all of them can.
absl::Status NodeSetUp::AgreeOnArrival(rdma::MeshOptions& mesh) {
  const std::string own =
      rdma::Name(host_->HasImmediates(mesh.device.get()) ? rdma::Arrival::kImmediate : rdma::Arrival::kChecksum);
  const absl::StatusOr<std::vector<std::string>> nodes = plane_->AllGather("arrival", own);
  if (!nodes.ok()) {
    return nodes.status();
  }
  std::vector<bool> has_immediates;
  for (const std::string& node : *nodes) {
    has_immediates.push_back(node == rdma::Name(rdma::Arrival::kImmediate));
  }
  const absl::StatusOr<rdma::Arrival> arrival = PlanArrival(options_->cluster.arrival, has_immediates);
  if (arrival.ok()) {
    mesh.arrival = *arrival;
  }
  return arrival.status();
}

// Polled messages are right in any order of their bytes, but may wait for the rest of a message.
void NodeSetUp::WarnOfPlacement() const {
  const auto& executors = parts_->run->executors();
  const rdma::MeshOptions& mesh = executors.front()->mesh().options();
  if (mesh.ExecutorsReachedOver(rdma::TransportKind::kVerbs) == 0 || mesh.arrival != rdma::Arrival::kChecksum) {
    return;
  }
  const std::string setting = host_->OutOfOrderSetting();
  const bool is_said = std::ranges::any_of(executors, [](const auto& each) { return each->mesh().PlacesOutOfOrder(); });
  if (is_said || !setting.empty()) {
    const std::string sign =
        setting.empty() ? "this host's device says that it may" : setting + " lets this host's device";
    host_->Tell(absl::StrCat("messages arrive by poll, and ", sign,
                             " place their bytes out of order: checksums decide when a message is complete; "
                             "--arrival=imm needs none"));
  }
}

absl::StatusOr<MemoryPlan> NodeSetUp::PlanNodeMemory(const rdma::MeshOptions& mesh) const {
  const absl::StatusOr<MessagePlan> messages =
      PlanMessages(parts_->query->inputs(options_->cluster.roles()), options_->cluster.executor_count(),
                   mesh.channel.slot_bytes, options_->state.fragment_bytes);
  if (!messages.ok()) {
    return channels_.note.empty() ? messages.status()
                                  : absl::InvalidArgumentError(absl::StrCat(messages.status().message(), "; ",
                                                                            channels_.note, ", raise that"));
  }
  const MemoryNeeds needs{.executors = options_->cluster.executors,
                          .readers = options_->cluster.roles().ReadersAmong(mesh.self, options_->cluster.executors),
                          .nodes_on_host = nodes_on_host_,
                          .source_bytes = parts_->query->source_memory_bytes(),
                          .segment_bytes = std::uint64_t{messages->segments} * mesh.channel.slot_bytes,
                          .inbox_bytes = messages->inbox_bytes,
                          .ring_bytes = channels_.node_ring_bytes / options_->cluster.executors,
                          .arrival_bytes = rdma::ArrivalMemoryBytes(mesh),
                          .verify_bytes = options_->output.verify ? program_->check()->verify_memory_bytes(
                                                                        options_->cluster.roles().reader_count())
                                                                  : 0,
                          .table_bytes = parts_->query->table_bytes(),
                          .limit_bytes = options_->state.memory_limit_bytes,
                          .prefault_bytes = options_->state.prefault_bytes};
  absl::StatusOr<MemoryPlan> plan = PlanMemory(needs, host_->available_memory_bytes());
  if (plan.ok() && Value(plane_->rank()) == 0) {
    host_->out() << plan->Describe() << (channels_.note.empty() ? "" : absl::StrCat("  ", channels_.note, "\n"))
                 << std::flush;
  }
  return plan;
}

absl::StatusOr<std::vector<int>> NodeSetUp::ClaimCpus() {
  std::vector<int> allowed = host_->allowed_cpus();
  const std::size_t executors = options_->cluster.executors;
  if (nodes_on_host_ * executors > allowed.size()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(nodes_on_host_ * executors, " executors on this host may run on ", allowed.size()));
  }
  if (device_node_.has_value()) {
    allowed = numa_.NearestFirst(std::move(allowed), *device_node_);
  }
  // Nodes that have processors in the same order begin with shares of their own, so that they do not take each other's:
  // claims do not tell them apart in network namespaces of their own.
  std::ranges::rotate(allowed, allowed.begin() + static_cast<std::ptrdiff_t>(nodes_before_ * executors));
  return host_->ClaimCpus(allowed, executors);
}

absl::StatusOr<std::vector<int>> NodeSetUp::ChooseCpus() {
  absl::StatusOr<std::vector<int>> cpus = ClaimCpus();
  const std::string found = cpus.ok() ? numa_.Describe(*cpus) : "";
  // An obstacle, or the processors behind an empty line.
  const absl::StatusOr<std::vector<std::string>> all =
      plane_->AllGather("processors", cpus.ok() ? absl::StrCat("\n", found) : std::string(cpus.status().message()));
  if (!all.ok()) {
    return all.status();
  }
  const auto& members = plane_->members();
  const std::size_t own = Value(plane_->rank());
  std::string obstacle;
  for (std::size_t node = 0; node < members.size(); ++node) {
    const std::string of_host = ObstacleOn(members[node].host_id, members, *all, node);
    parts_->processors.push_back(of_host.empty() ? (*all)[node].substr(1) : "");
    obstacle = node == own ? of_host : obstacle;
  }
  if (!obstacle.empty()) {
    host_->ReleaseCpus();
    cpus = std::vector<int>();
  }
  if (own == 0) {
    const std::string device =
        device_node_.has_value() ? absl::StrCat("; the device is at NUMA node ", *device_node_) : "";
    host_->out() << "processors: "
                 << (obstacle.empty() ? absl::StrCat("node 0's executors are pinned to ", found, device)
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
                        .roles = options_->cluster.roles(),
                        .fold = {.records_per_saved = options_->cluster.nodes > 1 ? 4U : 2U},
                        .thresholds = {},
                        .state_limit_bytes = plan.state_bytes_per_executor,
                        .state_prefault_bytes = options_->state.prefault_bytes,
                        .clock = clock_,
                        .scheduler = {},
                        .claims = claims_};
}

absl::Status NodeSetUp::ExchangeChannels(const Watch& watch) {
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
  return parts_->run->Connect(all, watch);
}

absl::Status NodeSetUp::AwaitConnections(const Watch& watch) {
  const absl::Duration join_timeout = options_->cluster.join_timeout;
  const auto connecting = [&] { return parts_->run->PollConnecting(watch); };
  const PeerWait connection{.what = "queue pair to",
                            .time = absl::StrCat(absl::FormatDuration(join_timeout), " (--join-timeout)"),
                            .deadline_ns = DeadlineIn(join_timeout + kConnectPatience),
                            .remedy = rdma::kOneNetwork};
  if (absl::Status status = AwaitPeers(connection, connecting, watch); !status.ok()) {
    return status;
  }
  // An end of another node may still fail, and connect again to one of this node.
  plane_->WatchAlso([this] { return parts_->run->PollConnecting(GoOn).status(); });
  absl::Status connected = plane_->AllGather("connected", "").status();
  plane_->WatchAlso(GoOn);
  if (connected.ok()) {
    connected = AwaitPeers(connection, connecting, watch);
  }
  if (!connected.ok()) {
    return connected;
  }
  const auto probing = [&] { return parts_->run->PollProbes(watch); };
  return AwaitPeers(
      {.what = "confirmed message of full size to",
       .time = absl::FormatDuration(kProbePatience),
       .deadline_ns = DeadlineIn(kProbePatience),
       .remedy = "an interface or switch on the way may have a smaller MTU than the devices: give all the "
                 "same MTU (ip link show; ping -M do -s SIZE)"},
      probing, watch);
}

std::int64_t NodeSetUp::DeadlineIn(absl::Duration time) const {
  return clock_->NowNanos() + absl::ToInt64Nanoseconds(time);
}

absl::Status NodeSetUp::AwaitPeers(const PeerWait& wait, PeerPoll poll, const Watch& watch) {
  rdma::Reminder reminder(clock_->NowNanos());
  while (true) {
    const absl::StatusOr<std::optional<NodeId>> missing = poll();
    if (!missing.ok()) {
      return missing.status();
    }
    if (!missing->has_value()) {
      return absl::OkStatus();
    }
    const std::int64_t now_ns = clock_->NowNanos();
    if (now_ns >= wait.deadline_ns) {
      const auto& device = parts_->run->executors().front()->mesh().options().device;
      return absl::DeadlineExceededError(absl::StrCat(
          "this node has no ", wait.what, " node ", Value(**missing), " after ", wait.time, LastFailure(**missing),
          device == nullptr ? "" : absl::StrCat("; this node is at ", device->info().Describe()), "; ", wait.remedy));
    }
    if (absl::Status status = watch(); !status.ok()) {
      return status;
    }
    if (reminder.Due(now_ns)) {
      host_->Tell(absl::StrCat("waits for a ", wait.what, " ", Describe(**missing), ", for at most ", wait.time,
                               LastFailure(**missing)));
    }
    host_->Sleep(kConnectPollInterval);
  }
}

std::string NodeSetUp::Describe(NodeId node) const {
  const std::string name = rdma::NodeName(plane_->members()[Value(node)]);
  const std::vector<std::string>& devices = parts_->devices;
  return devices.empty() ? name : absl::StrCat(name, " at ", devices[Value(node)]);
}

std::string NodeSetUp::LastFailure(NodeId node) const {
  const auto& device = parts_->run->executors().front()->mesh().options().device;
  const std::string reason = device == nullptr ? "" : device->connect_failures().LastOf(node);
  return reason.empty() ? "" : absl::StrCat("; the last attempt failed: ", reason);
}

}  // namespace glaive::engine
