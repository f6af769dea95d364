// MemberPlane: the control plane of a rank other than 0: one connection to the coordinator.
//
// Made by ControlPlane::Join; owned by one thread at a time like its base.
//
//   absl::StatusOr<std::unique_ptr<ControlPlane>> plane = MemberPlane::Join(address, hello, options, clock);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/watch.h"
#include "rdma/bootstrap/connection.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/message.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

class MemberPlane final : public ControlPlane {
 public:
  /// See ControlPlane::Join.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Join(const std::string& address, const Hello& hello,
                                                            const BootstrapOptions& options, const Clock& clock);

  MemberPlane(NodeId rank, const RunKey& run_key, WelcomeMessage welcome, std::unique_ptr<Connection> connection,
              Waiter waiter);

  using ControlPlane::AllGather;
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine,
                                                     absl::Duration timeout) override;
  absl::Status AllAgree(std::string_view phase) override;
  void WatchAlso(Watch watch) override { waiter_.WatchAlso(std::move(watch)); }
  std::optional<absl::Status> PollFailure() override;
  void Abort(const absl::Status& reason) override;
  absl::Status Leave(absl::Duration grace) override;

 private:
  /// Begins an AllGather.
  void Contribute(std::string_view phase, std::string mine);
  bool HasAllParts() const { return parts_received_ == parts_.size(); }
  /// Waits for the parts of all nodes. A failure, the deadline, an interrupt or a watch's error ends the wait.
  absl::Status AwaitParts(std::int64_t deadline_ns);
  void SendAbort(const absl::Status& reason);
  absl::Status WaitAndHear(std::int64_t deadline_ns);
  void Hear();
  void Handle(ControlMessage message);
  void FailByLoss(const absl::Status& loss);
  void Fail(absl::Status failure);

  std::unique_ptr<Connection> connection_;
  Waiter waiter_;
  std::string phase_;                              // of the AllGather under way, or empty
  std::vector<std::optional<std::string>> parts_;  // of it, by rank
  std::size_t parts_received_ = 0;
  std::optional<absl::Status> failure_;
  bool coordinator_left_ = false;
  bool aborted_ = false;
};

}  // namespace glaive::rdma
