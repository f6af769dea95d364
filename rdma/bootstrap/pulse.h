// Pulse: whether the node at the other end of a connection is still alive, told by what comes from it, and when it is
// to hear from this one. A process that is stopped keeps its connections open and answers nothing.
//
// One for each connection, used by its owner. Only time in which this node looked counts as silence: each look adds at
// most a quarter of the time-out, after what has arrived was read. A node that was itself kept from running, or that
// wakes up after a stop, hears before it judges. The others may have lost it meanwhile: see absence().
//
//   Pulse pulse(absl::Seconds(5), now_ns);
//   Receive();
//   if (pulse.Lost(received_bytes, now_ns)) ...
//   if (pulse.Due(now_ns)) Send(heartbeat);
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace glaive::rdma {

class Pulse {
 public:
  /// `peer_timeout`: the silence that means death; zero: none does.
  Pulse(absl::Duration peer_timeout, std::int64_t now_ns)
      : timeout_ns_(absl::ToInt64Nanoseconds(peer_timeout)), looked_ns_(now_ns), next_beat_ns_(now_ns) {}

  /// Whether the other end has to hear from this one. True about five times in a time-out.
  bool Due(std::int64_t now_ns);

  /// Whether nothing has come for the time-out; `received_bytes` counts all that ever came.
  bool Lost(std::uint64_t received_bytes, std::int64_t now_ns);

  /// How long this node had not looked when it looked last, if that is the time-out or more: the other end may count it
  /// as lost since then. Else zero.
  absl::Duration absence() const { return absl::Nanoseconds(absence_ns_); }

  absl::Duration peer_timeout() const { return absl::Nanoseconds(timeout_ns_); }

  /// How often to look.
  static absl::Duration LookInterval(absl::Duration peer_timeout);

 private:
  std::int64_t timeout_ns_;
  std::int64_t looked_ns_;
  std::int64_t silence_ns_ = 0;
  std::int64_t absence_ns_ = 0;
  std::int64_t next_beat_ns_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace glaive::rdma
