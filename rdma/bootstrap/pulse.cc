#include "rdma/bootstrap/pulse.h"

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace glaive::rdma {
namespace {

constexpr std::int64_t kBeatsPerTimeout = 5;
constexpr std::int64_t kPollsPerTimeout = 20;
constexpr std::int64_t kFewestSilentPolls = 4;

}  // namespace

bool Pulse::Due(std::int64_t now_ns) {
  if (timeout_ns_ == 0 || now_ns < next_beat_ns_) return false;
  next_beat_ns_ = now_ns + timeout_ns_ / kBeatsPerTimeout;
  return true;
}

bool Pulse::Lost(std::uint64_t records, std::int64_t now_ns) {
  const std::int64_t unseen_ns = now_ns - polled_ns_;
  absence_ns_ = timeout_ns_ != 0 && unseen_ns >= timeout_ns_ ? unseen_ns : 0;
  if (records != records_) {
    records_ = records;
    silence_ns_ = 0;
  } else {
    silence_ns_ += std::min(unseen_ns, timeout_ns_ / kFewestSilentPolls);
  }
  polled_ns_ = now_ns;
  return timeout_ns_ != 0 && silence_ns_ >= timeout_ns_;
}

absl::Duration Pulse::PollInterval(absl::Duration peer_timeout) {
  return std::clamp(peer_timeout / kPollsPerTimeout, absl::Milliseconds(5), absl::Milliseconds(250));
}

}  // namespace glaive::rdma
