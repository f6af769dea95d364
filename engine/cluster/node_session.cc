#include "engine/cluster/node_session.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "engine/cluster/progress_line.h"
#include "engine/cluster/protocol_error.h"
#include "engine/cluster/standard_streams.h"
#include "engine/cluster/transport_plan.h"
#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

/// An executor that sees a peer go may be faster than the control plane, which knows better who was lost, and why.
constexpr absl::Duration kReasonPatience = absl::Milliseconds(300);
constexpr absl::Duration kReasonPollInterval = absl::Milliseconds(5);

/// Executors, or files, that a message names.
constexpr std::size_t kMostNames = 8;

}  // namespace

NodeSession::NodeSession(QueryProgram& program, const EngineOptions& options, GivenFlags flags,
                         rdma::ControlPlane& plane, const RunEnvironment& environment, Host& host)
    : program_(&program),
      options_(&options),
      flags_(std::move(flags)),
      plane_(&plane),
      environment_(environment),
      host_(&host) {}

absl::Status NodeSession::Run(const Watch& interrupted) {
  const Watch watch = [&]() -> absl::Status {
    if (const std::optional<absl::Status> failure = plane_->PollFailure()) {
      return *failure;
    }
    return interrupted();
  };
  absl::Status status = CatchExhaustion([&] {
    absl::Status passed = files_.Open(*options_, flags_.files, *plane_);
    if (passed.ok()) {
      passed =
          NodeSetUp(*program_, *options_, *plane_, *environment_.clock, *host_, files_.claims(), parts_).Run(watch);
    }
    if (passed.ok()) {
      passed = Execute(watch);
    }
    return passed.ok() ? Conclude(watch, interrupted) : passed;
  });
  const std::optional<absl::Status> lost = status.ok() ? std::nullopt : EndFailed(status);
  if (lost.has_value() || (absl::IsUnavailable(status) && !absl::StrContains(status.message(), "seen by executor"))) {
    return AddPosition(lost.value_or(status));
  }
  return status;
}

absl::Status NodeSession::AddPublished(const absl::Status& status) const {
  if (status.ok() || results_are_final()) {
    return status;
  }
  std::vector<std::string> files;
  for (const auto& [name, complete] : files_.published()) {
    files.push_back(Describe(name, complete));
  }
  if (files.size() > kMostNames) {
    const std::size_t others = files.size() - kMostNames;
    files.resize(kMostNames);
    files.push_back(absl::StrCat(others, " more, see the .progress files"));
  }
  return files.empty()
             ? status
             : absl::Status(status.code(), absl::StrCat(status.message(), "; published: ", absl::StrJoin(files, ", ")));
}

std::optional<absl::Status> NodeSession::EndFailed(const absl::Status& failure) {
  (void)GiveUp(/*while_naming=*/true);
  (void)Move(Results::kCommitting, Results::kGivenUp);
  std::optional<absl::Status> lost;
  (void)CatchExhaustion([&] {
    if (absl::IsUnavailable(failure) || absl::IsNotFound(failure)) {  // a process that is gone has no shared memory
      lost = AwaitReason();
    }
    if (!results_are_final()) {
      plane_->Abort(lost.value_or(failure));
    }
    return absl::OkStatus();
  });
  Retract();  // behind Abort: if the disk does not answer, the control plane's thread ends the process
  return lost;
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
  if (parts_.run == nullptr) {
    return {status.code(), absl::StrCat(status.message(), "; this node was setting up")};
  }
  std::vector<std::string> positions;
  for (const auto& executor : parts_.run->executors()) {
    if (positions.size() == kMostNames) {
      positions.emplace_back("...");
      break;
    }
    positions.push_back(absl::StrCat("executor ", Value(executor->id()), " in epoch ",
                                     executor->live().epochs.load(std::memory_order_relaxed) + 1));
  }
  return {status.code(), absl::StrCat(status.message(), "; this node had ", absl::StrJoin(positions, ", "))};
}

absl::Status NodeSession::Barrier(const char* phase) { return plane_->AllGather(phase, "").status(); }

// ---- run ----

absl::Status NodeSession::Execute(const Watch& watch) {
  if (absl::Status status = Barrier("ready"); !status.ok()) {
    return status;
  }
  ProgressLine progress(is_coordinator() && ShowsProgress(options_->output.progress), *environment_.clock);
  absl::Status status = parts_.run->Run([&]() -> absl::Status {
    progress.Update(parts_.run->executors());
    return watch();
  });
  return status;
}

// ---- conclusion ----

absl::Status NodeSession::Conclude(const Watch& watch, const Watch& interrupted) {
  if (absl::Status status = GatherMetrics(); !status.ok()) {
    return status;
  }
  absl::Status verdict = options_->output.verify ? Verify(watch) : absl::OkStatus();
  if (absl::Status status = verdict.ok() ? CommitResults(interrupted) : absl::OkStatus(); !status.ok()) {
    return status;
  }
  if (!is_coordinator() || !(verdict.ok() || absl::IsDataLoss(verdict))) {
    return verdict;
  }
  // The other nodes end meanwhile, which is no loss: only the user ends the joining of parts.
  const Watch by_user = [&interrupted] {
    const absl::Status seen = interrupted();
    return absl::IsCancelled(seen) ? seen : absl::OkStatus();
  };
  std::vector<FileReport> files;
  absl::Status status =
      verdict.ok() ? files_.Join(AllParts(), options_->cluster.executor_count(), files, by_user) : verdict;
  status.Update(Report(std::move(files)));
  if (!verdict.ok() || status.ok()) {
    return status;
  }
  return {status.code(), absl::StrCat("the results are complete, but ", std::string(status.message()))};
}

absl::Status NodeSession::GatherMetrics() {
  NodeMetrics mine;
  mine.node = Value(plane_->rank());
  mine.peak_memory_bytes = PeakMemoryBytes();
  for (const auto& executor : parts_.run->executors()) {
    mine.executors.push_back(executor->metrics());
    executor->AddParts(mine.parts);
    mine.ring_bytes += executor->mesh().ring_bytes();
    for (const rdma::RegionReport& region : executor->mesh().regions()) {
      AddRegion(mine.regions, {.what = region.what, .bytes = region.size_bytes, .pages = {rdma::Name(region.pages)}});
    }
    for (const rdma::PageRegion& region : executor->memory().regions()) {
      AddRegion(mine.regions, {.what = "state", .bytes = region.size_bytes(), .pages = {rdma::Name(region.pages())}});
    }
  }
  plane_->WatchAlso([this] { return parts_.run->PollChannels(); });  // others may wait for the last writes of this node
  const absl::StatusOr<std::vector<std::string>> nodes = plane_->AllGather("metrics", EncodeNodeMetrics(mine));
  plane_->WatchAlso(GoOn);
  if (!nodes.ok()) {
    return nodes.status();
  }
  for (std::uint32_t rank = 0; rank < nodes->size(); ++rank) {
    absl::StatusOr<NodeMetrics> node = DecodeNodeMetrics((*nodes)[rank]);
    if (!node.ok()) {
      return ProtocolError(rank, node.status().message());
    }
    const bool is_own =
        node->node == rank && std::ranges::all_of(node->executors, [&](const ExecutorMetrics& executor) {
          return options_->cluster.NodeOf(executor.executor) == rank;
        });
    if (!is_own) {
      return ProtocolError(rank, "its counters are those of another node");
    }
    const bool has_own_parts = std::ranges::all_of(node->parts, [&](const ResultPart& part) {
      return options_->cluster.NodeOf(part.executor) == rank && (part.inside.empty() || LeadsInside(part.inside)) &&
             std::ranges::any_of(mine.parts, [&](const ResultPart& own) {
               return own.output == part.output && own.inside.empty() == part.inside.empty();
             });
    });
    if (!has_own_parts) {
      return ProtocolError(rank, "its files are those of another node, or of another query");
    }
    nodes_.push_back(*std::move(node));
  }
  return absl::OkStatus();
}

absl::Status NodeSession::Verify(const Watch& watch) {
  const Roles roles = options_->cluster.roles();
  RunFacts facts{.roles = roles,
                 .records_read = std::vector<std::uint64_t>(roles.reader_count()),
                 .executors = {},
                 .key_hash = state::KeyHash(plane_->run_token())};
  for (const NodeMetrics& node : nodes_) {
    for (const ExecutorMetrics& executor : node.executors) {
      if (const ExecutorId id{executor.executor}; roles.Reads(id)) {
        facts.records_read[roles.ReaderOf(id)] = executor.records;
      }
    }
  }
  for (const auto& executor : parts_.run->executors()) {
    facts.executors.push_back(executor->id());
  }
  const absl::StatusOr<std::string> checked = program_->check()->CheckNode(facts, watch);
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
    verdict = program_->check()->CheckRun(findings);
  }
  verification_ = verdict.ok() ? Verification::kPassed : Verification::kFailed;
  return verdict;
}

absl::Status NodeSession::CommitResults(const Watch& interrupted) {
  absl::Status status = Barrier("finished");                        // no leader has failed
  status.Update(plane_->PollFailure().value_or(absl::OkStatus()));  // nor has a node since
  if (!status.ok()) {
    return status;
  }
  // What is published stays: these parts have their names already, and are complete.
  const bool all_or_none = !options_->output.publishes_while_running();
  for (const ResultPart& part : all_or_none ? AllParts() : std::vector<ResultPart>()) {
    named_parts_.push_back({part, FollowLinks(PathOf(part, options_->cluster.executor_count()))});
  }
  const auto why_given_up = [&] {
    absl::Status why = plane_->PollFailure().value_or(absl::OkStatus());
    why.Update(interrupted());
    why.Update(absl::AbortedError("ended at once"));
    return why;
  };
  if (!Move(Results::kOpen, Results::kNaming)) {
    return why_given_up();
  }
  status = parts_.run->Commit([&] { return results_ == Results::kNaming ? absl::OkStatus() : why_given_up(); });
  if (!status.ok()) {
    return status;  // some files may have their names, as when an exception ends Commit: Run gives the results up
  }
  if (!Move(Results::kNaming, Results::kCommitting)) {
    return why_given_up();
  }
  status = plane_->AllAgree("committed");
  if (status.ok()) {
    results_ = Results::kFinal;
  }
  return status;
}

void NodeSession::EndExecutors() {
  parts_.run.reset();
  parts_.query.reset();
  files_.claims().Clear();
}

NodeSession::Results NodeSession::GiveUp(bool while_naming) {
  if (!Move(Results::kOpen, Results::kDropped) && while_naming) {
    (void)Move(Results::kNaming, Results::kGivenUp);
  }
  return results_;
}

void NodeSession::Retract() {
  if (results_ != Results::kGivenUp) {
    return;
  }
  for (const NamedPart& named : named_parts_) {  // also those of a node that was lost
    host_->RemovePart(named.part, named.path);
  }
}

std::vector<ResultPart> NodeSession::AllParts() const {
  std::vector<ResultPart> parts;
  for (const NodeMetrics& node : nodes_) {
    parts.insert(parts.end(), node.parts.begin(), node.parts.end());
  }
  return parts;
}

std::string NodeSession::TransportName() const {
  std::set<std::string> kinds;
  const rdma::MeshOptions& mesh = parts_.run->executors().front()->mesh().options();
  for (std::uint32_t a = 0; a < options_->cluster.executor_count(); ++a) {
    for (std::uint32_t b = a + 1; b < options_->cluster.executor_count(); ++b) {
      kinds.insert(rdma::Name(mesh.KindBetween(ExecutorId{a}, ExecutorId{b})));
    }
  }
  return kinds.empty() ? "none" : absl::StrJoin(kinds, "+");
}

absl::Status NodeSession::Report(std::vector<FileReport> files) {
  RunReport report = BuildRunReport(nodes_, {.one_host = plane_->one_host()});
  report.program = program_->name();
  report.machine = DescribeMachine();
  report.transport = TransportName();
  report.devices = parts_.devices;
  report.processors = parts_.processors;
  report.settings = flags_.settings;
  report.nodes = options_->cluster.nodes;
  report.executors_per_node = options_->cluster.executors;
  report.verification = verification_;
  report.files = std::move(files);
  const std::string placement = DescribePlacementWaits(report.total.placement_waits);
  if (!placement.empty()) {
    host_->Tell(placement);
  }
  absl::Status status = PrintReport(report);
  status.Update(files_.WriteReport(report));
  return status;
}

absl::Status NodeSession::PrintReport(const RunReport& report) {
  std::ostream& out = host_->out();
  out.clear();  // of what failed before, the table fails again
  PrintTable(report, out);
  return FlushStandardOutput(out);
}

}  // namespace glaive::engine
