#include "tests/sim/node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::sim {
namespace {

/// A session's frames are larger than those of an executor's fibers.
constexpr std::size_t kMainStackBytes = std::size_t{512} << 10;
constexpr std::int64_t kWatchIntervalNs = 20'000'000;

Step StepOf(const engine::Fiber& fiber) {
  if (absl::StartsWith(fiber.name(), "receive")) return Step::kMerging;
  if (absl::StartsWith(fiber.name(), "ship")) return Step::kShipping;
  return fiber.name() == "source" ? Step::kReading : Step::kFiring;
}

PathOfOutput PathsOf(const World& world) {
  if (world.scenario->file_sinks == 0) return nullptr;
  return [files = world.files](std::size_t output, bool is_refused) {
    return is_refused ? files->RefusedOutputPath(output) : files->OutputPath(output);
  };
}

}  // namespace

class SimNode::Program final : public engine::QueryProgram {
 public:
  explicit Program(SimNode& node) : node_(&node) {}

  std::string name() const override { return "simulated"; }
  absl::StatusOr<std::unique_ptr<engine::Query>> Build(const engine::EngineOptions& /*options*/,
                                                       std::uint32_t /*executor_count*/, engine::FileClaims& /*claims*/,
                                                       const Watch& /*watch*/) override {
    const World& world = node_->world_;
    return world.entry->build({.flows = {.input = world.input,
                                         .truth = world.truth,
                                         .listener = world.source_listener,
                                         .files = world.scenario->file_sources == 1 ? world.files : nullptr,
                                         .batch = world.scenario->batch,
                                         .noted = world.noted},
                               .rows = &node_->rows_,
                               .lateness_ms = world.scenario->lateness_ms,
                               .graph_seed = world.input->graph_seed});
  }

 private:
  SimNode* node_;
};

/// The executors' rounds are the cluster's to give; the main thread waits for them.
class SimNode::Runner final : public engine::ExecutorRunner {
 public:
  Runner(SimNode& node, std::span<const std::unique_ptr<engine::Executor>> executors)
      : node_(&node), executors_(executors) {}
  ~Runner() override { Stop(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  absl::Status OnEach(Step step, const Watch& watch) override {
    absl::Status status;
    for (std::size_t i = 0; i < executors_.size() && status.ok(); ++i) status = step(i, watch);
    return status;
  }

  absl::Status Open(const Watch& watch) override {
    for (const auto& executor : executors_) {
      node_->world_.step_listener->AtStep(node_->id_, sim::Step::kOpening);
      absl::Status status = executor->Open(watch);
      status.Update(watch());
      if (!status.ok()) return status;
      node_->main_fiber_->Yield();
    }
    node_->has_opened_ = true;
    return absl::OkStatus();
  }

  absl::Status Run(const Watch& watch) override {
    for (const auto& executor : executors_) {
      if (absl::Status status = executor->Start(); !status.ok()) return status;
    }
    node_->executors_ = executors_;
    absl::Status status;
    while (status.ok() && !AllDone()) {
      const std::int64_t next_ns = node_->world_.time->now_ns() + kWatchIntervalNs;
      node_->Wait([&] { return AllDone() || HasFailed() || node_->world_.time->now_ns() >= next_ns; });
      for (const auto& executor : executors_) status.Update(executor->status());
      status.Update(watch());
    }
    Stop();
    for (const auto& executor : executors_) status.Update(executor->status());
    return status;
  }

 private:
  bool AllDone() const {
    return std::ranges::all_of(executors_, [](const auto& executor) { return executor->done(); });
  }
  bool HasFailed() const {
    return std::ranges::any_of(executors_, [](const auto& executor) { return !executor->status().ok(); });
  }
  void Stop() {
    for (const auto& executor : node_->executors_) {
      executor->Stop(absl::CancelledError("the run was stopped"));
      node_->metrics_.push_back(executor->metrics());
    }
    node_->executors_ = {};
  }

  SimNode* node_;
  std::span<const std::unique_ptr<engine::Executor>> executors_;
};

class SimNode::Observer final : public engine::TurnObserver, public state::DeltaObserver {
 public:
  Observer(SimNode& node, ExecutorId executor) : node_(&node), executor_(executor) {}

  // The network goes on while an executor runs.
  void BeforeVisit(const engine::Fiber& /*fiber*/) override { node_->world_.step_listener->BetweenTurns(); }
  void BeforeTurn(const engine::Fiber& fiber) override {
    node_->world_.trace->Add("executor %d: %s", Value(executor_), fiber.name());
    node_->world_.step_listener->AtStep(node_->id_, StepOf(fiber));
  }

  void OnQueued(ExecutorId leader, const state::DeltaChunk& chunk) override {
    node_->world_.ledger->OnQueued(executor_, leader, chunk);
  }
  void OnMerged(ExecutorId sender, const state::DeltaChunk& chunk) override {
    node_->world_.ledger->OnMerged(sender, executor_, chunk);
  }

 private:
  SimNode* node_;
  ExecutorId executor_;
};

SimNode::SimNode(const World& world, NodeId id)
    : world_(world),
      id_(id),
      clock_(*world.time, world.scenario->one_host == 1 ? 0 : Value(id) * world.scenario->skew_ms * 1'000'000),
      rows_(*world.sink_listener, PathsOf(world), world.entry->rows_wait_for != RowsWaitFor::kNothing),
      main_(engine::SchedulerOptions{.stack_bytes = kMainStackBytes}) {
  for (std::int64_t i = 0; i < world.scenario->executors; ++i) {
    const ExecutorId executor{static_cast<std::uint32_t>(Value(id) * world.scenario->executors + i)};
    Random random(world.scenario->seed, Purpose::kExecutor, Value(executor));
    policies_.push_back(std::make_unique<engine::RandomPickPolicy>(random.Next()));
    observers_.push_back(std::make_unique<Observer>(*this, executor));
  }
  const absl::Status spawned = main_.Spawn("main", engine::FiberKind::kCompute, [this](engine::Fiber& fiber) {
    main_fiber_ = &fiber;
    Main();
  });
  GLAIVE_CHECK(spawned.ok(), spawned.message());
}

SimNode::~SimNode() { Die(); }

void SimNode::Die() {
  for (const auto& executor : executors_) executor->Stop(absl::CancelledError("killed"));
  main_.Cancel();
}

void SimNode::Main() {
  std::vector<rdma::Member> members;
  for (std::uint32_t node = 0; node < world_.scenario->nodes; ++node) {
    members.push_back({.rank = NodeId{node},
                       .host_id = world_.scenario->one_host == 1 ? "host" : absl::StrCat("host", node),
                       .pid = 1000 + node});
  }
  const std::uint64_t run_token = world_.scenario->seed;
  SimControlPlane plane(
      *world_.wire, *world_.time, id_, std::move(members), run_token,
      [this](absl::FunctionRef<bool()> ready) { Wait(ready); }, [this](std::string_view phase) { AtPhase(phase); });
  Program program(*this);
  const engine::EngineOptions options = MakeOptions();
  engine::NodeSession session(program, options, {}, plane,
                              {.clock = &clock_, .run_token = run_token, .random = nullptr}, *this);
  plane_ = &plane;
  session_ = &session;
  absl::Status status = session.Run([] { return absl::OkStatus(); });
  if (session.results_are_final()) {
    const absl::Status late = plane.Leave(absl::Seconds(3));  // results are final: it is told, and no failure
    if (!late.ok()) world_.trace->Add("node %d ends well, although %s", Value(id_), late.message());
  }
  const std::string how = status.ok() ? "OK" : status.ToString();
  world_.trace->Add("node %d ends: %s", Value(id_), world_.files == nullptr ? how : world_.files->WithoutPlace(how));
  ended_ns_ = world_.time->now_ns();
  ended_ = status;
}

engine::EngineOptions SimNode::MakeOptions() const {
  const Scenario& scenario = *world_.scenario;
  engine::EngineOptions options;
  options.cluster = scenario.cluster();
  options.cluster.rank = Value(id_);
  options.cluster.join_timeout = 10 * absl::Nanoseconds(kPeerTimeoutNs);
  options.channel.slot_bytes = static_cast<std::uint32_t>(scenario.slot_bytes);
  options.channel.credits = static_cast<std::uint32_t>(scenario.credits);
  options.state.fragment_bytes = static_cast<std::uint64_t>(scenario.fragment_bytes);
  options.state.memory_limit_bytes = std::uint64_t{1} << 30;
  options.epoch.epoch_bytes = static_cast<std::uint64_t>(scenario.epoch_bytes);
  options.epoch.epoch_min_bytes = static_cast<std::uint64_t>(scenario.epoch_min_bytes);
  options.epoch.epoch_interval = absl::Microseconds(scenario.epoch_interval_us);
  options.epoch.max_lead = absl::Milliseconds(scenario.max_lead_ms);
  const bool source_is_silent = scenario.silent_source == 1 && world_.entry->counts_records;
  options.epoch.idle_timeout =
      scenario.silent == 1 || source_is_silent ? absl::Nanoseconds(scenario.idle_timeout_ns()) : absl::ZeroDuration();
  options.output.progress = engine::ProgressChoice::kNever;
  options.output.publish = scenario.publishes == 1 ? engine::PublishChoice::kFired : engine::PublishChoice::kEnd;
  return options;
}

std::optional<Fault> SimNode::FaultOf(FaultKind kind) const {
  for (const Fault& each : world_.scenario->faults()) {
    if (each.kind == kind && Value(id_) == each.victim) return each;
  }
  return std::nullopt;
}

void SimNode::AtPhase(std::string_view phase) {
  world_.trace->Add("node %d: %s", Value(id_), phase);
  static constexpr std::pair<std::string_view, Step> kPhases[] = {{"channels", Step::kExchanging},
                                                                  {"metrics", Step::kConcluding},
                                                                  {"finished", Step::kFinished},
                                                                  {"committed", Step::kCommitted},
                                                                  {"leave", Step::kLeaving}};
  for (const auto& [name, step] : kPhases) {
    if (phase == name) world_.step_listener->AtStep(id_, step);
  }
}

// A part of another node's lies on the disk of that one, unless they have one host.
void SimNode::RemovePart(const engine::ResultPart& part, const std::string& path) {
  const auto executors = static_cast<std::uint32_t>(world_.scenario->executors);
  const bool is_own = part.executor / executors == Value(id_);
  if (!world_.sink_listener->IsRunning(ExecutorId{Value(id_) * executors})) return;
  if (rows_.has_files()) {
    if (is_own || world_.scenario->one_host == 1) engine::RemovePart(part, path);
  } else if (is_own) {
    rows_.Retract(part.inode);
  }
}

void SimNode::Sleep(absl::Duration time) {
  if (!has_opened_) world_.step_listener->AtStep(id_, Step::kConnecting);
  const std::int64_t until_ns = world_.time->now_ns() + absl::ToInt64Nanoseconds(time);
  Wait([&] { return world_.time->now_ns() >= until_ns; });
}

void SimNode::Equip(engine::ExecutorConfig& config) {
  const std::size_t index = Value(config.mesh.self) % policies_.size();
  config.mesh.fabric = this;
  config.mesh.relaxed_ordering = Value(id_) < world_.scenario->relaxed_nodes;
  config.scheduler = {.pick_policy = policies_[index].get(), .observer = observers_[index].get()};
  config.delta_observer = observers_[index].get();
  config.rows_per_turn = static_cast<std::size_t>(world_.scenario->rows_per_turn);
  config.fold = {.trial_records = static_cast<std::uint64_t>(world_.scenario->trial_records),
                 .trials_between = static_cast<std::uint64_t>(world_.scenario->trials_between),
                 .records_per_saved = static_cast<std::uint64_t>(world_.scenario->records_per_saved),
                 .combiner_bytes = static_cast<std::uint64_t>(world_.scenario->combiner_bytes)};
  config.thresholds = world_.scenario->thresholds();
  if (const std::optional<Fault> fault = FaultOf(FaultKind::kNoState)) {
    config.state_limit_bytes = static_cast<std::uint64_t>(fault->occurrence) << 10;
  }
}

std::unique_ptr<engine::ExecutorRunner> SimNode::MakeRunner(
    std::span<const std::unique_ptr<engine::Executor>> executors, const std::vector<int>& /*cpus*/) {
  return std::make_unique<Runner>(*this, executors);
}

absl::StatusOr<std::unique_ptr<rdma::Transport>> SimNode::MakeTransport(rdma::TransportKind kind,
                                                                        const rdma::TransportOptions& options) {
  const Refusals refusals{.rings = FaultOf(FaultKind::kNoRings).has_value(),
                          .registration = FaultOf(FaultKind::kNoRegistration).has_value()};
  if (refusals.rings) world_.step_listener->Strike(id_, FaultKind::kNoRings);
  if (refusals.registration) world_.step_listener->Strike(id_, FaultKind::kNoRegistration);
  return world_.network->MakeTransport(kind, options, refusals);
}

absl::StatusOr<rdma::PageRegion> SimNode::MapSegments(std::size_t size_bytes) {
  world_.step_listener->AtStep(id_, Step::kCreating);
  if (FaultOf(FaultKind::kNoSegments).has_value()) {
    world_.step_listener->Strike(id_, FaultKind::kNoSegments);
    return absl::ResourceExhaustedError("simulated: no memory for segments");
  }
  return rdma::PageRegion::Map(size_bytes);
}

}  // namespace glaive::sim
