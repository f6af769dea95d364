// Executor: one worker of a run: its scheduler, its channels, its state memory and its part of the query (paper
// section 5.3).
//
// Made and used by one thread, its own: Create, Connect, Open, RunRound, PollChannels. Once all executors of the node
// have ended (ExecutorRunner::Run), the main thread uses it. Several executors can share a thread and take turns, which
// is how tests drive a whole cluster under one random order.
//
//   1. Nothing below RunRound waits for a peer. Reading an input file may wait for the disk, for 64 KiB at most. Result
//      files have threads of their own (engine/files/file_writer.h).
//   2. After an error every fiber is unwound; status() tells the error, and done() holds.
//
//   auto executor = Executor::Create(config, query);
//   publish((*executor)->descriptor()); ... (*executor)->Connect(all); (*executor)->Open();
//   while (!(*executor)->done()) (*executor)->RunRound();
//   while (others run) (*executor)->PollChannels();
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/message_plan.h"
#include "engine/executor/query.h"
#include "engine/executor/roles.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "engine/metrics/node_metrics.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/epoch/delta_observer.h"
#include "state/log/state_memory.h"
#include "state/log/state_thresholds.h"
#include "state/store/fold_policy.h"

namespace glaive::engine {

/// The settings of an executor; the same on all executors of a run but for `mesh.self`, `scheduler` and
/// `delta_observer`.
struct ExecutorConfig {
  rdma::MeshOptions mesh;
  EpochPolicy epoch_policy;
  std::int64_t max_lead_ms = 0;
  std::int64_t idle_timeout_ns = 0;  // 0: no flow is ever idle
  std::uint64_t fragment_bytes = 0;
  std::optional<Roles> roles;  // absent: those of Slash
  state::FoldOptions fold;
  std::size_t rows_per_turn = 4096;  // that a trigger hands on at most: a turn ends then
  state::StateThresholds thresholds;
  std::uint64_t state_limit_bytes = 0;
  std::uint64_t state_prefault_bytes = 0;          // of those, how many Open takes from the system
  const Clock* clock = nullptr;                    // outlives the executor
  SchedulerOptions scheduler;                      // what it points to outlives the executor
  state::DeltaObserver* delta_observer = nullptr;  // outlives the executor; may be null
  FileClaims* claims = nullptr;                    // the same
};

class Executor {
 public:
  /// Maps segments and rings. `query` outlives the executor. Errors are those of FragmentGeometry and ExecutorMesh.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const ExecutorConfig& config, const Query& query);

  /// Suspended fibers are unwound before the task, the task goes before the channels it uses.
  ~Executor() = default;

  /// The description of this executor's rings, with which the other executors connect.
  rdma::MeshDescriptor descriptor() const { return mesh_->descriptor(); }
  /// Connects to all executors of the run.
  absl::Status Connect(std::span<const rdma::MeshDescriptor> all) { return mesh_->Connect(all); }
  /// Takes the state memory that is prefaulted, and opens the query's task: reads or generates its input, allocates its
  /// state. Call it on the executor's own thread; `watch` may end it.
  absl::Status Open(const Watch& watch);
  /// Makes the fibers: from here on RunRound works. Every executor of the run has been opened and connected.
  absl::Status Start();

  /// One round of the scheduler, after taking in completions and credits. False when there was nothing to do: time to
  /// idle.
  bool RunRound();
  /// Whether there is nothing left to run: the query has ended, or failed. For any thread.
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// The error that ended the executor, or that its channels have had since, if any.
  const absl::Status& status() const { return context_.failure; }
  /// After done(), until all executors of the node have ended on its own thread, then until those of the run have on
  /// the main thread: hands immediate values on to other executors of the node, repeats counts of credits for which
  /// peers may wait, and notices when a peer is lost to which the last writes may still be under way. False when there
  /// was nothing to do. Its error goes to status(). Never blocks.
  bool PollChannels();
  /// Processor time that the executor's thread has taken for its rounds, for its metrics.
  void AddProcessorTime(std::uint64_t nanos) { metrics_.processor_ns += nanos; }
  /// Ends the executor from outside, with the reason.
  void Stop(const absl::Status& reason);

  /// Adds the files that Commit will make final. After done(), if all went well.
  void AddParts(std::vector<ResultPart>& parts) const { task_->AddParts(parts); }
  /// Makes the results final. After done(), once the whole run has succeeded.
  absl::Status Commit() { return task_->Commit(); }
  /// Up to date after done().
  const ExecutorMetrics& metrics() const { return metrics_; }
  /// For any thread, at any time.
  const LiveProgress& live() const { return live_; }
  rdma::ExecutorMesh& mesh() { return *mesh_; }
  const rdma::ExecutorMesh& mesh() const { return *mesh_; }
  const state::StateMemory& memory() const { return memory_; }
  ExecutorId id() const { return context_.self; }

 private:
  Executor(const ExecutorConfig& config, const Query& query, MessagePlan messages,
           std::unique_ptr<rdma::ExecutorMesh> mesh);

  void End();
  absl::Status PollMesh();
  bool HasHandedOn();
  absl::Status LostPeer(const absl::Status& channels);

  const Query* query_;
  std::unique_ptr<rdma::ExecutorMesh> mesh_;
  state::StateMemory memory_;
  ExecutorMetrics metrics_;
  LiveProgress live_;
  std::uint64_t state_prefault_bytes_;
  TaskContext context_;
  std::unique_ptr<QueryTask> task_;
  Scheduler scheduler_;  // its fibers use all of the above
  std::int64_t next_peer_check_ns_ = 0;
  bool ran_ = false;             // in the last round
  std::int64_t polled_ns_ = 0;   // when the mesh was last polled
  std::uint64_t handed_on_ = 0;  // immediate values, as of the last round
  // Other executors of the node read it. On a cache line of its own, which no round writes.
  alignas(64) std::atomic<bool> done_ = false;
};

}  // namespace glaive::engine
