// MeshLayout: the offsets in an executor's exposed memory of one transport kind. Both ends of a channel compute the
// same offsets, so they need not be sent.
//
//   offset                       size
//   0                            64 each      credit words, one per peer in the order of executor ids
//   RingsOffset(), page aligned  ring_bytes   rings, one per peer in the same order
//
// Only peers of this transport kind have a place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rdma/base/ids.h"
#include "rdma/mesh/mesh_options.h"

namespace glaive::rdma {

/// Layout of `owner`'s region for one transport kind. A value.
class MeshLayout {
 public:
  static constexpr std::size_t kCreditStride = 64;
  static constexpr std::size_t kRingAlignment = 4096;

  /// `options.self` is ignored. Costs time in proportion to the executors of the run.
  MeshLayout(const MeshOptions& options, std::size_t ring_bytes, ExecutorId owner, TransportKind kind);

  /// Peers with a place here.
  std::uint32_t peers() const { return peers_; }
  /// The place of `peer`, which must have one: 0 .. peers()-1.
  std::uint32_t IndexOf(ExecutorId peer) const;
  std::size_t CreditOffset(ExecutorId peer) const { return IndexOf(peer) * kCreditStride; }
  std::size_t RingOffset(ExecutorId peer) const { return RingsOffset() + IndexOf(peer) * ring_bytes_; }
  std::size_t RingsOffset() const;
  /// Bytes to expose; 0 without peers.
  std::size_t size_bytes() const;

 private:
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  std::uint32_t owner_;
  std::vector<std::uint32_t> places_;  // by executor
  std::uint32_t peers_ = 0;
  std::size_t ring_bytes_;
};

}  // namespace glaive::rdma
