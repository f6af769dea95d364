// TransportOptions: what a transport of one executor needs to know. Plain values, filled by the mesh or a test.
#pragma once

#include <cstdint>
#include <memory>

#include "rdma/base/ids.h"

namespace glaive::rdma {

class VerbsDevice;

/// How a message is written over verbs; the others always copy it whole.
enum class WriteMode : std::uint8_t {
  kWhole,  ///< one WRITE: for devices that place a message in address order, as all known ones do
  kSplit,  ///< a WRITE of all but the last 64 bytes, then one of these, which queue pairs place after it
};

/// See the head of this file.
struct TransportOptions {
  NodeId node{};                     ///< of the executor
  std::uint32_t index_on_node = 0;   ///< of the executor; it shares queue pairs with its equals on other nodes
  std::uint32_t node_count = 2;      ///< of the run
  std::uint32_t queue_pairs = 1;     ///< nodes that will be connected to, at most node_count
  std::uint32_t queue_depth = 1024;  ///< writes of one queue pair that are posted and not complete
  std::uint64_t run_token = 0;       ///< the run's; queue pairs are refused to other runs
  WriteMode write_mode = WriteMode::kWhole;
  std::shared_ptr<VerbsDevice> device{};  ///< for verbs; shared by the executors of a node
};

}  // namespace glaive::rdma
