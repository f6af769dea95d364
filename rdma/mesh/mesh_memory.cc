#include "rdma/mesh/mesh_memory.h"

#include "rdma/mesh/mesh_layout.h"
#include "rdma/transport/arrival_queue.h"

namespace glaive::rdma {

std::uint32_t MostArrivals(const MeshOptions& options, std::uint32_t credits, TransportKind kind) {
  return options.ExecutorsReachedOver(kind) * credits * 2;
}

std::uint64_t ArrivalMemoryBytes(const MeshOptions& options) {
  std::uint64_t bytes = 0;
  for (const TransportKind kind : options.Kinds()) {
    const MeshLayout layout(options, options.channel.ring_bytes(), options.self, kind);
    if (layout.peers() == 0) continue;
    bytes += layout.RingsOffset();
    const bool has_queue = kind != TransportKind::kVerbs || options.arrival == Arrival::kImmediate;
    if (!has_queue) bytes += options.channel.slot_bytes;
    if (has_queue) bytes += ArrivalQueue::BytesFor(MostArrivals(options, options.channel.credits, kind));
  }
  return bytes;
}

}  // namespace glaive::rdma
