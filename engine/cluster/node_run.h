// NodeRun: the executors of one node, each on a thread of its own, from set-up to the end.
//
// Used by one thread, the node's main thread, which calls the phases in order and meanwhile watches for what could end
// the run (a lost peer, Ctrl-C): `watch` is called about every 20 ms while a phase waits.
//
//   1. When a phase returns an error, or the NodeRun ends, no executor thread is left running.
//   2. Executors start only in Run: every executor of the run must have been opened before.
//
//   auto run = NodeRun::Create(config, query);
//   (*run)->Connect(all_descriptors);  ...(*run)->PollConnecting();  (*run)->Open(watch);  ...all nodes ready...
//   (*run)->Run(watch);
//   ...all nodes done...  (*run)->Commit();
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/executor.h"

namespace glaive::engine {

struct NodeRunConfig {
  ExecutorConfig executor;  // `mesh.self` and `pick_policy` are ignored
  NodeId node{};
  std::vector<int> cpus;  // the CPU of each executor; empty: not pinned
};

class NodeRun {
 public:
  /// Not OK ends the run with that reason.
  using Watch = std::function<absl::Status()>;

  /// Makes the node's executors, with their segments and rings. `query` outlives the run.
  static absl::StatusOr<std::unique_ptr<NodeRun>> Create(const NodeRunConfig& config, const Query& query);

  NodeRun(const NodeRun&) = delete;
  NodeRun& operator=(const NodeRun&) = delete;
  ~NodeRun();

  std::vector<rdma::MeshDescriptor> descriptors() const;
  /// Begins to connect every executor to all those of the run.
  absl::Status Connect(std::span<const rdma::MeshDescriptor> all);
  /// A node that is not connected to all executors yet; to be called until there is none. Never blocks.
  absl::StatusOr<std::optional<NodeId>> PollConnecting();
  /// Starts the threads and opens the query's tasks; returns when all are open.
  absl::Status Open(const Watch& watch);
  /// Lets the executors run; returns when all have ended.
  absl::Status Run(const Watch& watch);
  /// Makes this node's results final.
  absl::Status Commit();
  /// Takes that back.
  void Retract();

  const std::vector<std::unique_ptr<Executor>>& executors() const { return executors_; }

 private:
  enum class Phase : std::uint8_t { kOpening, kOpened, kEnded };

  explicit NodeRun(const NodeRunConfig& config) : config_(config) {}

  void ThreadMain(std::size_t index);
  absl::Status RunExecutor(Executor& executor);
  void SetPhase(std::size_t index, Phase phase, const absl::Status& status);
  absl::Status WaitFor(Phase phase, const Watch& watch);
  void StopAndJoin();

  NodeRunConfig config_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};  // relaxed: it carries no data, and is looked at every round

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Phase> phases_;
  bool go_ = false;
  absl::Status failure_;
};

}  // namespace glaive::engine
