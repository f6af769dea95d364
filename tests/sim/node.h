// SimNode: a node of a simulated cluster: its real session, executors, channels and sinks, on simulated hardware.
//
// What is a process's main thread elsewhere is a fiber here; executors are given their rounds by the cluster.
//
//   SimNode node(world, NodeId{0});
//   while (!node.ended()) { node.RunMain(); for (auto& e : node.executors()) e->done() ? e->PollChannels() :
//   e->RunRound(); }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/cluster/node_session.h"
#include "engine/cluster/query_program.h"
#include "engine/fiber/pick_policy.h"
#include "engine/fiber/scheduler.h"
#include "tests/sim/catalogue.h"
#include "tests/sim/control_plane.h"
#include "tests/sim/delta_ledger.h"
#include "tests/sim/fault.h"
#include "tests/sim/network.h"
#include "tests/sim/row_store.h"
#include "tests/sim/scenario.h"
#include "tests/sim/sim_files.h"
#include "tests/sim/sim_host.h"
#include "tests/sim/trace.h"
#include "tests/sim/virtual_time.h"

namespace glaive::sim {

/// What all nodes of a simulation share; everything outlives them.
struct World {
  const Scenario* scenario = nullptr;
  const CatalogueEntry* entry = nullptr;
  const Input* input = nullptr;
  Input* noted = nullptr;           // what TimedSources have read; of the input's sources and executors
  const SimFiles* files = nullptr;  // of sources and sinks; null where neither has files
  FlowTruth* truth = nullptr;
  SourceListener* source_listener = nullptr;
  SinkListener* sink_listener = nullptr;
  StepListener* step_listener = nullptr;
  VirtualTime* time = nullptr;
  Network* network = nullptr;
  ControlWire* wire = nullptr;
  DeltaLedger* ledger = nullptr;
  Trace* trace = nullptr;
};

class SimNode final : public SimHost {
 public:
  SimNode(const World& world, NodeId id);
  ~SimNode() override;
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  /// One turn of the main thread, unless it waits. False: it does.
  bool RunMain() { return main_.RunRound(); }
  /// It knows of a failure, as if it had told the others of it.
  void Fail(const absl::Status& failure) { plane_->Abort(failure); }
  /// What another thread does before it ends the process: see NodeSession::GiveUp. The session goes on.
  engine::NodeSession::Results GiveUp() { return session_->GiveUp(/*while_naming=*/false); }
  /// The process ends, as by kill -9: nothing of it runs any more.
  void Die();

  NodeId id() const { return id_; }
  /// What the session came to; empty while it goes on, and for a process that was killed.
  const std::optional<absl::Status>& ended() const { return ended_; }
  std::int64_t ended_ns() const { return ended_ns_; }
  /// Those that are to be given rounds.
  std::span<const std::unique_ptr<engine::Executor>> executors() const { return executors_; }
  const RowStore& rows() const { return rows_; }
  /// Of its executors, once they have ended.
  const std::vector<engine::ExecutorMetrics>& metrics() const { return metrics_; }

  // Host
  void Sleep(absl::Duration time) override;
  void Equip(engine::ExecutorConfig& config) override;
  void RemovePart(const engine::ResultPart& part, const std::string& path) override;
  std::unique_ptr<engine::ExecutorRunner> MakeRunner(std::span<const std::unique_ptr<engine::Executor>> executors,
                                                     const std::vector<int>& cpus) override;

  // Fabric
  absl::StatusOr<std::unique_ptr<rdma::Transport>> MakeTransport(rdma::TransportKind kind,
                                                                 const rdma::TransportOptions& options) override;
  absl::StatusOr<rdma::PageRegion> MapSegments(std::size_t size_bytes) override;

 private:
  class Program;
  class Runner;
  class Observer;

  void Main();
  engine::EngineOptions MakeOptions() const;
  /// The node's fault of the kind, if the scenario has one.
  std::optional<Fault> FaultOf(FaultKind kind) const;
  void AtPhase(std::string_view phase);
  void Wait(absl::FunctionRef<bool()> ready) { main_fiber_->WaitUntil(ready); }

  World world_;
  NodeId id_;
  SkewedClock clock_;
  RowStore rows_;
  std::vector<std::unique_ptr<engine::RandomPickPolicy>> policies_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::span<const std::unique_ptr<engine::Executor>> executors_;
  std::vector<engine::ExecutorMetrics> metrics_;
  bool has_opened_ = false;
  SimControlPlane* plane_ = nullptr;        // while the session goes on
  engine::NodeSession* session_ = nullptr;  // the same
  std::optional<absl::Status> ended_;
  std::int64_t ended_ns_ = 0;
  engine::Fiber* main_fiber_ = nullptr;
  engine::Scheduler main_;  // last: its fiber uses all of the above
};

}  // namespace glaive::sim
