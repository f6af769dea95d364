// Coordinator: rank 0's side of the control plane, the centre of the star.
//
// Made by ControlPlane::Coordinate and ControlPlane::Alone; owned by one thread at a time like its base. It holds one
// connection to each member, and passes the first failure on to all the others. At most one AllGather contribution of a
// member is stored ahead of this node's own call, so memory is bounded.
//
//   Coordinator coordinator(run_token, run_key, std::move(links), std::move(waiter));
#pragma once

#include <poll.h>

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
#include "rdma/bootstrap/admission.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

class Coordinator final : public ControlPlane {
 public:
  /// `links` is indexed by rank; entry 0 is this node and has no connection.
  Coordinator(std::uint64_t run_token, const RunKey& run_key, std::vector<MemberLink> links, Waiter waiter);

  /// Tells every member that the run begins.
  absl::Status Welcome(absl::Duration timeout);

  using ControlPlane::AllGather;
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view phase, std::string mine,
                                                     absl::Duration timeout) override;
  absl::Status AllAgree(std::string_view phase) override;
  void WatchAlso(Watch watch) override { waiter_.WatchAlso(std::move(watch)); }
  std::optional<absl::Status> PollFailure() override;
  void Abort(const absl::Status& reason) override;
  absl::Status Leave(absl::Duration grace) override;

 private:
  using SharedFrame = std::shared_ptr<const std::string>;

  absl::Status WaitAndHear(std::int64_t deadline_ns);
  void HearAll();
  void TendAll();
  void Tend(MemberLink& link);
  void Hear(MemberLink& link);
  void ReportEnd(const MemberLink& link);
  void Handle(MemberLink& link, ControlMessage message);
  void Fail(absl::Status failure, const MemberLink& culprit);
  absl::Status AwaitContributions(std::string_view phase, std::int64_t deadline_ns);
  /// Sends every member's contribution to all, and returns them.
  std::vector<std::string> Distribute(std::string_view phase, std::string mine, std::int64_t deadline_ns);
  absl::Status FlushAll(std::int64_t deadline_ns);
  std::vector<Connection*> OpenConnections();
  absl::Status MissingContributions(std::string_view phase) const;

  std::vector<MemberLink> links_;
  Waiter waiter_;
  std::vector<pollfd> poll_fds_;  // of PollFailure, a member so that it need not allocate
  std::optional<absl::Status> failure_;
  bool aborted_ = false;
};

}  // namespace glaive::rdma
