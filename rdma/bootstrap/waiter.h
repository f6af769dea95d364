// Waiter: the one place of the bootstrap where a thread sleeps. Waits in poll(2) for sockets, a deadline, the user's
// interrupt and the caller's watches, whichever comes first.
//
// Owned by one thread. Wakes up about every 50 ms to ask the watches.
//
//   std::vector<pollfd> fds = {{.fd = socket, .events = POLLIN}};
//   if (absl::Status status = waiter.Wait(fds, deadline_ns); !status.ok()) return status;
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "rdma/base/clock.h"
#include "rdma/base/watch.h"
#include "rdma/bootstrap/connection.h"

namespace glaive::rdma {

/// How long a node that ends a run waits for its peers to have read why.
inline constexpr absl::Duration kPartingTimeout = absl::Milliseconds(500);

class Waiter {
 public:
  /// `interrupt_fd` and `watch` as in BootstrapOptions. `clock` must outlive the waiter.
  Waiter(int interrupt_fd, Watch watch, const Clock& clock)
      : interrupt_fd_(interrupt_fd), watch_(std::move(watch)), clock_(&clock) {}

  std::int64_t NowNanos() const { return clock_->NowNanos(); }
  /// The time `timeout` from now, by the clock; far away for an infinite one.
  std::int64_t DeadlineIn(absl::Duration timeout) const;

  /// Returns OK as soon as one of `fds` has an event, or after a while without any: poll, and call again. Errors:
  /// kDeadlineExceeded at the deadline, kCancelled when the interrupt is readable, or what a watch returned. They
  /// are asked when no socket has anything, so that what a node says of its end goes before the end itself, or
  /// when it has not been asked for half a second.
  absl::Status Wait(std::vector<pollfd>& fds, std::int64_t deadline_ns);

  /// From now on this is asked as well as the caller's watch, in place of the one before.
  void WatchAlso(Watch watch) { second_watch_ = std::move(watch); }
  /// From now on only the sockets, the deadline and an interrupt that has not come yet count.
  void DropWatch();
  /// One whose waits only the sockets and the deadline end.
  Waiter Uninterrupted() const { return {/*interrupt_fd=*/-1, /*watch=*/GoOn, *clock_}; }

  /// Parting: sends `frame` to all, says that nothing will follow, and reads until each peer has closed or `patience`
  /// is over. A socket that is closed with something unread in it takes the peer's unread messages along.
  /// Not ended by the interrupt.
  void PartFrom(const std::vector<Connection*>& connections, const std::shared_ptr<const std::string>& frame,
                absl::Duration patience);

 private:
  int interrupt_fd_;
  Watch watch_;
  Watch second_watch_ = GoOn;
  const Clock* clock_;
  std::int64_t next_watch_ns_ = 0;  // then it is asked also beside busy sockets
};

/// What poll(2) is to wait for at a connection.
pollfd PollEntry(const Connection& connection);

}  // namespace glaive::rdma
