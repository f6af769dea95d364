// MessageProbes: one message of the greatest size through each queue pair of a transport, before any other.
//
// Connections are made with small packets, so a path that drops large ones looks like a good path until the first full
// message (an MTU black hole). A probe is a slot of zeros, written into the first slot of a ring that is zeroed and not
// in use yet. So it changes nothing, and a receiver that polls the ring, or waits for immediate values, does not see
// it. A completion means that the peer's device has acknowledged all packets. Over iWARP it means only that TCP has
// taken them.
//
//   MessageProbes probes;
//   probes.Add({.queue_pair = qp, .node = NodeId{1}, .region = region, .offset = ring_offset});
//   absl::StatusOr<std::optional<NodeId>> missing = probes.Poll(transport, zeros, key);  // until it has no value
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/transport/transport.h"

namespace glaive::rdma {

/// See the head of this file. Used by the thread that sets the mesh up.
class MessageProbes {
 public:
  struct Probe {
    QueuePair* queue_pair = nullptr;  ///< connected, and without other writes
    NodeId node{};                    ///< at its other end
    RemoteRegion region;
    std::uint64_t offset = 0;  ///< of zeroed memory in it, of a slot at least
  };

  void Add(const Probe& probe) { probes_.push_back(probe); }

  /// Sends `zeros`, which `key` names, through each queue pair. The node of a probe that has not arrived yet; none when
  /// all have. Unavailable names the node that a probe did not reach, and the MTU as the likely cause if it may have
  /// been lost on the way; another error is the transport's own. Once all have arrived it leaves the transport alone.
  absl::StatusOr<std::optional<NodeId>> Poll(Transport& transport, std::span<const std::byte> zeros, LocalKey key);

 private:
  absl::Status DidNotArrive(Transport& transport, NodeId node, std::size_t size_bytes) const;

  std::vector<Probe> probes_;
  std::size_t posted_ = 0;          // those before it
  std::vector<bool> have_arrived_;  // by probe
  std::size_t first_missing_ = 0;
};

}  // namespace glaive::rdma
