// The reader and the writer of bench/write_order: messages whose every byte is the number of their lap, written into
// the slots of a ring, and a check of all their cache lines at the moment the last byte has changed.
//
// Slot and lap follow from a message's number, as on a channel: kSlots messages make a lap, and laps count 1 .. 255 and
// again. A line that still shows an older lap was placed after the last byte: it is early to believe the last byte.
//
//   const OrderFault fault = CheckMessage(slot, LapOfMessage(number));
//   if (fault.late_lines > 0) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rdma/transport/queue_pair.h"

namespace glaive::bench {

inline constexpr std::uint32_t kOrderSlots = 8;
inline constexpr std::size_t kLineBytes = 64;

/// The value of all bytes of message `number`, from 0 on.
constexpr std::uint8_t LapOfMessage(std::uint64_t number) {
  return static_cast<std::uint8_t>(number / kOrderSlots % 255 + 1);
}

/// What was found of one message.
struct OrderFault {
  std::uint64_t late_lines = 0;      ///< lines with a byte that is not yet the lap's
  std::uint64_t farthest_bytes = 0;  ///< from the message's end to the start of the earliest of them
};

/// Whether the message's last byte shows the lap.
bool HasArrived(std::span<const std::byte> message, std::uint8_t lap);

/// Checks the lines of a message that has just arrived, the last ones first: these have had the least time.
OrderFault CheckMessage(std::span<const std::byte> message, std::uint8_t lap);

/// A queue pair that places bytes out of order on purpose: it copies a write's last line first and the first one last,
/// and lets others run in between. To see that the check finds what it is for. Remote addresses are addresses here.
class BackwardsQueuePair final : public rdma::QueuePair {
 public:
  bool TryPostWrite(const rdma::WriteRequest& request) override;
};

}  // namespace glaive::bench
