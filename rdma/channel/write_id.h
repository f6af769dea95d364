// WriteId: the wr_id of a channel's write. By it a completion finds its sender, although channels share queue pairs and
// completion queues.
//
//   bits 63..48  channel: the sender's place in its mesh
//   bits 47..0   message number (2^48 messages of a ring last for years), or 0 for a return of credits
#pragma once

#include <cstdint>

namespace glaive::rdma {

/// See the bit table at the head of this file.
struct WriteId {
  static constexpr std::uint32_t kNumberBits = 48;
  static constexpr std::uint64_t kCredit = 0;
  static constexpr std::uint64_t kMaxNumber = (std::uint64_t{1} << kNumberBits) - 1;

  std::uint16_t channel = 0;
  std::uint64_t number = 0;

  constexpr std::uint64_t Pack() const { return std::uint64_t{channel} << kNumberBits | number; }
  static constexpr WriteId Unpack(std::uint64_t wr_id) {
    return {static_cast<std::uint16_t>(wr_id >> kNumberBits), wr_id & kMaxNumber};
  }
  bool operator==(const WriteId&) const = default;
};

}  // namespace glaive::rdma
