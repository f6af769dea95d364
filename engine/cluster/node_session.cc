#include "engine/cluster/node_session.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "engine/cluster/progress_line.h"
#include "engine/cluster/transport_plan.h"
#include "engine/sink/part_file.h"
#include "rdma/base/bytes.h"
#include "state/store/fragment_geometry.h"

namespace glaive::engine {
namespace {

/// Windows of event time that a flow may lead by unless --max-lead says otherwise.
constexpr std::int64_t kDefaultLeadWindows = 4;

constexpr absl::Duration kConnectPollInterval = absl::Milliseconds(1);

/// An executor that sees a peer go may be faster than the control plane, which knows better who was lost, and why.
constexpr absl::Duration kReasonPatience = absl::Milliseconds(300);
constexpr absl::Duration kReasonPollInterval = absl::Milliseconds(5);

/// Executors that a message names.
constexpr std::size_t kMaxPositions = 8;

/// What a node told the others makes no sense.
absl::Status SaidBy(std::uint32_t rank, absl::string_view what) {
  return absl::InternalError(absl::StrCat("node ", rank, " broke the protocol: ", what));
}

}  // namespace

NodeSession::NodeSession(QueryProgram& program, const EngineOptions& options,
                         std::map<std::string, std::string> settings, rdma::ControlPlane& plane,
                         const RunEnvironment& environment, Host& host)
    : program_(&program),
      options_(&options),
      settings_(std::move(settings)),
      plane_(&plane),
      environment_(environment),
      host_(&host) {}

absl::Status NodeSession::Run(const NodeRun::Watch& interrupted) {
  const NodeRun::Watch watch = [&]() -> absl::Status {
    if (const std::optional<absl::Status> failure = plane_->PollFailure()) {
      return *failure;
    }
    return interrupted();
  };
  absl::Status status = SetUp(watch);
  if (status.ok()) {
    status = Execute(watch);
  }
  if (status.ok()) {
    status = Conclude(watch);
  }
  std::optional<absl::Status> lost;
  if (absl::IsUnavailable(status) || absl::IsNotFound(status)) {  // a process that is gone has no shared memory
    lost = AwaitReason();
  }
  if (!status.ok()) {
    plane_->Abort(lost.value_or(status));
  }
  if (lost.has_value() || (absl::IsUnavailable(status) && !absl::StrContains(status.message(), "seen by executor"))) {
    return AddPosition(lost.value_or(status));
  }
  return status;
}

std::optional<absl::Status> NodeSession::AwaitReason() {
  const std::int64_t deadline_ns = environment_.clock->NowNanos() + absl::ToInt64Nanoseconds(kReasonPatience);
  while (environment_.clock->NowNanos() < deadline_ns) {
    if (std::optional<absl::Status> reason = plane_->PollFailure()) {
      return reason;
    }
    host_->Sleep(kReasonPollInterval);
  }
  return std::nullopt;
}

absl::Status NodeSession::AddPosition(const absl::Status& status) const {
  if (run_ == nullptr) {
    return {status.code(), absl::StrCat(status.message(), "; this node was setting up")};
  }
  std::vector<std::string> positions;
  for (const auto& executor : run_->executors()) {
    if (positions.size() == kMaxPositions) {
      positions.emplace_back("...");
      break;
    }
    positions.push_back(absl::StrCat("executor ", Value(executor->id()), " in epoch ",
                                     executor->live().epochs.load(std::memory_order_relaxed) + 1));
  }
  return {status.code(), absl::StrCat(status.message(), "; this node had ", absl::StrJoin(positions, ", "))};
}

absl::Status NodeSession::Barrier(const char* phase) { return plane_->AllGather(phase, "").status(); }

// ---- set-up ----

absl::StatusOr<rdma::MeshOptions> NodeSession::PlanMesh() {
  const absl::StatusOr<TransportPlan> transports = PlanTransports(options_->cluster.transport, plane_->members());
  if (!transports.ok()) {
    return transports.status();
  }
  rdma::MeshOptions mesh;
  mesh.self = ExecutorId{Value(plane_->rank()) * options_->cluster.executors};
  mesh.executors_per_node = options_->cluster.executors;
  mesh.executor_count = executor_count();
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
    devices_ = *std::move(devices);
  }
  if (is_coordinator()) {
    host_->out() << "transport " << transports->reason
                 << (mesh.device == nullptr ? "" : absl::StrCat("; queue pairs a node: ", mesh.VerbsQueuePairs()))
                 << "\n"
                 << DescribeDevices(devices_);
  }
  return mesh;
}

absl::StatusOr<MemoryPlan> NodeSession::PlanNodeMemory(const rdma::MeshOptions& mesh) const {
  const absl::StatusOr<std::vector<state::FragmentGeometry>> fragments = state::FragmentGeometry::PlanAll(
      executor_count(), mesh.channel.slot_bytes, query_->delta_entry_bytes(), options_->state.fragment_bytes);
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
      .source_bytes = query_->source_memory_bytes(),
      .segment_bytes = std::uint64_t{state::FragmentGeometry::PoolSegments(*fragments)} * mesh.channel.slot_bytes,
      .ring_bytes = channels->node_ring_bytes / options_->cluster.executors,
      .verify_bytes = options_->output.verify ? program_->verify_memory_bytes(executor_count()) : 0,
      .limit_bytes = options_->state.memory_limit_bytes};
  absl::StatusOr<MemoryPlan> plan = PlanMemory(needs, host_->available_memory_bytes());
  if (plan.ok() && is_coordinator()) {
    host_->out() << plan->Describe() << (channels->note.empty() ? "" : absl::StrCat("  ", channels->note, "\n"))
                 << std::flush;
  }
  return plan;
}

std::vector<int> NodeSession::ChooseCpus() const {
  const std::vector<int> allowed = host_->allowed_cpus();
  const std::size_t executors = options_->cluster.executors;
  const std::size_t first = rank_on_host_ * executors;
  if (allowed.size() < nodes_on_host_ * executors) {
    return {};
  }
  return {allowed.begin() + static_cast<std::ptrdiff_t>(first),
          allowed.begin() + static_cast<std::ptrdiff_t>(first + executors)};
}

ExecutorConfig NodeSession::ConfigureExecutors(const rdma::MeshOptions& mesh, const MemoryPlan& plan) const {
  const EpochOptions& epoch = options_->epoch;
  const std::int64_t lead_ms = absl::ToInt64Milliseconds(epoch.max_lead);
  return ExecutorConfig{.mesh = mesh,
                        .epoch_policy = {.epoch_bytes = epoch.epoch_bytes,
                                         .epoch_min_bytes = epoch.epoch_min_bytes,
                                         .epoch_interval_ns = absl::ToInt64Nanoseconds(epoch.epoch_interval)},
                        .max_lead_ms = lead_ms == 0 ? kDefaultLeadWindows * query_->window_ms() : lead_ms,
                        .idle_timeout_ns = absl::ToInt64Nanoseconds(epoch.idle_timeout),
                        .fragment_bytes = options_->state.fragment_bytes,
                        .state_limit_bytes = plan.state_bytes_per_executor,
                        .clock = environment_.clock,
                        .scheduler = {}};
}

absl::Status NodeSession::SetUp(const NodeRun::Watch& watch) {
  absl::StatusOr<std::unique_ptr<Query>> query = program_->Build(*options_, executor_count());
  if (!query.ok()) {
    return query.status();
  }
  query_ = *std::move(query);
  const absl::StatusOr<rdma::MeshOptions> mesh = PlanMesh();
  if (!mesh.ok()) {
    return mesh.status();
  }
  const absl::StatusOr<MemoryPlan> plan = PlanNodeMemory(*mesh);
  if (!plan.ok()) {
    return plan.status();
  }
  absl::StatusOr<std::unique_ptr<NodeRun>> run = NodeRun::Create(
      {.executor = ConfigureExecutors(*mesh, *plan), .node = plane_->rank(), .cpus = ChooseCpus(), .host = host_},
      *query_);
  if (!run.ok()) {
    return run.status();
  }
  run_ = *std::move(run);
  if (absl::Status status = ExchangeChannels(); !status.ok()) {
    return status;
  }
  if (absl::Status status = AwaitConnections(watch); !status.ok()) {
    return status;
  }
  return run_->Open(watch);
}

absl::Status NodeSession::ExchangeChannels() {
  std::vector<std::string> mine;
  for (const rdma::MeshDescriptor& descriptor : run_->descriptors()) {
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
        return SaidBy(rank, descriptor.status().message());
      }
      if (!IsOfNode(rank, Value(descriptor->executor))) {
        return SaidBy(rank, absl::StrCat("it describes executor ", Value(descriptor->executor), " of another node"));
      }
      all.push_back(*std::move(descriptor));
    }
  }
  return run_->Connect(all);
}

absl::Status NodeSession::AwaitConnections(const NodeRun::Watch& watch) {
  const std::int64_t deadline_ns =
      environment_.clock->NowNanos() + absl::ToInt64Nanoseconds(options_->cluster.join_timeout);
  while (true) {
    const absl::StatusOr<std::optional<NodeId>> missing = run_->PollConnecting();
    if (!missing.ok()) {
      return missing.status();
    }
    if (!missing->has_value()) {
      return absl::OkStatus();
    }
    if (environment_.clock->NowNanos() >= deadline_ns) {
      const auto& device = run_->executors().front()->mesh().options().device;
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
    host_->Sleep(kConnectPollInterval);
  }
}

// ---- run ----

absl::Status NodeSession::Execute(const NodeRun::Watch& watch) {
  if (absl::Status status = Barrier("ready"); !status.ok()) {
    return status;
  }
  ProgressLine progress(is_coordinator() && ShowsProgress(options_->output.progress), *environment_.clock);
  absl::Status status = run_->Run([&]() -> absl::Status {
    progress.Update(run_->executors());
    return watch();
  });
  return status;
}

// ---- conclusion ----

absl::Status NodeSession::Conclude(const NodeRun::Watch& watch) {
  if (absl::Status status = GatherMetrics(); !status.ok()) {
    return status;
  }
  absl::Status verdict = options_->output.verify ? Verify(watch) : absl::OkStatus();
  if (verdict.ok()) {
    if (absl::Status status = CommitResults(); !status.ok()) {
      return status;
    }
  }
  if (is_coordinator() && (verdict.ok() || absl::IsDataLoss(verdict))) {
    verdict.Update(Report());
  }
  return verdict;
}

absl::Status NodeSession::GatherMetrics() {
  NodeMetrics mine;
  mine.node = Value(plane_->rank());
  mine.peak_memory_bytes = PeakMemoryBytes();
  for (const auto& executor : run_->executors()) {
    mine.executors.push_back(executor->metrics());
    mine.ring_bytes += executor->mesh().ring_bytes();
    for (const rdma::RegionReport& region : executor->mesh().regions()) {
      AddRegion(mine.regions, {.what = region.what, .bytes = region.size_bytes, .pages = {rdma::Name(region.pages)}});
    }
    for (const rdma::PageRegion& region : executor->memory().regions()) {
      AddRegion(mine.regions, {.what = "state", .bytes = region.size_bytes(), .pages = {rdma::Name(region.pages())}});
    }
  }
  plane_->WatchAlso([this] { return run_->PollFailure(); });  // others may wait for the last writes of this node
  const absl::StatusOr<std::vector<std::string>> nodes = plane_->AllGather("metrics", EncodeNodeMetrics(mine));
  plane_->WatchAlso(nullptr);
  if (!nodes.ok()) {
    return nodes.status();
  }
  for (std::uint32_t rank = 0; rank < nodes->size(); ++rank) {
    absl::StatusOr<NodeMetrics> node = DecodeNodeMetrics((*nodes)[rank]);
    if (!node.ok()) {
      return SaidBy(rank, node.status().message());
    }
    const bool is_own =
        node->node == rank && std::ranges::all_of(node->executors, [&](const ExecutorMetrics& executor) {
          return IsOfNode(rank, executor.executor);
        });
    if (!is_own) {
      return SaidBy(rank, "its counters are those of another node");
    }
    nodes_.push_back(*std::move(node));
  }
  return absl::OkStatus();
}

absl::Status NodeSession::Verify(const NodeRun::Watch& watch) {
  RunFacts facts{.records_read = std::vector<std::uint64_t>(executor_count()), .leaders = {}};
  for (const NodeMetrics& node : nodes_) {
    for (const ExecutorMetrics& executor : node.executors) {
      facts.records_read[executor.executor] = executor.records;
    }
  }
  for (const auto& executor : run_->executors()) {
    facts.leaders.push_back(executor->id());
  }
  const absl::StatusOr<std::string> checked = program_->CheckNode(facts, watch);
  if (!checked.ok() && !absl::IsDataLoss(checked.status())) {  // it came to no verdict
    return checked.status();
  }
  // Everybody learns of everybody's verdict: the first letter says which, so that no node waits for one that failed.
  const absl::StatusOr<std::vector<std::string>> nodes =
      plane_->AllGather("verified", checked.ok() ? absl::StrCat("+", *checked)
                                                 : absl::StrCat("-", std::string(checked.status().message())));
  if (!nodes.ok()) {
    return nodes.status();
  }
  std::vector<std::string> findings;
  absl::Status verdict;
  for (std::size_t rank = 0; rank < nodes->size(); ++rank) {
    const std::string& text = (*nodes)[rank];
    if (text.empty() || text.front() != '+') {
      verdict.Update(absl::DataLossError(
          absl::StrCat("wrong result at rank ", rank, ": ", text.substr(std::min<std::size_t>(1, text.size())))));
    } else {
      findings.push_back(text.substr(1));
    }
  }
  if (verdict.ok()) {
    verdict = program_->CheckRun(findings);
  }
  verification_ = verdict.ok() ? Verification::kPassed : Verification::kFailed;
  return verdict;
}

absl::Status NodeSession::CommitResults() {
  absl::Status status = Barrier("finished");                        // no leader has failed
  status.Update(plane_->PollFailure().value_or(absl::OkStatus()));  // nor has a node since
  if (!status.ok()) {
    return status;
  }
  results_ = Results::kCommitting;
  status = run_->Commit();
  if (status.ok()) {
    status = Barrier("committed");
  }
  if (!status.ok()) {  // some nodes have committed, others have not
    run_->Retract();
    return status;
  }
  results_ = Results::kFinal;
  const bool joins = is_coordinator() && options_->output.join_output;
  return joins ? JoinParts(options_->output.output, executor_count()) : absl::OkStatus();
}

bool NodeSession::GiveUpResults() {
  const Results results = results_;
  if (results == Results::kCommitting) {
    run_->Retract();
  }
  return results != Results::kFinal;
}

std::string NodeSession::TransportName() const {
  std::set<std::string> kinds;
  const rdma::MeshOptions& mesh = run_->executors().front()->mesh().options();
  for (std::uint32_t a = 0; a < executor_count(); ++a) {
    for (std::uint32_t b = a + 1; b < executor_count(); ++b) {
      kinds.insert(rdma::Name(mesh.KindBetween(ExecutorId{a}, ExecutorId{b})));
    }
  }
  return kinds.empty() ? "none" : absl::StrJoin(kinds, "+");
}

absl::Status NodeSession::Report() {
  RunReport report = BuildRunReport(nodes_, {.one_host = plane_->one_host()});
  report.program = program_->name();
  report.machine = DescribeMachine();
  report.transport = TransportName();
  report.devices = devices_;
  report.settings = settings_;
  report.nodes = options_->cluster.nodes;
  report.executors_per_node = options_->cluster.executors;
  report.verification = verification_;
  PrintTable(report, host_->out());
  host_->out().flush();
  return options_->output.json.empty() ? absl::OkStatus() : WriteJsonFile(report, options_->output.json);
}

}  // namespace glaive::engine
