#include "rdma/bootstrap/dialer.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/base/address.h"
#include "rdma/base/exhaustion.h"
#include "rdma/bootstrap/reminder.h"

namespace glaive::rdma {
namespace {

constexpr absl::Duration kRetryInterval = absl::Milliseconds(100);
constexpr absl::Duration kAttemptTimeout = absl::Seconds(5);

// Waits until `fd` has an event or `deadline_ns`; OK in both cases. Errors are those that end the whole wait.
absl::Status WaitUntil(std::vector<pollfd> fds, std::int64_t deadline_ns, Waiter& waiter) {
  while (true) {
    absl::Status status = waiter.Wait(fds, deadline_ns);
    if (absl::IsDeadlineExceeded(status)) return absl::OkStatus();
    if (!status.ok()) return status;
    for (const pollfd& entry : fds) {
      if (entry.revents != 0) return absl::OkStatus();
    }
  }
}

// A port of the ephemeral range where nobody listens can connect to itself.
bool ConnectedToItself(int fd) {
  const SocketAddress local = LocalAddress(fd);
  const SocketAddress peer = PeerAddress(fd);
  return local.length == peer.length && std::memcmp(&local.storage, &peer.storage, local.length) == 0;
}

struct Attempt {
  UniqueFd fd;  // valid: connected
  std::string error;
  bool is_permanent = false;  // no later attempt can end otherwise
};

// The system refuses the address itself: its family, a link-local one without an interface, a broadcast address.
bool IsPermanent(int error) { return error == EAFNOSUPPORT || error == EINVAL || error == EACCES; }

absl::StatusOr<Attempt> TryConnect(const SocketAddress& address, std::int64_t deadline_ns, Waiter& waiter) {
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = fd.valid() ? 0 : errno;
  if (error != 0) return Attempt{.fd = {}, .error = ErrorText(error), .is_permanent = IsPermanent(error)};
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) {
    error = errno;
    if (error == EINPROGRESS || error == EINTR) {
      if (absl::Status status = WaitUntil({{.fd = fd.get(), .events = POLLOUT, .revents = 0}}, deadline_ns, waiter);
          !status.ok()) {
        return status;
      }
      socklen_t length = sizeof(error);
      error = 0;
      if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
      if (error == 0 && PeerAddress(fd.get()).length == 0) error = ETIMEDOUT;
    }
  }
  if (error == 0 && ConnectedToItself(fd.get())) error = ECONNREFUSED;
  if (error != 0) return Attempt{.fd = {}, .error = ::strerrordesc_np(error), .is_permanent = IsPermanent(error)};
  return Attempt{.fd = std::move(fd), .error = {}};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Dial(const std::string& address, absl::Duration timeout,
                                                 const std::function<void(const std::string&)>& log, Waiter& waiter) {
  const absl::StatusOr<HostPort> where = ParseHostPort(address);
  if (!where.ok()) return where.status();
  if (where->port == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", address, "' has port 0; write the coordinator's real port"));
  }
  const std::int64_t deadline_ns = waiter.DeadlineIn(timeout);
  Reminder reminder(waiter.NowNanos());
  std::string last_error;
  do {
    const absl::StatusOr<std::vector<SocketAddress>> addresses = ResolveAddress(where->host, where->port);
    if (absl::IsInvalidArgument(addresses.status())) return addresses.status();
    if (!addresses.ok()) {
      last_error = std::string(addresses.status().message());
    } else {
      bool may_pass = false;
      for (const SocketAddress& candidate : *addresses) {
        const std::int64_t attempt_ns = std::min(deadline_ns, waiter.DeadlineIn(kAttemptTimeout));
        absl::StatusOr<Attempt> attempt = TryConnect(candidate, attempt_ns, waiter);
        if (!attempt.ok()) return attempt.status();
        if (attempt->fd.valid()) {
          return std::make_unique<Connection>(std::move(attempt->fd), FormatAddress(candidate), kStrangerLimits);
        }
        last_error = attempt->error;
        may_pass = may_pass || !attempt->is_permanent;
      }
      if (!may_pass) {
        return absl::InvalidArgumentError(absl::StrCat("this host cannot connect to ", address, ": ", last_error,
                                                       "; write another address of rank 0's host (--coordinator)"));
      }
    }
    if (log && reminder.Due(waiter.NowNanos())) {
      log(absl::StrCat("calls the coordinator at ", address, " (", last_error, "), for at most ",
                       absl::FormatDuration(timeout)));
    }
    const std::int64_t pause_ns = std::min(deadline_ns, waiter.DeadlineIn(kRetryInterval));
    if (absl::Status status = WaitUntil({}, pause_ns, waiter); !status.ok()) return status;
  } while (waiter.DeadlineIn(absl::ZeroDuration()) < deadline_ns);
  return absl::DeadlineExceededError(absl::StrCat("found no coordinator at ", address, " within ",
                                                  absl::FormatDuration(timeout), " (", last_error,
                                                  "); start rank 0 there, or raise --join-timeout"));
}

}  // namespace glaive::rdma
