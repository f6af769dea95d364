// TransportOptions: the settings of a transport of one executor. Plain values, filled by the mesh or a test.
#pragma once

#include <cstdint>
#include <memory>

#include "rdma/base/ids.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/transport/arrival.h"

namespace glaive::rdma {

class NodeArrivals;
class VerbsDevice;

/// See the head of this file.
struct TransportOptions {
  ExecutorId executor{};
  std::uint32_t executors_per_node = 1;
  std::uint32_t executor_count = 2;      ///< of the run
  std::uint32_t queue_pairs = 1;         ///< executors that will be connected to, at most executor_count
  std::uint32_t queue_depth = 1024;      ///< writes of one queue pair that are posted and not complete
  RunKey run_key{};                      ///< the run's; queue pairs are refused to other runs
  Arrival arrival = Arrival::kChecksum;  ///< over verbs: kChecksum or kImmediate
  std::uint32_t receives = 0;            ///< kImmediate: writes with an immediate value that may wait to be polled
  std::shared_ptr<NodeArrivals> node_arrivals{};  ///< kImmediate over verbs: shared by the executors of a node
  bool relaxed_ordering = false;                  ///< over verbs: for exposed memory
  std::uint32_t inline_bytes = 0;                 ///< over verbs: writes of so many bytes travel in the work request
  std::shared_ptr<VerbsDevice> device{};          ///< for verbs; shared by the executors of a node

  NodeId NodeOf(ExecutorId of) const { return NodeId{Value(of) / executors_per_node}; }
};

}  // namespace glaive::rdma
