#include "rdma/bootstrap/pulse.h"

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace glaive::rdma {
namespace {

constexpr std::int64_t kBeatsPerTimeout = 5;
constexpr std::int64_t kLooksPerTimeout = 20;
constexpr std::int64_t kFewestSilentLooks = 4;

}  // namespace

bool Pulse::Due(std::int64_t now_ns) {
  if (timeout_ns_ == 0 || now_ns < next_beat_ns_) return false;
  next_beat_ns_ = now_ns + timeout_ns_ / kBeatsPerTimeout;
  return true;
}

bool Pulse::Lost(std::uint64_t received_bytes, std::int64_t now_ns) {
  const std::int64_t unseen_ns = now_ns - looked_ns_;
  absence_ns_ = timeout_ns_ != 0 && unseen_ns >= timeout_ns_ ? unseen_ns : 0;
  if (received_bytes != received_bytes_) {
    received_bytes_ = received_bytes;
    silence_ns_ = 0;
  } else {
    silence_ns_ += std::min(unseen_ns, timeout_ns_ / kFewestSilentLooks);
  }
  looked_ns_ = now_ns;
  return timeout_ns_ != 0 && silence_ns_ >= timeout_ns_;
}

absl::Duration Pulse::LookInterval(absl::Duration peer_timeout) {
  return std::clamp(peer_timeout / kLooksPerTimeout, absl::Milliseconds(5), absl::Milliseconds(250));
}

}  // namespace glaive::rdma
