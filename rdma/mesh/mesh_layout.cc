#include "rdma/mesh/mesh_layout.h"

#include "rdma/base/check.h"

namespace glaive::rdma {

MeshLayout::MeshLayout(const MeshOptions& options, std::size_t ring_bytes, ExecutorId owner, TransportKind kind)
    : owner_(Value(owner)), places_(options.executor_count, kNoPlace), ring_bytes_(ring_bytes) {
  for (std::uint32_t id = 0; id < options.executor_count; ++id) {
    const ExecutorId peer{id};
    if (peer != owner && options.KindBetween(owner, peer) == kind) places_[id] = peers_++;
  }
}

std::uint32_t MeshLayout::IndexOf(ExecutorId peer) const {
  const std::uint32_t id = Value(peer);
  GLAIVE_CHECK(id < places_.size() && places_[id] != kNoPlace, "executor ", id,
               " has no place in the memory of executor ", owner_);
  return places_[id];
}

std::size_t MeshLayout::RingsOffset() const {
  return (peers_ * kCreditStride + kRingAlignment - 1) / kRingAlignment * kRingAlignment;
}

std::size_t MeshLayout::size_bytes() const { return peers_ == 0 ? 0 : RingsOffset() + peers_ * ring_bytes_; }

}  // namespace glaive::rdma
