#include "tests/sim/simulation.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/sim/control_plane.h"
#include "tests/sim/delta_ledger.h"
#include "tests/sim/invariants.h"
#include "tests/sim/late_bytes.h"
#include "tests/sim/network.h"
#include "tests/sim/node.h"
#include "tests/sim/sim_files.h"
#include "tests/sim/timed_source.h"
#include "tests/sim/verdict.h"

namespace glaive::sim {
namespace {

/// A run in which nothing happens for so long never will.
constexpr std::int64_t kNoProgressNs = 20'000'000'000;
constexpr std::uint64_t kMostSteps = 40'000'000;
constexpr std::int64_t kLeastLeapNs = 2'000;
constexpr std::int64_t kMostLeapNs = 2'000'000;
/// So short that two of them in a row exceed no retries.
constexpr std::int64_t kMostShortPartitionNs = kRetriesNs * 2 / 5;

NetworkOptions OptionsOf(const Scenario& scenario) {
  return {.latency_ns = scenario.latency_us * 1'000,
          .jitter_ns = scenario.jitter_us * 1'000,
          .completion_ns = scenario.completion_us * 1'000,
          .piece_bytes = static_cast<std::size_t>(scenario.piece_bytes),
          .any_order = scenario.any_order == 1 && scenario.late_reads == 0,
          .signaling_is_free = scenario.free_signals == 1,
          .completion_frees_memory = scenario.late_reads == 0,
          .latest_count_ns = scenario.late_credits == 1 ? kLatestCountNs : 0,
          .full_queue = static_cast<double>(scenario.full_queue_percent) / 100,
          .retries_ns = kRetriesNs};
}

Input InputOf(const Scenario& scenario, const CatalogueEntry& entry) {
  Input input = MakeInput(scenario, entry.sources, entry.counts_records || entry.by_processing_time);
  return scenario.file_sources == 1 ? AsLinesAreRead(input, scenario.batch) : input;
}

class Cluster final : NetworkObserver, StepListener, SinkListener, SourceListener {
 public:
  Cluster(const Scenario& scenario, const CatalogueEntry& entry, std::ostream* trace)
      : scenario_(scenario),
        faults_(scenario.faults()),
        entry_(&entry),
        trace_(time_, trace),
        random_(scenario.seed, Purpose::kSchedule),
        input_(InputOf(scenario, entry)),
        noted_(WithoutBatches(input_)),
        truth_(static_cast<std::size_t>(entry.sources), scenario.roles(), time_, scenario.idle_timeout_ns(),
               scenario.silent_source == 0 || !entry.counts_records),
        files_(FilesOf(scenario, input_)),
        network_(OptionsOf(scenario), time_, Random(scenario.seed, Purpose::kNetwork), *this),
        wire_(static_cast<std::uint32_t>(scenario.nodes), time_, Random(scenario.seed, Purpose::kControl)),
        invariants_(scenario_, entry, truth_),
        ledger_({.executors = static_cast<std::uint32_t>(scenario.executor_count()),
                 .first_input = scenario.roles().feeds() ? static_cast<std::uint32_t>(entry.sources) : 0,
                 .inputs_are_sources = entry.inputs_are_sources(),
                 .unites_sources = entry.unites_sources,
                 .lateness_ms = entry.rows_wait_for == RowsWaitFor::kNothing ? 0 : scenario.lateness_ms},
                truth_) {
    const World world{.scenario = &scenario_,
                      .entry = entry_,
                      .input = &input_,
                      .noted = &noted_,
                      .files = files_.get(),
                      .truth = &truth_,
                      .source_listener = this,
                      .sink_listener = this,
                      .step_listener = this,
                      .time = &time_,
                      .network = &network_,
                      .wire = &wire_,
                      .ledger = &ledger_,
                      .trace = &trace_};
    const auto nodes = static_cast<std::uint32_t>(scenario.nodes);
    facts_.nodes.resize(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) nodes_.push_back(std::make_unique<SimNode>(world, NodeId{node}));
  }

  Outcome Run() {
    while (outcome_.problem.empty() && !AllEnded()) {
      ++outcome_.steps;
      if (!TakeStep()) {
        ++idle_steps_;
        if (idle_steps_ > 2 * (nodes_.size() + static_cast<std::size_t>(scenario_.executor_count()))) Leap();
      } else {
        idle_steps_ = 0;
        leap_ns_ = kLeastLeapNs;
      }
      BuryTheDead();
      CheckProgress();
    }
    Conclude();
    return outcome_;
  }

 private:
  // ---- what takes turns ----

  bool TakeStep() {
    Pass(random_.Between(20, 800));
    if (random_.Below(100) < static_cast<std::uint64_t>(scenario_.delivery_percent) && network_.Deliver()) return true;
    SimNode& node = *nodes_[random_.Below(nodes_.size())];
    if (!IsAwake(node)) return false;
    const auto executors = node.executors();
    if (executors.empty() || random_.Below(8) == 0) return node.RunMain();
    engine::Executor& executor = *executors[random_.Below(executors.size())];
    if (executor.done()) return executor.PollChannels() || node.RunMain();
    invariants_.BeforeRound(executor);
    const bool ran = executor.RunRound();
    if (!IsDead(node)) Require(invariants_.AfterRound(executor, [this](ExecutorId id) { return Find(id); }));
    Require(ledger_.broken());
    return ran;
  }

  void BetweenTurns() override {
    handed_on_ = 0;
    Pass(random_.Between(5, 200));
    if (random_.Below(200) < static_cast<std::uint64_t>(scenario_.delivery_percent)) network_.Deliver();
    if (scenario_.places_late_bytes()) PlaceLateBytes(network_, scenario_, Find(DrawExecutor(random_, scenario_)));
  }

  void Pass(std::int64_t ns) { time_.Advance(ns); }
  void Leap() {
    const std::int64_t due_ns = network_.NextDueNs();
    std::int64_t leap_ns = leap_ns_;
    if (due_ns > time_.now_ns()) leap_ns = std::min(leap_ns, due_ns - time_.now_ns());
    Pass(leap_ns);
    leap_ns_ = std::min(2 * leap_ns_, kMostLeapNs);
    idle_steps_ = 0;
  }

  engine::Executor* Find(ExecutorId id) {
    SimNode& node = *nodes_[Value(id) / static_cast<std::uint32_t>(scenario_.executors)];
    if (IsDead(node) || node.executors().empty()) return nullptr;
    return node.executors()[Value(id) % static_cast<std::uint32_t>(scenario_.executors)].get();
  }

  bool IsDead(const SimNode& node) const { return facts_.nodes[Value(node.id())].was_killed; }
  bool IsAwake(const SimNode& node) const {
    return !IsDead(node) && !node.ended().has_value() && stalled_until_ns_[Value(node.id())] <= time_.now_ns();
  }
  bool AllEnded() const {
    return std::ranges::all_of(nodes_, [&](const auto& node) { return IsDead(*node) || node->ended().has_value(); });
  }

  // Not in the middle of a turn of its own.
  void BuryTheDead() {
    for (const auto& node : nodes_) {
      const NodeFacts& facts = facts_.nodes[Value(node->id())];
      if (facts.was_killed && !is_buried_[Value(node->id())]) {
        is_buried_[Value(node->id())] = true;
        node->Die();
      }
    }
  }

  void CheckProgress() {
    if (progress_ != last_progress_) {
      last_progress_ = progress_;
      last_progress_ns_ = time_.now_ns();
    }
    if (outcome_.steps > kMostSteps) Require(absl::StrCat("no end after ", kMostSteps, " steps"));
    if (time_.now_ns() - last_progress_ns_ > kNoProgressNs) {
      std::vector<std::string> waiting;
      for (const auto& node : nodes_) {
        if (!IsDead(*node) && !node->ended().has_value()) waiting.push_back(absl::StrCat(Value(node->id())));
      }
      Require(absl::StrCat("no progress for ", kNoProgressNs / 1'000'000'000,
                           " s; nodes that go on: ", absl::StrJoin(waiting, ", ")));
    }
  }

  void Require(const std::optional<std::string>& broken) {
    if (broken.has_value() && outcome_.problem.empty()) outcome_.problem = *broken;
  }

  // ---- what is told of what happens ----

  void OnArrival(NodeId from, NodeId to, std::size_t arrived, std::size_t length) override {
    trace_.Add("write %d -> %d: %d of %d bytes", Value(from), Value(to), arrived, length);
    ++progress_;
    if (arrived == length) return;
    ++outcome_.torn_writes;
    AtStep(from, Step::kSending);
    AtStep(to, Step::kReceiving);
  }

  void OnViolation(const std::string& what) override { Require(what); }
  absl::Status OnBatch(std::size_t source, ExecutorId executor) override {
    Require(invariants_.AtBatch(source, executor));
    ++progress_;
    if (Strikes(FaultKind::kInputCut, executor)) files_->Cut(source, executor);
    if (Strikes(FaultKind::kInputDamaged, executor)) files_->Damage(source, executor);
    if (Strikes(FaultKind::kInputGone, executor)) files_->Discard(source, executor);
    return Injected(FaultKind::kSourceFails, executor);
  }
  absl::Status OnRow(ExecutorId executor, std::int64_t time_ms, RowKind kind) override {
    trace_.Add("executor %d: a row until %d ms", Value(executor), time_ms);
    if (kind == RowKind::kResult) {
      Require(invariants_.AtRow(time_ms));
      if (entry_->has_known_flows()) Require(ledger_.AtRow(executor, time_ms));
      outcome_.rows_before_the_end += truth_.SlowestMs(kBeginningMs) != kEndMs ? 1 : 0;
      outcome_.rows_past_idle_flows += truth_.IsPastAnIdleFlow(time_ms) ? 1 : 0;
    }
    if (kind == RowKind::kLateResult) {
      Require(invariants_.AtLateResult(time_ms));
      ++outcome_.late_results;
    }
    ++progress_;
    return Injected(FaultKind::kSinkFails, executor);
  }
  void OnHandedOn() override {
    constexpr std::int64_t kCallsPerRow = 2;  // of a query's function, at most
    if (++handed_on_ > kCallsPerRow * scenario_.rows_per_turn) {
      Require(absl::StrCat("a turn does not end after ", scenario_.rows_per_turn, " rows"));
    }
  }
  std::int64_t NowNs() const override { return time_.now_ns(); }
  std::int64_t BusyUntilNs(ExecutorId executor) const override {
    return time_.now_ns() + scenario_.sink_busy_ns(Value(executor));
  }
  void OnWaitForSink() override { ++outcome_.sink_waits; }
  bool RefusesFile(ExecutorId executor) override { return Strikes(FaultKind::kOutputRefused, executor); }
  bool RefusesBytes(ExecutorId executor) override { return Strikes(FaultKind::kOutputFull, executor); }
  absl::Status OnFinish(ExecutorId executor) override { return Injected(FaultKind::kFinishFails, executor); }
  absl::StatusOr<bool> OnCommit(ExecutorId executor) override {
    const NodeId node = NodeOf(executor);
    AtStep(node, Step::kCommitting);
    if (absl::Status status = Injected(FaultKind::kCommitFails, executor); !status.ok()) return status;
    if (const absl::Status failure = Injected(FaultKind::kEndsAtOnce, executor); !failure.ok()) {
      nodes_[Value(node)]->Fail(failure);
      facts_.nodes[Value(node)].gave_up = nodes_[Value(node)]->GiveUp() == engine::NodeSession::Results::kGivenUp;
    }
    return IsRunning(executor);
  }
  void OnPublished(ExecutorId executor) override {
    if (facts_.nodes[Value(NodeOf(executor))].gave_up) Kill(NodeOf(executor), /*quietly=*/false);
  }
  bool IsRunning(ExecutorId executor) const override { return !facts_.nodes[Value(NodeOf(executor))].was_killed; }

  NodeId NodeOf(ExecutorId executor) const {
    return NodeId{Value(executor) / static_cast<std::uint32_t>(scenario_.executors)};
  }

  /// Whether a fault of a kind that has a step of its own strikes there now.
  bool Strikes(FaultKind kind, ExecutorId executor) {
    const NodeId node = NodeOf(executor);
    bool strikes = false;
    for (std::size_t i = 0; i < kMostFaults; ++i) {
      if (faults_[i].kind == kind && MeetsFault(i, node)) {
        StrikeWith(i);
        strikes = true;
      }
    }
    return strikes;
  }
  absl::Status Injected(FaultKind kind, ExecutorId executor) {
    return Strikes(kind, executor) ? absl::InternalError(absl::StrCat("simulated: ", std::string(Name(kind))))
                                   : absl::OkStatus();
  }
  /// Whether the node, at the step of a fault, meets it there now.
  bool MeetsFault(std::size_t index, NodeId node) {
    return !facts_.faults[index].has_struck && Value(node) == faults_[index].victim &&
           !facts_.nodes[Value(node)].was_killed && ++occurrences_[index] >= faults_[index].occurrence;
  }

  void AtStep(NodeId node, Step step) override {
    if (step == Step::kCommitted && nodes_[Value(node)]->GiveUp() != engine::NodeSession::Results::kCommitting) {
      Require(absl::StrCat("another thread can give up results that node ", Value(node), " has told others are named"));
    }
    for (std::size_t i = 0; i < kMostFaults; ++i) {
      const Fault& fault = faults_[i];
      if (!StrikesAnywhere(fault.kind) || fault.step != step || !MeetsFault(i, node)) continue;
      StrikeWith(i);
      Meet(fault.kind, node, NodeId{static_cast<std::uint32_t>(fault.other_victim)});
    }
  }

  void Meet(FaultKind kind, NodeId node, NodeId other) {
    const std::int64_t short_ns = random_.Between(kPeerTimeoutNs / 10, kPeerTimeoutNs * 5 / 10);
    const std::int64_t long_ns = random_.Between(2 * kPeerTimeoutNs, 4 * kPeerTimeoutNs);
    switch (kind) {
      case FaultKind::kShortStall:
        Stall(node, time_.now_ns() + short_ns);
        break;
      case FaultKind::kLongStall:
        Stall(node, time_.now_ns() + long_ns);
        break;
      case FaultKind::kShortPartition:
        Part(node, other, time_.now_ns() + std::min(short_ns, kMostShortPartitionNs));
        break;
      case FaultKind::kLongPartition:
        Part(node, other, time_.now_ns() + long_ns);
        break;
      case FaultKind::kKill:
      case FaultKind::kPowerLoss:
        Kill(node, kind == FaultKind::kPowerLoss);
        break;
      case FaultKind::kBrokenQueuePair:
        network_.Break(node, other);
        break;
      default:
        break;
    }
  }

  void Strike(NodeId node, FaultKind kind) override {
    for (std::size_t i = 0; i < kMostFaults; ++i) {
      if (faults_[i].kind == kind && faults_[i].victim == Value(node)) StrikeWith(i);
    }
  }
  void StrikeWith(std::size_t index) {
    FaultFacts& facts = facts_.faults[index];
    if (facts.has_struck) return;
    facts = {.has_struck = true, .struck_ns = time_.now_ns()};
    trace_.Add("FAULT: %s", Name(faults_[index].kind));
  }

  void Stall(NodeId node, std::int64_t until_ns) {
    stalled_until_ns_[Value(node)] = std::max(stalled_until_ns_[Value(node)], until_ns);
    wire_.Stall(Value(node), until_ns);
  }
  void Part(NodeId a, NodeId b, std::int64_t until_ns) {
    network_.Hold(a, b, until_ns);
    wire_.Hold(Value(a), Value(b), until_ns);
  }
  void Kill(NodeId node, bool quietly) {
    facts_.nodes[Value(node)].was_killed = true;
    wire_.Kill(Value(node), quietly);
    network_.Kill(node, quietly);
  }

  // ---- the verdict ----

  void Conclude() {
    outcome_.fingerprint = trace_.fingerprint();
    outcome_.virtual_ns = time_.now_ns();
    outcome_.overwritten_counts = network_.overwritten_counts();
    std::uint64_t delta_entries = 0;
    std::uint64_t merges = 0;
    for (const auto& node : nodes_) {
      NodeFacts& facts = facts_.nodes[Value(node->id())];
      facts.ended = node->ended();
      facts.ended_ns = node->ended_ns();
      facts.published = node->rows().published();
      facts.parts = node->rows().parts();
      NoteUsedUpState(node->id(), facts);
      for (const engine::ExecutorMetrics& metrics : node->metrics()) {
        outcome_.Add(metrics);
        delta_entries += metrics.delta_entries;
        merges += metrics.merges;
      }
    }
    // Before the verdict: a violation while sessions come apart counts as well.
    nodes_.clear();
    for (std::size_t node = 0; scenario_.file_sinks == 1 && node < facts_.nodes.size(); ++node) {
      AddPublishedFiles(node, facts_.nodes[node]);
    }
    for (std::size_t i = 0; i < kMostFaults; ++i) outcome_.has_struck[i] = facts_.faults[i].has_struck;
    if (files_ != nullptr && !files_->Leftovers().empty()) {
      Require(absl::StrCat("files left behind: ", absl::StrJoin(files_->Leftovers(), ", ")));
    }
    if (!outcome_.problem.empty()) return;
    const Expected expected = entry_->expect(entry_->by_processing_time ? noted_ : input_);
    const Verdict verdict = Judge(scenario_, facts_, expected);
    outcome_.problem = verdict.problem;
    outcome_.has_failed = verdict.has_failed;
    outcome_.rows = expected.rows.size();
    outcome_.late_rows = expected.late.size();
    for (const NodeFacts& node : facts_.nodes) {
      outcome_.rows_of_failure += verdict.has_failed ? node.published.rows.size() : 0;
    }
    if (!verdict.has_failed && merges != delta_entries) {
      Require(absl::StrCat("I2: ", delta_entries, " entries were sent, and ", merges, " merged"));
    }
    if (!verdict.has_failed) Require(ledger_.AtEnd());
  }

  void AddPublishedFiles(std::size_t node, NodeFacts& facts) const {
    const auto executors = static_cast<std::uint32_t>(scenario_.executors);
    for (std::uint32_t i = 0; i < executors; ++i) {
      const PublishedParts published =
          files_->PublishedBy(ExecutorId{static_cast<std::uint32_t>(node) * executors + i});
      for (const std::string& row : published.rows.rows) facts.published.rows.push_back(row);
      for (const std::string& late : published.rows.late) facts.published.late.push_back(late);
      facts.parts += published.parts;
    }
  }

  /// A budget is used up unnoticed: that the fault has struck is told by the error.
  void NoteUsedUpState(NodeId node, const NodeFacts& facts) {
    if (!facts.ended.has_value() || !absl::IsResourceExhausted(*facts.ended)) return;
    for (std::size_t i = 0; i < kMostFaults; ++i) {
      if (faults_[i].kind != FaultKind::kNoState || faults_[i].victim != Value(node)) continue;
      facts_.faults[i] = {.has_struck = true, .struck_ns = facts.ended_ns};
    }
  }

  Scenario scenario_;
  std::array<Fault, kMostFaults> faults_;
  const CatalogueEntry* entry_;
  VirtualTime time_;
  Trace trace_;
  Random random_;
  Input input_;
  Input noted_;
  FlowTruth truth_;
  std::unique_ptr<SimFiles> files_;
  Network network_;
  ControlWire wire_;
  Invariants invariants_;
  DeltaLedger ledger_;
  RunFacts facts_;
  Outcome outcome_;
  std::array<std::int64_t, 16> stalled_until_ns_{};
  std::array<bool, 16> is_buried_{};
  std::array<std::int64_t, kMostFaults> occurrences_{};
  std::int64_t handed_on_ = 0;  // results, in this turn
  std::size_t idle_steps_ = 0;
  std::int64_t leap_ns_ = kLeastLeapNs;
  std::uint64_t progress_ = 0;
  std::uint64_t last_progress_ = 0;
  std::int64_t last_progress_ns_ = 0;
  std::vector<std::unique_ptr<SimNode>> nodes_;  // last: they use all of the above
};

}  // namespace

Outcome Simulate(const Scenario& scenario, std::span<const CatalogueEntry> catalogue, std::ostream* trace) {
  const CatalogueEntry& entry = catalogue[static_cast<std::size_t>(scenario.query) % catalogue.size()];
  Scenario fitted = scenario;
  if (entry.none_is_late) fitted.LetNoneBeLate();
  return Cluster(fitted, entry, trace).Run();
}

}  // namespace glaive::sim
