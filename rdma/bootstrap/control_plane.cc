#include "rdma/bootstrap/control_plane.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "rdma/base/check.h"
#include "rdma/bootstrap/admission.h"
#include "rdma/bootstrap/attended_plane.h"
#include "rdma/bootstrap/coordinator.h"
#include "rdma/bootstrap/member_plane.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

namespace {

constexpr absl::string_view kInterrupted = "interrupted";

}  // namespace

absl::Status Interrupted() { return absl::CancelledError(kInterrupted); }

bool IsInterrupted(const absl::Status& status) { return absl::IsCancelled(status) && status.message() == kInterrupted; }

absl::StatusOr<std::unique_ptr<ControlPlane>> ControlPlane::Coordinate(Listener listener, const Hello& hello,
                                                                       std::uint64_t run_token,
                                                                       const BootstrapOptions& options,
                                                                       const Clock& clock) {
  GLAIVE_CHECK(Value(hello.rank) == 0, "rank ", Value(hello.rank), " cannot coordinate, rank 0 does");
  GLAIVE_CHECK(hello.nodes >= 1, "a run of no nodes");
  Waiter waiter(options.interrupt_fd, options.watch, clock);
  Admission admission(listener, hello, options, waiter);
  absl::StatusOr<std::vector<MemberLink>> links = admission.AwaitAll();
  if (!links.ok()) return links.status();
  auto coordinator = std::make_unique<Coordinator>(run_token, DeriveRunKey(options.secret, run_token),
                                                   *std::move(links), std::move(waiter));
  if (absl::Status status = coordinator->Welcome(options.join_timeout); !status.ok()) {
    coordinator->Abort(status);
    return status;
  }
  return AttendedPlane::Create(std::move(coordinator), options, clock);
}

absl::StatusOr<std::unique_ptr<ControlPlane>> ControlPlane::Join(const std::string& address, const Hello& hello,
                                                                 const BootstrapOptions& options, const Clock& clock) {
  GLAIVE_CHECK(Value(hello.rank) != 0, "rank 0 coordinates, it does not join");
  absl::StatusOr<std::unique_ptr<ControlPlane>> plane = MemberPlane::Join(address, hello, options, clock);
  if (!plane.ok()) return plane.status();
  return AttendedPlane::Create(*std::move(plane), options, clock);
}

absl::StatusOr<std::unique_ptr<ControlPlane>> ControlPlane::Alone(const Hello& hello, std::uint64_t run_token,
                                                                  const BootstrapOptions& options, const Clock& clock) {
  GLAIVE_CHECK(hello.nodes == 1, "a run of ", hello.nodes, " nodes needs connections");
  std::vector<MemberLink> links(1);
  links[0].member = MemberOf(hello);
  return AttendedPlane::Create(
      std::make_unique<Coordinator>(run_token, DeriveRunKey(options.secret, run_token), std::move(links),
                                    Waiter(options.interrupt_fd, options.watch, clock)),
      options, clock);
}

bool ControlPlane::one_host() const {
  return std::all_of(members_.begin(), members_.end(),
                     [this](const Member& member) { return member.host_id == members_.front().host_id; });
}

}  // namespace glaive::rdma
