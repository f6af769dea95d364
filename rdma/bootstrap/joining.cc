#include "rdma/bootstrap/joining.h"

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/handshake.h"
#include "rdma/bootstrap/hmac.h"

namespace glaive::rdma {
namespace {

// Lets the coordinator's own time-out, which names the missing ranks, come before ours.
constexpr absl::Duration kWelcomeGrace = absl::Seconds(3);

// The next message that is no beat. kDeadlineExceeded at the deadline, kUnavailable when the connection ended.
absl::StatusOr<ControlMessage> AwaitMessage(Connection& connection, const std::string& address,
                                            std::int64_t deadline_ns, Waiter& waiter) {
  while (true) {
    absl::StatusOr<std::optional<ControlMessage>> message = connection.Next();
    if (!message.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("what answers at ", address, " is no coordinator: ", message.status().message()));
    }
    if (message->has_value()) {
      if (std::holds_alternative<BeatMessage>(**message)) continue;
      return **std::move(message);
    }
    if (connection.ended()) {
      return absl::UnavailableError(
          absl::StrCat("the coordinator at ", address, " was lost before the run began: ", connection.end_reason()));
    }
    std::vector<pollfd> fds = {PollEntry(connection)};
    if (absl::Status status = waiter.Wait(fds, deadline_ns); !status.ok()) return status;
    connection.Flush();
    connection.Receive();
    connection.Tend(waiter.NowNanos(), /*judge=*/true);
  }
}

absl::Status NotLetIn(const Connection& connection, const std::string& address) {
  return absl::UnauthenticatedError(absl::StrCat("the coordinator at ", address, " did not let this node in (",
                                                 connection.end_reason(),
                                                 "); give all ranks the same secret with --secret-file or "
                                                 "GLAIVE_SECRET"));
}

absl::Status NoCoordinator(const std::string& address) {
  return absl::FailedPreconditionError(absl::StrCat(
      "what answers at ", address, " does not behave like the coordinator of this run; see --coordinator"));
}

absl::Status Authenticate(Connection& connection, const std::string& address, const BootstrapOptions& options,
                          std::int64_t deadline_ns, Waiter& waiter) {
  const absl::StatusOr<ControlMessage> first = AwaitMessage(connection, address, deadline_ns, waiter);
  if (absl::IsDeadlineExceeded(first.status())) {
    return absl::DeadlineExceededError(absl::StrCat("the coordinator at ", address, " has not said a word within ",
                                                    absl::FormatDuration(options.join_timeout),
                                                    "; see whether rank 0 is stopped, or raise --join-timeout"));
  }
  if (absl::IsUnavailable(first.status())) return NotLetIn(connection, address);
  if (!first.ok()) return first.status();
  const auto* challenge = std::get_if<ChallengeMessage>(&*first);
  if (challenge == nullptr) return NoCoordinator(address);
  // Before, it may have been busy with starting the other nodes: the kernel takes connections by itself.
  connection.StartPulse(options.peer_timeout, waiter.NowNanos());
  const Nonces nonces{.coordinator = challenge->nonce, .member = MakeNonce(options.random)};
  connection.Send(EncodeMessage(AnswerMessage{.nonce = nonces.member, .proof = MemberProof(options.secret, nonces)}));

  const absl::StatusOr<ControlMessage> second = AwaitMessage(connection, address, deadline_ns, waiter);
  if (absl::IsUnavailable(second.status()) && connection.silent()) {
    return absl::UnavailableError(absl::StrCat("the coordinator at ", address,
                                               " was lost before the run began: ", connection.end_reason(),
                                               "; or it has another secret: see what it says there"));
  }
  if (absl::IsUnavailable(second.status())) return NotLetIn(connection, address);
  if (!second.ok()) return second.status();
  const auto* accept = std::get_if<AcceptMessage>(&*second);
  if (accept == nullptr) return NoCoordinator(address);
  if (!SameDigest(CoordinatorProof(options.secret, nonces), accept->proof)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "what answers at ", address, " does not know this run's secret: it is not this run's coordinator"));
  }
  const SessionKeys keys = DeriveKeys(options.secret, nonces);
  connection.Seal(keys.member, keys.coordinator);
  connection.StartPulse(options.peer_timeout, waiter.NowNanos());  // the proof was a sign of life, too
  connection.set_limits(kMemberLimits);
  return absl::OkStatus();
}

absl::StatusOr<WelcomeMessage> AwaitWelcome(Connection& connection, const std::string& address, absl::Duration timeout,
                                            Waiter& waiter) {
  absl::StatusOr<ControlMessage> message = AwaitMessage(connection, address, waiter.DeadlineIn(timeout), waiter);
  if (absl::IsDeadlineExceeded(message.status())) {
    return absl::DeadlineExceededError(
        absl::StrCat("joined the coordinator at ", address, ", but the run did not begin within ",
                     absl::FormatDuration(timeout), "; see there which ranks are missing, or raise --join-timeout"));
  }
  if (!message.ok()) return message.status();
  if (auto* welcome = std::get_if<WelcomeMessage>(&*message)) return std::move(*welcome);
  if (const auto* abort = std::get_if<AbortMessage>(&*message)) return abort->reason;
  return absl::InternalError(absl::StrCat("the coordinator at ", address, " spoke before the run began"));
}

absl::Status CheckWelcome(const WelcomeMessage& welcome, const Hello& hello) {
  bool right = welcome.members.size() == hello.nodes;
  for (std::size_t rank = 0; right && rank < welcome.members.size(); ++rank) {
    right = Value(welcome.members[rank].rank) == rank;
  }
  return right ? absl::OkStatus() : absl::InternalError("the coordinator's welcome does not list every rank once");
}

}  // namespace

absl::StatusOr<WelcomeMessage> JoinRun(Connection& connection, const std::string& address, const Hello& hello,
                                       const BootstrapOptions& options, std::int64_t deadline_ns, Waiter& waiter) {
  std::string introduction = EncodeMessage(hello);
  if (introduction.size() > kNewcomerLimits.max_header_bytes) {
    return absl::InvalidArgumentError("the flags are too long to be sent to the coordinator (64 KiB); shorten them");
  }
  if (absl::Status status = Authenticate(connection, address, options, deadline_ns, waiter); !status.ok()) {
    return status;
  }
  connection.Send(std::move(introduction));
  absl::StatusOr<WelcomeMessage> welcome =
      AwaitWelcome(connection, address, options.join_timeout + kWelcomeGrace, waiter);
  if (!welcome.ok()) return connection.ExplainLoss(welcome.status(), MemberOf(hello));
  if (absl::Status status = CheckWelcome(*welcome, hello); !status.ok()) return status;
  return welcome;
}

}  // namespace glaive::rdma
