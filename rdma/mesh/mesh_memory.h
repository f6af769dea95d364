// ArrivalMemoryBytes: the memory that the channels of an executor need beside rings and send segments, for the memory
// plan.
//
//   std::uint64_t bytes = ArrivalMemoryBytes(options);  // credit words and arrival queues
//
// Memory of the device's driver (queue pairs, completion queues, receives) is not counted.
#pragma once

#include <cstdint>

#include "rdma/mesh/mesh_options.h"

namespace glaive::rdma {

/// Immediate values that may wait for `options.self` over `kind`: of each peer `credits` messages and as many returns
/// of credits.
std::uint32_t MostArrivals(const MeshOptions& options, std::uint32_t credits, TransportKind kind);

/// Of the executor `options.self`, whose rings have `options.channel.credits` slots: the words that peers return
/// credits in, and the queues in memory of immediate values, over all kinds; with Arrival::kChecksum over verbs also
/// the slot that messages may be copied to. Costs time in proportion to the executors.
std::uint64_t ArrivalMemoryBytes(const MeshOptions& options);

}  // namespace glaive::rdma
