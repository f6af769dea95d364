#include "rdma/mesh/mesh_layout.h"

#include "rdma/base/check.h"

namespace glaive::rdma {

MeshLayout::MeshLayout(const MeshOptions& options, std::size_t ring_bytes, ExecutorId owner, TransportKind kind)
    : shared_kind_(options.intra == options.inter),
      inter_(kind == options.inter),
      executors_per_node_(options.executors_per_node),
      owner_(Value(owner)),
      ring_bytes_(ring_bytes) {
  GLAIVE_CHECK(inter_ || kind == options.intra, "transport ", Name(kind), " is not in use");
  if (shared_kind_) {
    peers_ = options.executor_count - 1;
  } else {
    peers_ = inter_ ? options.executor_count - executors_per_node_ : executors_per_node_ - 1;
  }
}

std::uint32_t MeshLayout::IndexOf(ExecutorId peer) const {
  const std::uint32_t id = Value(peer);
  const std::uint32_t first_of_node = owner_ / executors_per_node_ * executors_per_node_;
  std::uint32_t index = 0;
  if (shared_kind_) {
    index = id < owner_ ? id : id - 1;
  } else if (inter_) {
    index = id < first_of_node ? id : id - executors_per_node_;
  } else {
    index = id < owner_ ? id - first_of_node : id - first_of_node - 1;
  }
  GLAIVE_CHECK(id != owner_ && index < peers_, "executor ", id, " has no place in the memory of executor ", owner_);
  return index;
}

std::size_t MeshLayout::RingsOffset() const {
  return (peers_ * kCreditStride + kRingAlignment - 1) / kRingAlignment * kRingAlignment;
}

std::size_t MeshLayout::size_bytes() const { return peers_ == 0 ? 0 : RingsOffset() + peers_ * ring_bytes_; }

}  // namespace glaive::rdma
