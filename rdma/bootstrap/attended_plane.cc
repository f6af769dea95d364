#include "rdma/bootstrap/attended_plane.h"

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

#include "rdma/bootstrap/pulse.h"

namespace glaive::rdma {

AttendedPlane::AttendedPlane(std::unique_ptr<ControlPlane> plane, const BootstrapOptions& options, const Clock& clock)
    : ControlPlane(plane->rank(), plane->run_token(), plane->members()),
      plane_(std::move(plane)),
      overdue_(options.overdue),
      interval_(Pulse::LookInterval(options.peer_timeout)),
      clock_(&clock),
      thread_([this] { Attend(); }) {}

AttendedPlane::~AttendedPlane() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::StatusOr<std::vector<std::string>> AttendedPlane::AllGather(std::string_view phase, std::string mine,
                                                                  absl::Duration timeout) {
  const std::lock_guard lock(plane_mutex_);
  return plane_->AllGather(phase, std::move(mine), timeout);
}

std::optional<absl::Status> AttendedPlane::PollFailure() {
  const std::lock_guard lock(plane_mutex_);
  return plane_->PollFailure();
}

void AttendedPlane::Abort(const absl::Status& reason) {
  const std::lock_guard lock(plane_mutex_);
  plane_->Abort(reason);
}

absl::Status AttendedPlane::Leave(absl::Duration grace) {
  const std::lock_guard lock(plane_mutex_);
  return plane_->Leave(grace);
}

void AttendedPlane::Attend() {
  std::optional<std::int64_t> failed_ns;  // since when a failure is known
  std::unique_lock lock(stop_mutex_);
  while (!changed_.wait_for(lock, absl::ToChronoNanoseconds(interval_), [this] { return stopped_; })) {
    lock.unlock();
    Look(failed_ns);
    lock.lock();
  }
}

void AttendedPlane::Look(std::optional<std::int64_t>& failed_ns) {
  const std::unique_lock lock(plane_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // the owner is in a call that looks itself
  const std::optional<absl::Status> failure = plane_->PollFailure();
  if (!failure.has_value()) return;
  const std::int64_t now_ns = clock_->NowNanos();
  if (!failed_ns.has_value()) failed_ns = now_ns;
  if (overdue_ && now_ns - *failed_ns >= absl::ToInt64Nanoseconds(kFailureGrace)) {
    std::exchange(overdue_, nullptr)(*failure);
  }
}

}  // namespace glaive::rdma
