// Admission: accepts connections for the coordinator until every rank has come, and turns others away. A stranger,
// which cannot prove to know the secret (handshake.h), is turned away without a word and after a pause. A node that
// does not match is told the reason. When the start has failed, Admission stays for a moment to tell the nodes that
// have not come yet, which would otherwise call a coordinator until their join time-out.
//
// Used by ControlPlane::Coordinate; single-threaded. A stranger costs a descriptor for at most 6 s, of which at most
// 256 are open at a time, and less than 4 KiB of buffer. Many strangers delay a member by seconds. But no connection
// that has answered its challenge, or has had less than a second to answer, is closed for another: connections that
// find no room wait in the kernel's queue. A member that is slower than that may have to come again. More than 256
// silent strangers each second can shut out members until their join time-out.
//
//   Admission admission(listener, hello, options, waiter);
//   absl::StatusOr<std::vector<MemberLink>> links = admission.AwaitAll();
#pragma once

#include <poll.h>

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
#include "rdma/bootstrap/handshake.h"
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
  Admission(const Listener& listener, const Hello& hello, const BootstrapOptions& options, Waiter& waiter)
      : listener_(listener), hello_(hello), options_(options), waiter_(waiter), links_(hello.nodes) {}

  /// Waits for ranks 1 .. nodes-1. On an error everyone who had come has been told why. The result is indexed by rank;
  /// entry 0 has no connection.
  absl::StatusOr<std::vector<MemberLink>> AwaitAll();

  /// Reads all connections once, without waiting; AwaitAll calls it again and again. An error ends the start.
  absl::Status Poll();

 private:
  struct Stranger {
    enum class State : std::uint8_t { kChallenged, kProven, kRefused };

    std::unique_ptr<Connection> connection;
    std::int64_t deadline_ns = 0;  ///< until when it has to say something; of one that is refused: when it is let go
    std::int64_t answer_ns = 0;    ///< until when a member needs to answer; it may be sent away only then
    Nonce nonce{};                 ///< of the challenge it was sent
    State state = State::kChallenged;
  };

  absl::Status Admit(std::int64_t deadline_ns);
  void AwaitLatecomers();
  absl::Status Accept();
  std::vector<Stranger>::iterator Dispensable();
  bool HasRoom();
  bool MakeRoom();
  pollfd DoorEntry();
  void PollStrangers(std::vector<pollfd>& fds) const;
  absl::Status HearStrangers();
  absl::Status HearStranger(Stranger& stranger);
  absl::Status Answer(Stranger& stranger, const ControlMessage& message);
  bool CheckAnswer(Stranger& stranger, const ControlMessage& message);
  absl::Status HearMembers();
  absl::Status Judge(std::unique_ptr<Connection>& connection, const Hello& hello);
  void TurnAway(Stranger& stranger, absl::string_view why);
  void Log(const std::string& text);
  std::string MissingRanks() const;
  absl::Status TimedOut() const;
  std::string Hints() const;

  const Listener& listener_;
  const Hello& hello_;
  const BootstrapOptions& options_;
  Waiter& waiter_;
  std::vector<MemberLink> links_;
  std::uint32_t admitted_ = 0;
  std::vector<Stranger> strangers_;
  std::int64_t accept_again_ns_ = 0;  // before, there is no descriptor for another
  std::vector<std::unique_ptr<Connection>> refused_;
  std::string last_turned_away_;
  std::int64_t next_log_ns_ = 0;
  std::uint64_t not_logged_ = 0;  // since the last line
};

}  // namespace glaive::rdma
