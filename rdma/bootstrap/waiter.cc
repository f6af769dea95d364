#include "rdma/bootstrap/waiter.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/control_plane.h"

namespace glaive::rdma {
namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;
constexpr std::int64_t kTickMillis = 50;
constexpr absl::Duration kLongestUnwatched = absl::Milliseconds(500);

}  // namespace

std::int64_t Waiter::DeadlineIn(absl::Duration timeout) const {
  const std::int64_t now_ns = clock_->NowNanos();
  const std::int64_t timeout_ns = absl::ToInt64Nanoseconds(timeout);
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  return timeout_ns > kNever - now_ns ? kNever : now_ns + timeout_ns;
}

absl::Status Waiter::Wait(std::vector<pollfd>& fds, std::int64_t deadline_ns) {
  const std::int64_t left_ns = deadline_ns - clock_->NowNanos();
  if (left_ns <= 0) return absl::DeadlineExceededError("the time is up");
  const std::int64_t left_ms = left_ns / kNanosPerMilli + 1;
  // The interrupt comes first, so that the caller's entries stay where they are.
  std::vector<pollfd> all;
  all.reserve(fds.size() + 1);
  all.push_back({.fd = interrupt_fd_, .events = POLLIN, .revents = 0});
  all.insert(all.end(), fds.begin(), fds.end());
  (void)::poll(all.data(), all.size(), static_cast<int>(std::min(left_ms, kTickMillis)));
  std::copy(all.begin() + 1, all.end(), fds.begin());
  if (all.front().revents != 0) return Interrupted();
  const bool quiet = std::all_of(fds.begin(), fds.end(), [](const pollfd& entry) { return entry.revents == 0; });
  if (!quiet && clock_->NowNanos() < next_watch_ns_) return absl::OkStatus();
  next_watch_ns_ = DeadlineIn(kLongestUnwatched);
  absl::Status status = watch_();
  status.Update(second_watch_());
  return status;
}

void Waiter::DropWatch() {
  watch_ = second_watch_ = GoOn;
  pollfd interrupt{.fd = interrupt_fd_, .events = POLLIN, .revents = 0};
  if (::poll(&interrupt, 1, 0) > 0) interrupt_fd_ = -1;
}

void Waiter::PartFrom(const std::vector<Connection*>& connections, const std::shared_ptr<const std::string>& frame,
                      absl::Duration patience) {
  const std::int64_t deadline_ns = DeadlineIn(patience);
  std::vector<Connection*> open = connections;
  if (frame != nullptr) {
    for (Connection* connection : open) connection->Send(frame);
  }
  std::vector<Connection*> unsaid = open;  // those that have not been told that nothing follows
  Waiter patient = Uninterrupted();
  while (true) {
    std::erase_if(unsaid, [](Connection* connection) {
      if (connection->wants_write()) return false;
      connection->ShutdownWrite();
      return true;
    });
    std::erase_if(open, [](const Connection* connection) { return connection->ended(); });
    if (open.empty()) return;
    std::vector<pollfd> fds;
    for (const Connection* connection : open) fds.push_back(PollEntry(*connection));
    if (!patient.Wait(fds, deadline_ns).ok()) return;
    for (Connection* connection : open) {
      connection->Flush();
      connection->Receive();
      while (true) {  // nothing that comes now matters any more
        const auto message = connection->Next();
        if (!message.ok() || !message->has_value()) break;
      }
    }
  }
}

pollfd PollEntry(const Connection& connection) {
  return {.fd = connection.fd(),
          .events = static_cast<short>(POLLIN | (connection.wants_write() ? POLLOUT : 0)),
          .revents = 0};
}

}  // namespace glaive::rdma
