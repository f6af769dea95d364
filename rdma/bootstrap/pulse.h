// Pulse: decides by the records of a connection whether the node at its other end is lost, and when to send it a sign
// of life. Unauthenticated bytes are no sign of life (frame_seal.h). A process that is stopped has its connections open
// and answers nothing.
//
// One for each connection, used by its owner. Only time in which this node polled counts as silence: each poll first
// reads the bytes that have arrived, then adds at most a quarter of the time-out. A node that did not run for a while,
// or that was stopped, reads before it decides. The other nodes may have lost it meanwhile: see absence().
//
//   Pulse pulse(absl::Seconds(5), now_ns);
//   Receive();
//   if (pulse.Lost(records, now_ns)) ...
//   if (pulse.Due(now_ns)) Send(heartbeat);
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace glaive::rdma {

class Pulse {
 public:
  /// `peer_timeout`: the silence that means death; zero: none does.
  Pulse(absl::Duration peer_timeout, std::int64_t now_ns)
      : timeout_ns_(absl::ToInt64Nanoseconds(peer_timeout)), polled_ns_(now_ns), next_beat_ns_(now_ns) {}

  /// Whether the other end has to hear from this one. True about five times in a time-out.
  bool Due(std::int64_t now_ns);

  /// Whether nothing has come for the time-out; `records` counts all that ever came.
  bool Lost(std::uint64_t records, std::int64_t now_ns);

  /// The time between the last two polls, if that is the time-out or more: the other end may count this node as lost
  /// since then. Else zero.
  absl::Duration absence() const { return absl::Nanoseconds(absence_ns_); }

  absl::Duration peer_timeout() const { return absl::Nanoseconds(timeout_ns_); }

  /// How often to poll.
  static absl::Duration PollInterval(absl::Duration peer_timeout);

 private:
  std::int64_t timeout_ns_;
  std::int64_t polled_ns_;
  std::int64_t silence_ns_ = 0;
  std::int64_t absence_ns_ = 0;
  std::int64_t next_beat_ns_;
  std::uint64_t records_ = 0;
};

}  // namespace glaive::rdma
