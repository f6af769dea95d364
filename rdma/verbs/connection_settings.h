// ConnectionSettings: the time-outs and the traffic class of a node's connections.
//
// Plain values, the same for all queue pairs of a device; filled from --join-timeout, --peer-timeout and --rdma-tos.
//
//   ConnectionSettings settings{.peer_timeout = absl::Seconds(1)};
//   std::uint8_t exponent = AckTimeoutExponent(settings.peer_timeout);  // 13: 33.6 ms
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace glaive::rdma {

/// See the head of this file.
struct ConnectionSettings {
  absl::Duration join_timeout = absl::Seconds(60);  ///< failed attempts to connect are repeated for that long
  absl::Duration peer_timeout = absl::Seconds(5);   ///< all retries of a write fit in it
  std::optional<std::uint8_t> tos{};                ///< traffic class (RFC 2474) of all packets; none: the system's
};

/// Retries of a write that is not acknowledged. A queue pair can be given 7 at most, which Soft-RoCE takes as endless
/// (Linux, drivers/infiniband/sw/rxe/rxe_comp.c).
inline constexpr std::uint8_t kRetries = 6;

/// What a queue pair's ACK timeout is when the peer timeout leaves enough time: 67.1 ms.
inline constexpr std::uint8_t kDefaultAckTimeoutExponent = 14;

/// A queue pair sends a write again when 4.096 us * 2^exponent have passed without an acknowledgement
/// (rdma_set_option(3), RDMA_OPTION_ID_ACK_TIMEOUT). A device may wait up to four times as long (InfiniBand
/// Architecture Specification, volume 1, section 9.7.6.1.3), and does so for the first attempt and each retry.
absl::Duration AckTimeout(std::uint8_t exponent);

/// The greatest exponent, at most kDefaultAckTimeoutExponent, with which the first attempt and all retries end within
/// `peer_timeout` on any device. At least 1: 0 is an endless wait.
/// A peer whose receives are used up delays a write without limit (its device answers RNR NAK, and rnr_retry_count 7
/// means endless). That is no loss: the bootstrap connection notices a process that never posts receives again.
std::uint8_t AckTimeoutExponent(absl::Duration peer_timeout);

}  // namespace glaive::rdma
