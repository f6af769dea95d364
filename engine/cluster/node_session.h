// NodeSession: one node's way through a run, phase by phase, together with the others.
//
// Every phase ends with all nodes having passed it, so that none runs ahead: channels are connected when all rings
// exist, executors start when all have their input, and results become final when all have succeeded and, with
// --verify, have been found right.
//
// Used by the main thread of a node. When a phase fails the others are told why.
//
//   NodeSession session(program, options, flags, plane, environment, host);
//   absl::Status status = session.Run(watch);
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "engine/cluster/engine_options.h"
#include "engine/cluster/host.h"
#include "engine/cluster/node_run.h"
#include "engine/cluster/node_set_up.h"
#include "engine/cluster/query_program.h"
#include "engine/cluster/run_files.h"
#include "engine/cluster/run_program.h"
#include "engine/metrics/run_report.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

class NodeSession {
 public:
  /// All arguments outlive the session. `settings` are the flags as they will be reported.
  NodeSession(QueryProgram& program, const EngineOptions& options, std::map<std::string, std::string> settings,
              rdma::ControlPlane& plane, const RunEnvironment& environment, Host& host);

  /// The whole run. `interrupted` is asked now and then whether it has to end; it need not look at the control plane.
  absl::Status Run(const Watch& interrupted);

  /// Takes back results that only some nodes have made final, and sees to it that no more get their names. False when
  /// all have: then there is nothing to give up. Empty while a thread gives files their names, or takes them back: ask
  /// again. For a run that has failed, and for another thread that is about to end the process.
  std::optional<bool> TryGiveUpResults();

  /// For another thread, just before it ends a process that gives files their names for too long: removes those of them
  /// that have their names.
  void RetractBeforeExit() { Retract(); }

  /// Waits for the writers of files that were not finished, and gives the executors' memory back. After Run, while the
  /// control plane is there to end the process if this takes too long.
  void EndExecutors();

  /// Whether all nodes have given their results their names: they stay, whatever comes.
  bool results_are_final() const { return results_ == Results::kFinal; }
  /// What --verify found; for any thread.
  Verification verification() const { return verification_; }

 private:
  absl::Status Execute(const Watch& watch);
  absl::Status Conclude(const Watch& watch, const Watch& interrupted);
  /// What the control plane says of a lost node, waiting a moment for it.
  std::optional<absl::Status> AwaitReason();
  /// Adds to that what this node was doing.
  absl::Status AddPosition(const absl::Status& status) const;
  absl::Status Barrier(const char* phase);
  absl::Status GatherMetrics();
  absl::Status Verify(const Watch& watch);
  absl::Status CommitResults();
  /// Removes the parts of all nodes, as far as there is memory to.
  void Retract();
  std::vector<ResultPart> AllParts() const;
  absl::Status Report(std::vector<FileReport> files);
  absl::Status PrintReport(const RunReport& report);
  std::string TransportName() const;

  bool is_coordinator() const { return Value(plane_->rank()) == 0; }

  QueryProgram* program_;
  const EngineOptions* options_;
  std::map<std::string, std::string> settings_;
  rdma::ControlPlane* plane_;
  RunEnvironment environment_;
  Host* host_;
  RunFiles files_;
  NodeParts parts_;
  std::vector<NodeMetrics> nodes_;  // complete before results_ is kBusy
  std::atomic<Verification> verification_{Verification::kNotRun};

  /// A thread that changes names of files, main or another, has moved the state from where it was to kBusy.
  enum class Results : std::uint8_t {
    kOpen,     ///< none has its name
    kBusy,     ///< a thread is giving names, or taking them back
    kNamed,    ///< this node's have their names; the others' may not
    kFinal,    ///< all nodes' have
    kGivenUp,  ///< none of this node's has its name, nor will
  };
  bool Move(Results from, Results to) { return results_.compare_exchange_strong(from, to); }
  std::atomic<Results> results_{Results::kOpen};
};

}  // namespace glaive::engine
