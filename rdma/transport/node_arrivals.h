// NodeArrivals: queues by which immediate values reach the executors of a node that share queue pairs.
//
// A device hands an immediate value to the executor at its end of the queue pair. Executor i of a node has one queue
// pair with executor i of each other node, and writes through it into the memory of any executor there. So executor i
// of a node takes in the values for all executors of its node, and hands them on:
//
//   node 0               node 1
//   executor 0 ───────── executor 0: completion queue ──┬─► own channels
//   executor 1 ────┐                                    └─► queue of executor 1 ─► its channels
//                  └──── executor 1: completion queue ──┬─► own channels
//                                                       └─► queue of executor 0 ─► its channels
//
// All values of one writer take the same way, so they stay in order. An executor that has ended goes on handing on
// until all executors of its node have ended (Executor::PollChannels).
//
// On the wire an immediate value names the executor that it is for. The queue pair tells the sender, so no node can
// write in the name of another.
//
//   1. Open is called for each executor during set-up. Afterwards each executor polls its own queue, and any executor
//      of the node pushes to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/arrival_queue.h"

namespace glaive::rdma {

/// See the head of this file. One for the executors of a node.
class NodeArrivals {
 public:
  explicit NodeArrivals(std::uint32_t executors_per_node) : queues_(executors_per_node) {}

  /// Makes the queue of `executor`, in which `receives` values may wait. ResourceExhausted without memory.
  absl::Status Open(ExecutorId executor, std::uint32_t receives);

  /// What `receiver` does with a value that a device has handed to it: its own ones come back, with `writer` in them;
  /// those for others of the node are handed on. DataLoss: it is for no executor of the node.
  absl::StatusOr<std::optional<std::uint32_t>> Take(ExecutorId receiver, ExecutorId writer, std::uint32_t wire_bits);

  /// Takes up to immediates.size() values that others have handed on to `executor`. See ArrivalQueue::Poll.
  absl::StatusOr<std::size_t> Poll(ExecutorId executor, std::span<std::uint32_t> immediates);

 private:
  // The reader's count of values is on a cache line that writers do not read.
  struct Queue {
    PageRegion memory;
    alignas(64) ArrivalQueue of_writers;
    alignas(64) ArrivalQueue of_reader;
  };

  std::uint32_t IndexOf(ExecutorId executor) const {
    return Value(executor) % static_cast<std::uint32_t>(queues_.size());
  }
  std::uint32_t NodeOf(ExecutorId executor) const {
    return Value(executor) / static_cast<std::uint32_t>(queues_.size());
  }

  std::vector<std::optional<Queue>> queues_;  // by the executor's index in its node
};

}  // namespace glaive::rdma
