// ChannelOptions: the slots of a ring: their size, their number and their checksums. Both ends have the same options.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace glaive::rdma {

/// Payload checksums are on by default where assertions are.
#ifdef NDEBUG
inline constexpr bool kChecksumPayloadByDefault = false;
#else
inline constexpr bool kChecksumPayloadByDefault = true;
#endif

/// See the head of this file.
struct ChannelOptions {
  static constexpr std::uint32_t kMinCredits = 2;
  static constexpr std::uint32_t kMaxCredits = 4096;

  std::uint32_t slot_bytes = 64 * 1024;  ///< payload, padding and footer of one message; a multiple of 64, at least 256
  std::uint32_t credits = 8;             ///< slots of the ring, 2 .. 4096 (c in the paper)
  bool checksum_payload = kChecksumPayloadByDefault;  ///< hash the payload when sent, compare when received
  std::uint32_t signal_interval = 0;  ///< ask for a completion every so many messages; 0: as suits the transport

  /// Bytes of one ring.
  std::size_t ring_bytes() const { return std::size_t{slot_bytes} * credits; }

  /// InvalidArgument names the setting that is out of range, and the range.
  absl::Status Validate() const;
};

}  // namespace glaive::rdma
