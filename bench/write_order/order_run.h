// A run of bench/write_order: the writers send messages of one size after the other over all their links, and the
// reader checks each when its last byte has changed.
//
// The reader begins a size over the control plane and ends it, when its time is over, by a word in the writers' memory.
//
//   reader:  for (std::size_t size = 0; size < kOrderSizes.size(); ++size) Report(reader.Read(size, 0.5));
//   writer:  WriteAllSizes(plane, links);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/write_order/order_check.h"
#include "bench/write_order/order_link.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::bench {

inline constexpr std::array<std::uint32_t, 8> kOrderSizes = {128,   1024,  4096,   4160,
                                                             16384, 65536, 262144, kMaxMessageBytes};

using OrderLinks = std::vector<std::unique_ptr<OrderLink>>;

/// What was found of the messages of a size.
struct OrderResult {
  std::uint64_t messages = 0;
  std::uint64_t too_early = 0;  ///< messages whose last byte was seen before the rest
  OrderFault worst;
};

/// See the head of this file. Plane and links are borrowed; the links are of all writers.
class OrderReader {
 public:
  OrderReader(rdma::ControlPlane& plane, OrderLinks& links) : plane_(plane), lanes_(links.size()), links_(links) {}

  /// Reads for that long, and then what is still on its way.
  OrderResult Read(std::size_t size_index, double seconds);

 private:
  struct Lane {
    std::uint64_t checked = 0;  // messages of all sizes
    bool done = false;          // with this size
  };

  bool ReadOne(std::size_t size_index, std::size_t lane, OrderResult& result);
  void TellChecked();

  rdma::ControlPlane& plane_;
  std::vector<Lane> lanes_;
  OrderLinks& links_;
};

/// A writer's part, of all sizes.
void WriteAllSizes(rdma::ControlPlane& plane, OrderLinks& links);

}  // namespace glaive::bench
