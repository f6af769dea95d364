// DeltaMerger: the receiving side of the epoch protocol: an RDMA fiber that merges messages of other executors into the
// state of their inputs.
//
// Owned by a query task, used by its executor's thread. The fiber takes messages of channels in turn, from those on
// which some have arrived (ExecutorMesh::NextArrival). So executors that send nothing cost nothing. It sleeps while
// nothing has arrived, and returns held back credits then. It ends when every other executor has ended all inputs.
// A query without inputs has no such fiber.
//
//   DeltaMerger merger(context, graph.inputs());
//   status = merger.Spawn(scheduler);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/scheduler.h"
#include "engine/graph/delta_target.h"
#include "rdma/channel/channel_receiver.h"
#include "state/epoch/delta_reader.h"

namespace glaive::engine {

class DeltaMerger {
 public:
  /// `context` and the query's inputs outlive the merger.
  DeltaMerger(TaskContext& context, std::span<DeltaTarget* const> inputs);

  /// Adds the fiber.
  absl::Status Spawn(Scheduler& scheduler);

 private:
  /// What one executor has sent.
  struct Peer {
    std::vector<state::DeltaReader> readers;  // by input
    std::size_t open_inputs = 0;              // not ended by the executor
  };

  void Merge(Fiber& fiber);
  std::size_t MergeMessage(Fiber& fiber, rdma::ChannelReceiver& channel);

  TaskContext* context_;
  std::vector<DeltaTarget*> inputs_;
  std::vector<Peer> peers_;  // by executor; the own one's is empty
  std::size_t open_peers_ = 0;
};

}  // namespace glaive::engine
