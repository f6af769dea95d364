#include "rdma/verbs/connection_settings.h"

namespace glaive::rdma {
namespace {

constexpr std::int64_t kUnitNanos = 4'096;
constexpr std::int64_t kSlowestDevice = 4;  // the most that a device waits, in ACK timeouts

}  // namespace

absl::Duration AckTimeout(std::uint8_t exponent) { return absl::Nanoseconds(kUnitNanos << exponent); }

std::uint8_t AckTimeoutExponent(absl::Duration peer_timeout) {
  std::uint8_t exponent = kDefaultAckTimeoutExponent;
  while (exponent > 1 && (kRetries + 1) * kSlowestDevice * AckTimeout(exponent) > peer_timeout) --exponent;
  return exponent;
}

}  // namespace glaive::rdma
