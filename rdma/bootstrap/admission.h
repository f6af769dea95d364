// Admission: the coordinator's door. Accepts connections until every rank has come, and turns away what does not
// belong: strangers silently, nodes that do not match with the reason. When the start has failed, it stays for a moment
// to tell those that are still on their way, who would otherwise look for a coordinator until their join time-out.
//
// Used by ControlPlane::Coordinate; single-threaded. Strangers cost a descriptor for at most 5 s each, and do not delay
// anybody else.
//
//   Admission admission(listener, hello, options, waiter);
//   absl::StatusOr<std::vector<MemberLink>> links = admission.AwaitAll(deadline_ns);
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/connection.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/listener.h"
#include "rdma/bootstrap/message.h"
#include "rdma/bootstrap/waiter.h"

namespace glaive::rdma {

/// The coordinator's end of one member's connection.
struct MemberLink {
  Member member;
  std::unique_ptr<Connection> connection;
  std::deque<GatherMessage> gathered;  ///< contributions that no AllGather has taken yet
  bool left = false;                   ///< it called Leave
};

class Admission {
 public:
  /// All must outlive the admission.
  Admission(const Listener& listener, const Hello& hello, Waiter& waiter)
      : listener_(listener), hello_(hello), waiter_(waiter), links_(hello.nodes) {}

  /// Waits for ranks 1 .. nodes-1. On an error everyone who had come has been told why. The result is indexed by rank;
  /// entry 0 has no connection.
  absl::StatusOr<std::vector<MemberLink>> AwaitAll(absl::Duration join_timeout);

 private:
  struct Stranger {
    std::unique_ptr<Connection> connection;
    std::int64_t deadline_ns = 0;
  };

  absl::Status Admit(std::int64_t deadline_ns);
  void AwaitLatecomers();
  absl::Status Accept();
  absl::Status HearStrangers();
  absl::Status HearMembers();
  absl::Status Judge(std::unique_ptr<Connection>& connection, const Hello& hello);
  void TurnAway(const Stranger& stranger, absl::string_view why);
  absl::Status TimedOut(absl::Duration join_timeout) const;

  const Listener& listener_;
  const Hello& hello_;
  Waiter& waiter_;
  std::vector<MemberLink> links_;
  std::uint32_t admitted_ = 0;
  std::vector<Stranger> strangers_;
  std::vector<std::unique_ptr<Connection>> refused_;
  std::string last_turned_away_;
};

}  // namespace glaive::rdma
