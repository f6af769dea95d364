// NodeSession: one node's way through a run, phase by phase, together with the others.
//
// Every phase ends with all nodes having passed it, so that none runs ahead: channels are connected when all rings
// exist, executors start when all have their input, and results become final when all have succeeded and, with
// --verify, have been found right.
//
// Used by the main thread of a node. When a phase fails the others are told why.
//
// Results that are published while the run goes on stay, whatever comes (part_file.h). What becomes of other results of
// this node is one atomic state, which two threads move: main, and the one that ends a process that does not end by
// itself. Only main names files; each may remove them in kGivenUp, also at the same time.
//
//     kOpen ────────► kNaming ────────► kCommitting ────────► kFinal
//       │               │                    │
//       │ main, other   │ main, other        │ main, when AllAgree has failed
//       ▼               ▼                    │
//    kDropped        kGivenUp ◄──────────────┘
//
// The steps to the right are main's: when all nodes have finished, when all files of this node have their names, and
// when rank 0 has decided that this holds at every node. In kCommitting other nodes may know already that the results
// are final, so no thread gives them up before the control plane has said what rank 0 has decided.
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

#include "engine/cluster/host.h"
#include "engine/cluster/node_run.h"
#include "engine/cluster/node_set_up.h"
#include "engine/cluster/query_program.h"
#include "engine/cluster/run_files.h"
#include "engine/cluster/run_program.h"
#include "engine/flags/engine_options.h"
#include "engine/flags/named_files.h"
#include "engine/metrics/run_report.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::engine {

/// The flags of the command line, as far as a session needs them by name.
struct GivenFlags {
  std::map<std::string, std::string> settings = {};  ///< all flags, as they will be reported
  std::vector<NamedFile> files = {};                 ///< the files that flags name
};

class NodeSession {
 public:
  enum class Results : std::uint8_t {
    kOpen,        ///< no file of this node has its name
    kNaming,      ///< main is giving files their names: none, some or all have them
    kCommitting,  ///< all of this node's have; whether the other nodes' do is being decided
    kFinal,       ///< all nodes' have: they stay, whatever comes
    kDropped,     ///< none has its name, nor will get it
    kGivenUp,     ///< some may have their names, and are removed; one more may get it
  };

  /// All arguments outlive the session.
  NodeSession(QueryProgram& program, const EngineOptions& options, GivenFlags flags, rdma::ControlPlane& plane,
              const RunEnvironment& environment, Host& host);

  /// The whole run. `interrupted` is asked now and then whether it has to end; it need not poll the control plane.
  absl::Status Run(const Watch& interrupted);

  /// For another thread that is about to end the process: sees to it that main names no more files; in kNaming only if
  /// `while_naming`. The state then: in kNaming, ask again; in kCommitting, leave it to main.
  Results GiveUp(bool while_naming);

  /// In kGivenUp, removes the parts of all nodes that this one sees; in other states nothing. For any thread, and as
  /// often as it likes. Waits for the disk; takes no memory.
  void Retract();

  /// Waits for the writers of files that were not finished, and gives the executors' memory back. After Run, while the
  /// control plane is there to end the process if this takes too long.
  void EndExecutors();

  /// Adds to why the run has failed which of this node's results stay all the same. After EndExecutors, or where the
  /// process ends at once; for any thread.
  absl::Status AddPublished(const absl::Status& status) const;

  /// Whether all nodes have given their results their names.
  bool results_are_final() const { return results_ == Results::kFinal; }
  /// The verdict of --verify; for any thread.
  Verification verification() const { return verification_; }

 private:
  absl::Status Execute(const Watch& watch);
  absl::Status Conclude(const Watch& watch, const Watch& interrupted);
  /// The control plane's reason for the loss of a node. Waits a moment for it.
  std::optional<absl::Status> AwaitReason();
  /// Adds to that what this node was doing.
  absl::Status AddPosition(const absl::Status& status) const;
  absl::Status Barrier(const char* phase);
  absl::Status GatherMetrics();
  absl::Status Verify(const Watch& watch);
  absl::Status CommitResults(const Watch& interrupted);
  /// After a failure: gives the results up, unless they are final, tells the others why, and removes what has its name.
  /// Returns the control plane's reason for the loss of a node, if the failure may come from that.
  std::optional<absl::Status> EndFailed(const absl::Status& failure);
  std::vector<ResultPart> AllParts() const;
  absl::Status Report(std::vector<FileReport> files);
  absl::Status PrintReport(const RunReport& report);
  std::string TransportName() const;

  bool is_coordinator() const { return Value(plane_->rank()) == 0; }

  QueryProgram* program_;
  const EngineOptions* options_;
  GivenFlags flags_;
  rdma::ControlPlane* plane_;
  RunEnvironment environment_;
  Host* host_;
  RunFiles files_;
  NodeParts parts_;
  std::vector<NodeMetrics> nodes_;
  std::atomic<Verification> verification_{Verification::kNotRun};

  struct NamedPart {
    ResultPart part;
    std::string path;
  };
  std::vector<NamedPart> named_parts_;  // of all nodes; complete before results_ leaves kOpen for kNaming

  /// False if it is not in `from`: the other thread was quicker.
  bool Move(Results from, Results to) { return results_.compare_exchange_strong(from, to); }
  std::atomic<Results> results_{Results::kOpen};
};

}  // namespace glaive::engine
