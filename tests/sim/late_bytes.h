// LateBytes: bytes of a slot's last use that are placed after the slot's next message was received, as an iWARP device
// may place a segment that was sent again (RFC 5041, section 5), and a device with PCIe relaxed ordering any write.
//
//   slot   | ......... | payload, received |  footer |
//                           ^^^^^^^^^ overwritten
//
// Only messages that are polled for, and not given back yet, meet this. What is placed is drawn: old bytes are any
// bytes.
//
//   PlaceLateBytes(network, scenario, executor);
#pragma once

#include <cstdint>

#include "engine/executor/executor.h"
#include "rdma/channel/slot_footer.h"
#include "rdma/mesh/mesh_layout.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {

inline ExecutorId DrawExecutor(Random& random, const Scenario& scenario) {
  return ExecutorId{static_cast<std::uint32_t>(random.Below(static_cast<std::uint64_t>(scenario.executor_count())))};
}

/// Over all messages that `executor`, which may be null, has received between hosts and not given back, if its node's
/// memory may be late.
inline void PlaceLateBytes(Network& network, const Scenario& scenario, engine::Executor* executor) {
  if (executor == nullptr) return;
  rdma::ExecutorMesh& mesh = executor->mesh();
  const rdma::MeshOptions& options = mesh.options();
  if (!scenario.memory_may_be_late(Value(options.NodeOf(executor->id())))) return;
  for (std::uint32_t other = 0; other < options.executor_count; ++other) {
    const ExecutorId peer{other};
    if (peer == executor->id() || options.KindTo(peer) != rdma::TransportKind::kVerbs) continue;
    const rdma::ChannelReceiver& receiver = mesh.receiver(peer);
    const std::size_t ring_bytes = mesh.channel().ring_bytes();
    for (std::uint64_t held = 0; held < receiver.held(); ++held) {
      const std::uint64_t slot = (receiver.received() - 1 - held) % mesh.channel().credits;
      const rdma::MeshLayout layout(options, ring_bytes, executor->id(), rdma::TransportKind::kVerbs);
      const std::size_t slot_bytes = mesh.channel().slot_bytes;
      network.PlaceLate(executor->id(), layout.RingOffset(peer) + slot * slot_bytes, slot_bytes - rdma::kFooterBytes);
    }
  }
}

}  // namespace glaive::sim
