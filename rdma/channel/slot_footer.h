// SlotFooter: the last 64 bytes of a slot. They describe and check the message before them.
//
// A message of any length lies at its slot's end, so the footer always is in the same place:
//
//   | unused (stale)  | payload | padding to 64 | footer |
//   ^ slot start      ^ slot_end - MessageBytes(payload_bytes)
//
//   offset size  field
//        0    8  message_number    1, 2, 3 ... on this ring
//        8    8  payload_checksum  0 when off
//       16   24  tag               the upper layer's
//       40    4  payload_bytes     without the padding
//       44    4  ring_token        which run, source and destination
//       48    4  footer_checksum   over the footer with this field zero
//       52   11  reserved          zero
//       63    1  lap               1 .. 255, polled
//
// The lap byte counts rounds of the ring, (round mod 255) + 1: it never is 0 (what a fresh slot holds) and always
// differs from the round before, so a slot need not be cleared between messages. It is the last byte of the message
// (paper section 6.3): where bytes are placed in order, the slot shows the round before until the message is whole.
// Little-endian, as all hosts of a run are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "rdma/channel/message_tag.h"

namespace glaive::rdma {

/// See the byte table at the head of this file.
struct SlotFooter {
  std::uint64_t message_number = 0;
  std::uint64_t payload_checksum = 0;
  MessageTag tag;
  std::uint32_t payload_bytes = 0;
  std::uint32_t ring_token = 0;
  std::uint32_t footer_checksum = 0;
  std::array<std::uint8_t, 11> reserved{};
  std::uint8_t lap = 0;
};

inline constexpr std::uint32_t kFooterBytes = 64;

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(SlotFooter) == kFooterBytes);
static_assert(offsetof(SlotFooter, message_number) == 0);
static_assert(offsetof(SlotFooter, payload_checksum) == 8);
static_assert(offsetof(SlotFooter, tag) == 16);
static_assert(offsetof(SlotFooter, payload_bytes) == 40);
static_assert(offsetof(SlotFooter, ring_token) == 44);
static_assert(offsetof(SlotFooter, footer_checksum) == 48);
static_assert(offsetof(SlotFooter, reserved) == 52);
static_assert(offsetof(SlotFooter, lap) == 63);

/// Payload rounded up to whole cache lines.
constexpr std::uint32_t PaddedBytes(std::uint32_t payload_bytes) { return (payload_bytes + 63) / 64 * 64; }

/// Bytes a message takes on the wire and in its slot.
constexpr std::uint32_t MessageBytes(std::uint32_t payload_bytes) { return PaddedBytes(payload_bytes) + kFooterBytes; }

/// The lap byte of message `number` (from 1) on a ring of `credits` slots.
constexpr std::uint8_t LapOf(std::uint64_t number, std::uint32_t credits) {
  return static_cast<std::uint8_t>((number - 1) / credits % 255 + 1);
}

/// What the slot of message `number` shows until that message has arrived: 0 in the first round.
constexpr std::uint8_t LapBefore(std::uint64_t number, std::uint32_t credits) {
  return number <= credits ? std::uint8_t{0} : LapOf(number - credits, credits);
}

}  // namespace glaive::rdma
