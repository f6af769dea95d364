#include "rdma/bootstrap/attended_plane.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/exhaustion.h"
#include "rdma/bootstrap/pulse.h"

namespace glaive::rdma {
namespace {

/// The longest time between two polls of the thread. A poll notices an interrupt, and that an end is overdue, so the
/// time-out of peers must not stretch the interval.
constexpr absl::Duration kLongestInterval = absl::Milliseconds(50);

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPlane>> AttendedPlane::Create(std::unique_ptr<ControlPlane> plane,
                                                                    const BootstrapOptions& options,
                                                                    const Clock& clock) {
  std::unique_ptr<AttendedPlane> attended(new AttendedPlane(std::move(plane), options, clock));
  absl::Status started = CatchExhaustion([&attended] {
    attended->thread_ = std::thread([plane = attended.get()] { plane->Attend(); });
    return absl::OkStatus();
  });
  if (!started.ok()) {
    attended->Abort(started);
    return started;
  }
  return attended;
}

AttendedPlane::AttendedPlane(std::unique_ptr<ControlPlane> plane, const BootstrapOptions& options, const Clock& clock)
    : ControlPlane(plane->rank(), plane->run_token(), plane->run_key(), plane->members(), plane->local_address()),
      plane_(std::move(plane)),
      overdue_(options.overdue),
      interval_(std::min(Pulse::PollInterval(options.peer_timeout), kLongestInterval)),
      interrupt_fd_(options.interrupt_fd),
      clock_(&clock) {}

AttendedPlane::~AttendedPlane() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::vector<std::string>> AttendedPlane::AllGather(std::string_view phase, std::string mine,
                                                                  absl::Duration timeout) {
  const std::lock_guard lock(plane_mutex_);
  absl::StatusOr<std::vector<std::string>> all = plane_->AllGather(phase, std::move(mine), timeout);
  Note(all.status());
  return all;
}

absl::Status AttendedPlane::AllAgree(std::string_view phase) {
  const std::lock_guard lock(plane_mutex_);
  absl::Status agreed = plane_->AllAgree(phase);
  Note(agreed);
  return agreed;
}

void AttendedPlane::WatchAlso(Watch watch) {
  const std::lock_guard lock(plane_mutex_);
  plane_->WatchAlso(std::move(watch));
}

std::optional<absl::Status> AttendedPlane::PollFailure() {
  const std::lock_guard lock(plane_mutex_);
  std::optional<absl::Status> failure = plane_->PollFailure();
  Note(failure.value_or(absl::OkStatus()));
  return failure;
}

void AttendedPlane::Abort(const absl::Status& reason) {
  Note(reason);
  const std::lock_guard lock(plane_mutex_);
  plane_->Abort(reason);
}

absl::Status AttendedPlane::Leave(absl::Duration grace) {
  const std::lock_guard lock(plane_mutex_);
  return plane_->Leave(grace);
}

void AttendedPlane::Note(const absl::Status& failure) {
  if (failure.ok()) return;
  const std::lock_guard lock(mutex_);
  Reason& reason = IsInterrupted(failure) ? interrupt_ : failure_;
  if (reason.status.ok()) reason = {.status = failure, .since_ns = clock_->NowNanos()};
}

void AttendedPlane::Attend() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, absl::ToChronoNanoseconds(interval_), [this] { return stopped_; })) {
    lock.unlock();
    (void)CatchExhaustion([this] {  // a poll for which there is no memory is left out
      Poll();
      return absl::OkStatus();
    });
    EndIfOverdue();
    lock.lock();
  }
}

void AttendedPlane::Poll() {
  if (const std::unique_lock lock(plane_mutex_, std::try_to_lock); lock.owns_lock()) {  // else a call is polling itself
    Note(plane_->PollFailure().value_or(absl::OkStatus()));
  }
  pollfd interrupt{.fd = interrupt_fd_, .events = POLLIN, .revents = 0};
  if (::poll(&interrupt, 1, 0) > 0) Note(Interrupted());
}

// Not under a lock: the owner may be in a call of the plane that takes too long.
void AttendedPlane::EndIfOverdue() {
  for (Reason* const reason : {&failure_, &interrupt_}) {  // a failure first: it says more
    absl::Status status;
    {
      const std::lock_guard lock(mutex_);
      const bool is_overdue = clock_->NowNanos() - reason->since_ns >= absl::ToInt64Nanoseconds(kFailureGrace);
      if (is_overdue && !reason->is_dealt_with) status = reason->status;
    }
    if (!status.ok() && overdue_ && overdue_(status)) {
      const std::lock_guard lock(mutex_);
      reason->is_dealt_with = true;
    }
  }
}

}  // namespace glaive::rdma
