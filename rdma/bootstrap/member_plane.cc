#include "rdma/bootstrap/member_plane.h"

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/dialer.h"
#include "rdma/bootstrap/joining.h"

namespace glaive::rdma {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(250);

struct Joined {
  std::unique_ptr<Connection> connection;
  absl::StatusOr<WelcomeMessage> welcome;
};

// Waits for `pause`; an error is what ended the wait.
absl::Status PauseFor(absl::Duration pause, Waiter& waiter) {
  const std::int64_t deadline_ns = waiter.DeadlineIn(pause);
  while (true) {
    std::vector<pollfd> nobody;
    const absl::Status waited = waiter.Wait(nobody, deadline_ns);
    if (!waited.ok()) return absl::IsDeadlineExceeded(waited) ? absl::OkStatus() : waited;
  }
}

// Connects and joins, again and again while the coordinator does not let this node in: a crowd of strangers may be at
// its door. The last refusal is part of the error when the time is up.
absl::StatusOr<Joined> JoinInTime(const std::string& address, const Hello& hello, const BootstrapOptions& options,
                                  Waiter& waiter) {
  const std::int64_t deadline_ns = waiter.DeadlineIn(options.join_timeout);
  absl::Duration left = options.join_timeout;
  absl::Status refusal;
  while (true) {
    absl::StatusOr<std::unique_ptr<Connection>> connection = Dial(address, left, options.log, waiter);
    if (!connection.ok()) {
      const absl::Status& status = connection.status();
      if (!absl::IsDeadlineExceeded(status) || refusal.ok()) return status;
      return absl::Status(status.code(), absl::StrCat(status.message(), "; before that: ", refusal.message()));
    }
    absl::StatusOr<WelcomeMessage> welcome = JoinRun(**connection, address, hello, options, deadline_ns, waiter);
    const bool is_late = absl::IsDeadlineExceeded(welcome.status()) && !(*connection)->sealed();
    if (is_late && !refusal.ok()) return refusal;
    if (!absl::IsUnauthenticated(welcome.status())) return Joined{*std::move(connection), std::move(welcome)};
    if (refusal.ok() && options.log) {
      options.log(absl::StrCat(welcome.status().message(), "; tries again for at most ",
                               absl::FormatDuration(options.join_timeout), " (--join-timeout)"));
    }
    refusal = welcome.status();
    if (absl::Status status = PauseFor(kPause, waiter); !status.ok()) return status;
    left = absl::Trunc(absl::Nanoseconds(deadline_ns - waiter.NowNanos()), absl::Milliseconds(1));
    if (left <= absl::ZeroDuration()) return refusal;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPlane>> MemberPlane::Join(const std::string& address, const Hello& hello,
                                                                const BootstrapOptions& options, const Clock& clock) {
  Waiter waiter(options.interrupt_fd, options.watch, clock);
  absl::StatusOr<Joined> joined = JoinInTime(address, hello, options, waiter);
  if (!joined.ok()) return joined.status();
  auto& [connection, welcome] = *joined;
  if (!welcome.ok()) {
    // So that the coordinator need not guess why this node goes.
    const absl::Status reason(welcome.status().code(),
                              absl::StrCat("node ", Value(hello.rank), " ended the run: ", welcome.status().message()));
    if (connection->sealed()) {
      waiter.PartFrom({connection.get()}, std::make_shared<const std::string>(EncodeMessage(AbortMessage{reason})),
                      kPartingTimeout);
    }
    return welcome.status();
  }
  const RunKey run_key = DeriveRunKey(options.secret, welcome->run_token);
  return std::make_unique<MemberPlane>(hello.rank, run_key, *std::move(welcome), std::move(connection),
                                       std::move(waiter));
}

MemberPlane::MemberPlane(NodeId rank, const RunKey& run_key, WelcomeMessage welcome,
                         std::unique_ptr<Connection> connection, Waiter waiter)
    : ControlPlane(rank, welcome.run_token, run_key, std::move(welcome.members),
                   FormatHost(connection->local_address())),
      connection_(std::move(connection)),
      waiter_(std::move(waiter)),
      parts_(nodes()) {}

absl::StatusOr<std::vector<std::string>> MemberPlane::AllGather(std::string_view phase, std::string mine,
                                                                absl::Duration timeout) {
  if (mine.size() > kMaxGatherBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(phase), ": ", mine.size(), " bytes to gather, the most is ", kMaxGatherBytes));
  }
  if (failure_.has_value()) return *failure_;
  Contribute(phase, std::move(mine));
  if (absl::Status status = AwaitParts(waiter_.DeadlineIn(timeout)); !status.ok()) return status;
  std::vector<std::string> all;
  all.reserve(parts_.size());
  for (std::optional<std::string>& part : parts_) all.push_back(*std::exchange(part, std::nullopt));
  return all;
}

absl::Status MemberPlane::AllAgree(std::string_view phase) {
  if (failure_.has_value()) return *failure_;
  Contribute(phase, /*mine=*/"");
  const std::int64_t deadline_ns = waiter_.DeadlineIn(absl::InfiniteDuration());
  absl::Status status = AwaitParts(deadline_ns);
  if (status.ok() || failure_.has_value() || coordinator_left_) return status;
  // The others may have come to the phase all the same.
  SendAbort(status);
  waiter_ = waiter_.Uninterrupted();
  const absl::Status decided = AwaitParts(deadline_ns);
  return decided.code() == status.code() ? status : decided;
}

void MemberPlane::Contribute(std::string_view phase, std::string mine) {
  phase_ = phase;
  parts_.assign(nodes(), std::nullopt);
  parts_received_ = 0;
  connection_->Send(EncodeMessage(GatherMessage{.phase = phase_, .payload = std::move(mine)}));
}

absl::Status MemberPlane::AwaitParts(std::int64_t deadline_ns) {
  while (!HasAllParts()) {
    if (failure_.has_value()) return *failure_;
    if (coordinator_left_) {
      return absl::UnavailableError(absl::StrCat("node 0 left the run before '", phase_, "'"));
    }
    absl::Status status = WaitAndHear(deadline_ns);
    if (HasAllParts()) break;  // a failure that came behind them is the next call's
    if (absl::IsDeadlineExceeded(status) && !failure_.has_value()) {
      return absl::DeadlineExceededError(absl::StrCat("not all nodes came to '", phase_, "' before the time was up"));
    }
    if (!status.ok()) return failure_.value_or(status);
  }
  phase_.clear();
  return absl::OkStatus();
}

std::optional<absl::Status> MemberPlane::PollFailure() {
  if (!failure_.has_value()) Hear();
  return failure_;
}

void MemberPlane::Abort(const absl::Status& reason) {
  if (aborted_) return;
  aborted_ = true;
  if (failure_.has_value()) {
    connection_->ShutdownWrite();  // lets the coordinator go, which waits for everyone who was told
    return;
  }
  failure_ = reason;
  SendAbort(reason);
  waiter_.PartFrom({connection_.get()}, /*frame=*/nullptr, kPartingTimeout);
}

void MemberPlane::SendAbort(const absl::Status& reason) {
  const absl::Status told(reason.code(), absl::StrCat("node ", Value(rank()), " ended the run: ", reason.message()));
  connection_->Send(EncodeMessage(AbortMessage{told}));
}

absl::Status MemberPlane::Leave(absl::Duration grace) {
  waiter_.DropWatch();  // nodes that have left may end
  Hear();
  if (failure_.has_value()) return *failure_;
  connection_->Send(EncodeMessage(LeaveMessage{}));
  const std::int64_t deadline_ns = waiter_.DeadlineIn(grace);
  while (!coordinator_left_ || connection_->wants_write()) {
    absl::Status status = WaitAndHear(deadline_ns);
    if (absl::IsDeadlineExceeded(status)) break;
    if (!status.ok()) return status;
    if (connection_->ended()) break;
  }
  return absl::OkStatus();
}

absl::Status MemberPlane::WaitAndHear(std::int64_t deadline_ns) {
  std::vector<pollfd> fds = {PollEntry(*connection_)};
  const absl::Status waited = waiter_.Wait(fds, deadline_ns);
  Hear();  // in any case: what the caller waits for may have come
  return waited.ok() ? failure_.value_or(absl::OkStatus()) : waited;
}

void MemberPlane::Hear() {
  connection_->Flush();
  connection_->Receive();
  connection_->Tend(waiter_.NowNanos(), /*judge=*/!coordinator_left_);
  while (true) {
    absl::StatusOr<std::optional<ControlMessage>> message = connection_->Next();
    if (!message.ok()) {
      Fail(absl::InternalError(absl::StrCat("node 0 broke the protocol: ", message.status().message())));
      return;
    }
    if (!message->has_value()) break;
    Handle(**std::move(message));
  }
  if (connection_->ended() && !coordinator_left_) {
    FailByLoss(absl::UnavailableError(
        absl::StrCat(NodeName(members()[0]), ", the coordinator, was lost: ", connection_->end_reason())));
  }
}

void MemberPlane::Handle(ControlMessage message) {
  if (auto* part = std::get_if<PartMessage>(&message)) {
    const std::size_t rank = Value(part->rank);
    if (!phase_.empty() && part->phase == phase_ && rank < parts_.size() && !parts_[rank].has_value()) {
      parts_[rank] = std::move(part->payload);
      ++parts_received_;
      return;
    }
  } else if (const auto* abort = std::get_if<AbortMessage>(&message)) {
    return FailByLoss(abort->reason);
  } else if (std::holds_alternative<LeaveMessage>(message)) {
    coordinator_left_ = true;
    return;
  } else if (std::holds_alternative<BeatMessage>(message)) {
    return;
  }
  Fail(absl::InternalError("node 0 sent a message that is out of turn"));
}

void MemberPlane::FailByLoss(const absl::Status& loss) {
  Fail(connection_->ExplainLoss(loss, members()[Value(rank())]));
}

void MemberPlane::Fail(absl::Status failure) {
  if (!failure_.has_value()) failure_ = std::move(failure);
}

}  // namespace glaive::rdma
