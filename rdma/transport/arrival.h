// Arrival: how a receiver notices a message, and how a sender notices credits. All channels of a transport use one way.
//
//              | where                            | a message has arrived when
//   kChecksum  | verbs, --arrival=poll            | the last byte of its slot changes, and the checksums of footer and
//              |                                  | payload are right
//   kImmediate | verbs, --arrival=imm; local, shm | an immediate value comes out of a queue of the receiver: a device's
//              |                                  | completion queue, or an ArrivalQueue in memory
//
// A receiver with kImmediate polls a queue that all its peers share, so its cost depends on the number of messages that
// arrive. One with kChecksum polls a slot of each peer.
//
// Reliable connections deliver messages in order, but a device may place their bytes in any order: with adaptive
// routing, with relaxed ordering on PCIe, or after a loss (NVIDIA, "Out-of-order data placement"; RFC 5041, section 5).
// So the last byte alone (paper section 6.2) proves nothing over verbs. A completion of a receive does: it comes in
// the order in which messages were sent, and after the bytes of all messages up to its own (InfiniBand Architecture
// Specification, volume 1, section 9.5).
#pragma once

#include <cstdint>

namespace glaive::rdma {

/// See the table at the head of this file.
enum class Arrival : std::uint8_t { kChecksum, kImmediate };

inline constexpr std::uint32_t kArrivals = 2;

/// "poll" where checksums decide, "imm" for immediate values.
constexpr const char* Name(Arrival arrival) {
  switch (arrival) {
    case Arrival::kChecksum:
      return "poll";
    case Arrival::kImmediate:
      return "imm";
  }
  return "unknown";
}

}  // namespace glaive::rdma
