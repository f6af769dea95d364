// ControlMessage: a message between nodes of a run over a bootstrap connection, one in each frame.
//
//   message  from         header fields besides "type"                          payload
//   challenge coordinator nonce                                                 -
//   answer   member       nonce, proof                                          -
//   accept   coordinator  proof                                                 -
//   hello    member       protocol, program, commit, rank, nodes, executors,    -
//                         host, pid, settings
//   welcome  coordinator  token, members [{rank, host, pid}]                    -
//   gather   member       phase                                                 its contribution
//   part     coordinator  phase, rank                                           that rank's contribution
//   abort    both         code, text                                            -
//   leave    both         -                                                     -
//   beat     both         -                                                     -
//
// The first three are the handshake (handshake.h), their fields hexadecimal digits; all others come after it.
//
// Plain values. Decoding trusts nothing: a field that is missing, of another type or out of range is an error.
//
//   connection.Send(EncodeMessage(LeaveMessage{}));
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/handshake.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/hmac.h"

namespace glaive::rdma {

/// The handshake; see handshake.h.
struct ChallengeMessage {
  Nonce nonce{};
};
struct AnswerMessage {
  Nonce nonce{};
  Digest proof{};
};
struct AcceptMessage {
  Digest proof{};
};

/// The run begins: everyone has come.
struct WelcomeMessage {
  std::uint64_t run_token = 0;
  std::vector<Member> members;  ///< by rank
};

/// A member's contribution to AllGather.
struct GatherMessage {
  std::string phase;
  std::string payload;
};

/// One rank's contribution, passed on to a member.
struct PartMessage {
  std::string phase;
  NodeId rank{0};
  std::string payload;
};

/// The run is over for everyone; the status says why, as the user is to read it.
struct AbortMessage {
  absl::Status reason;  ///< never OK
};

/// The sender closes its connection in good order.
struct LeaveMessage {};

/// The sender is alive; see pulse.h.
struct BeatMessage {};

using ControlMessage = std::variant<ChallengeMessage, AnswerMessage, AcceptMessage, Hello, WelcomeMessage,
                                    GatherMessage, PartMessage, AbortMessage, LeaveMessage, BeatMessage>;

/// The message as a whole frame. Text that is not UTF-8 has its wrong bytes replaced; payloads stay as they are.
std::string EncodeMessage(const ControlMessage& message);

/// kInvalidArgument says which field is wrong.
absl::StatusOr<ControlMessage> DecodeMessage(Frame frame);

}  // namespace glaive::rdma
