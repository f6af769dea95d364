// AttendedPlane: a control plane with a thread of its own that polls the connections while the owner is busy. The
// thread reads messages, sends signs of life, and notices nodes that have fallen silent. So a node that generates its
// input, or writes a file, for a minute does not count as lost. The thread also polls the interrupt descriptor, so that
// a node ends while its owner waits for a disk.
//
// Made by ControlPlane::Coordinate, Join and Alone. The owner's calls and the thread's exclude each other by a lock;
// while the owner is in a call that waits, the call itself does the thread's work.
//
//   1. If the plane still exists kFailureGrace after a failure or an interrupt, BootstrapOptions::overdue is called:
//      for each of the two until it returns true.
//   2. The thread has ended when the destructor returns.
//
//   absl::StatusOr<std::unique_ptr<ControlPlane>> plane = AttendedPlane::Create(std::move(coordinator), options,
//   clock);
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/watch.h"
#include "rdma/bootstrap/control_plane.h"

namespace glaive::rdma {

class AttendedPlane final : public ControlPlane {
 public:
  /// Starts the thread; ResourceExhausted, which the others are told, when it cannot be had. `clock` must outlive the
  /// plane.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Create(std::unique_ptr<ControlPlane> plane,
                                                              const BootstrapOptions& options, const Clock& clock);
  ~AttendedPlane() override;

  using ControlPlane::AllGather;
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine,
                                                     absl::Duration timeout) override;
  absl::Status AllAgree(std::string_view phase) override;
  void WatchAlso(Watch watch) override;
  std::optional<absl::Status> PollFailure() override;
  void Abort(const absl::Status& reason) override;
  absl::Status Leave(absl::Duration grace) override;

 private:
  AttendedPlane(std::unique_ptr<ControlPlane> plane, const BootstrapOptions& options, const Clock& clock);

  void Attend();
  void Poll();
  void EndIfOverdue();
  void Note(const absl::Status& failure);

  /// A reason to end, and since when it is known.
  struct Reason {
    absl::Status status = {};
    std::int64_t since_ns = 0;
    bool is_dealt_with = false;
  };

  std::unique_ptr<ControlPlane> plane_;
  std::function<bool(const absl::Status&)> overdue_;
  absl::Duration interval_;
  int interrupt_fd_;
  const Clock* clock_;

  std::mutex plane_mutex_;  // guards *plane_; taken before the other
  std::mutex mutex_;        // guards what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  Reason failure_;      // the first that was seen
  Reason interrupt_;    // apart from it: a failure that does no harm must not hide that the user wants to stop
  std::thread thread_;  // uses all of the above
};

}  // namespace glaive::rdma
