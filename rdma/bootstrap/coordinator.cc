#include "rdma/bootstrap/coordinator.h"

#include <poll.h>

#include <algorithm>
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
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/message.h"

namespace glaive::rdma {
namespace {

// A member contributes to a phase when it has all of the one before, so one may be ahead of this node's own call.
constexpr std::size_t kMaxContributionsAhead = 1;

std::vector<Member> MembersOf(const std::vector<MemberLink>& links) {
  std::vector<Member> members;
  members.reserve(links.size());
  for (const MemberLink& link : links) members.push_back(link.member);
  return members;
}

bool IsOpen(const MemberLink& link) { return link.connection != nullptr && !link.connection->ended(); }

// This host's end of a connection: of one from another host, if there is one.
std::string LocalHostOf(const std::vector<MemberLink>& links) {
  std::string host;
  for (const MemberLink& link : links) {
    if (link.connection == nullptr) continue;
    const SocketAddress address = link.connection->local_address();
    host = FormatHost(address);
    if (!IsLoopback(address)) break;
  }
  return host;
}

}  // namespace

Coordinator::Coordinator(std::uint64_t run_token, const RunKey& run_key, std::vector<MemberLink> links, Waiter waiter)
    : ControlPlane(NodeId{0}, run_token, run_key, MembersOf(links), LocalHostOf(links)),
      links_(std::move(links)),
      waiter_(std::move(waiter)) {}

absl::Status Coordinator::Welcome(absl::Duration timeout) {
  const auto frame = std::make_shared<const std::string>(
      EncodeMessage(WelcomeMessage{.run_token = run_token(), .members = members()}));
  for (Connection* connection : OpenConnections()) connection->Send(frame);
  return FlushAll(waiter_.DeadlineIn(timeout));
}

absl::StatusOr<std::vector<std::string>> Coordinator::AllGather(std::string_view phase, std::string mine,
                                                                absl::Duration timeout) {
  if (mine.size() > kMaxGatherBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(phase), ": ", mine.size(), " bytes to gather, the most is ", kMaxGatherBytes));
  }
  const std::int64_t deadline_ns = waiter_.DeadlineIn(timeout);
  if (absl::Status status = AwaitContributions(phase, deadline_ns); !status.ok()) return status;
  return Distribute(phase, std::move(mine), deadline_ns);
}

absl::Status Coordinator::AllAgree(std::string_view phase) {
  const std::int64_t deadline_ns = waiter_.DeadlineIn(absl::InfiniteDuration());
  if (absl::Status status = AwaitContributions(phase, deadline_ns); !status.ok()) return status;
  // It is decided, so an interrupt must not keep any member from hearing of it.
  Waiter interruptible = std::exchange(waiter_, waiter_.Uninterrupted());
  (void)Distribute(phase, /*mine=*/"", deadline_ns);
  waiter_ = std::move(interruptible);
  return absl::OkStatus();
}

std::vector<std::string> Coordinator::Distribute(std::string_view phase, std::string mine, std::int64_t deadline_ns) {
  std::vector<std::string> all;
  all.push_back(std::move(mine));
  for (std::size_t rank = 1; rank < links_.size(); ++rank) {
    all.push_back(std::move(links_[rank].gathered.front().payload));
    links_[rank].gathered.pop_front();
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto frame = std::make_shared<const std::string>(EncodeMessage(PartMessage{
        .phase = std::string(phase), .rank = NodeId{static_cast<std::uint32_t>(rank)}, .payload = all[rank]}));
    for (Connection* connection : OpenConnections()) connection->Send(frame);
  }
  // Some members may have all parts and go on, so this node does: what keeps others from them is the next call's.
  (void)FlushAll(deadline_ns);
  return all;
}

std::optional<absl::Status> Coordinator::PollFailure() {
  poll_fds_.clear();
  for (const MemberLink& link : links_) {
    if (IsOpen(link)) poll_fds_.push_back(PollEntry(*link.connection));
  }
  if (!poll_fds_.empty() && ::poll(poll_fds_.data(), poll_fds_.size(), 0) > 0) {
    HearAll();
  } else {
    TendAll();
  }
  return failure_;
}

void Coordinator::Abort(const absl::Status& reason) {
  if (aborted_) return;
  aborted_ = true;
  SharedFrame frame;  // after a failure, Fail has told everyone already
  if (!failure_.has_value()) {
    failure_ = reason;
    frame = std::make_shared<const std::string>(EncodeMessage(
        AbortMessage{absl::Status(reason.code(), absl::StrCat("node 0 ended the run: ", reason.message()))}));
  }
  waiter_.PartFrom(OpenConnections(), frame, kPartingTimeout);
}

absl::Status Coordinator::Leave(absl::Duration grace) {
  waiter_.DropWatch();  // nodes that have left may end
  HearAll();
  if (failure_.has_value()) {
    waiter_.PartFrom(OpenConnections(), nullptr, kPartingTimeout);  // parts of the last gather may be unsent
    return *failure_;
  }
  const auto frame = std::make_shared<const std::string>(EncodeMessage(LeaveMessage{}));
  for (Connection* connection : OpenConnections()) connection->Send(frame);
  const std::int64_t deadline_ns = waiter_.DeadlineIn(grace);
  while (std::any_of(links_.begin(), links_.end(), [](const MemberLink& link) { return IsOpen(link) && !link.left; })) {
    absl::Status status = WaitAndHear(deadline_ns);
    if (absl::IsDeadlineExceeded(status)) break;
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Coordinator::WaitAndHear(std::int64_t deadline_ns) {
  std::vector<pollfd> fds;
  for (Connection* connection : OpenConnections()) fds.push_back(PollEntry(*connection));
  const absl::Status waited = waiter_.Wait(fds, deadline_ns);
  HearAll();  // in any case: what the caller waits for may have come
  return waited.ok() ? failure_.value_or(absl::OkStatus()) : waited;
}

void Coordinator::HearAll() {
  for (MemberLink& link : links_) {
    if (IsOpen(link)) Hear(link);
  }
}

void Coordinator::TendAll() {
  for (MemberLink& link : links_) {
    if (!IsOpen(link)) continue;
    Tend(link);
    ReportEnd(link);
  }
}

void Coordinator::Tend(MemberLink& link) { link.connection->Tend(waiter_.NowNanos(), /*judge=*/!link.left); }

void Coordinator::Hear(MemberLink& link) {
  link.connection->Flush();
  link.connection->Receive();
  Tend(link);
  while (true) {
    absl::StatusOr<std::optional<ControlMessage>> message = link.connection->Next();
    if (!message.ok()) {
      Fail(
          absl::InternalError(absl::StrCat(NodeName(link.member), " broke the protocol: ", message.status().message())),
          link);
      return;
    }
    if (!message->has_value()) break;
    Handle(link, **std::move(message));
  }
  ReportEnd(link);
}

void Coordinator::ReportEnd(const MemberLink& link) {
  if (link.connection->ended() && !link.left) {
    const absl::Status loss =
        absl::UnavailableError(absl::StrCat(NodeName(link.member), " was lost: ", link.connection->end_reason()));
    Fail(link.connection->ExplainLoss(loss, links_[0].member), link);
  }
}

void Coordinator::Handle(MemberLink& link, ControlMessage message) {
  if (auto* gather = std::get_if<GatherMessage>(&message)) {
    if (link.gathered.size() < kMaxContributionsAhead) {
      link.gathered.push_back(std::move(*gather));
      return;
    }
  } else if (const auto* abort = std::get_if<AbortMessage>(&message)) {
    return Fail(link.connection->ExplainLoss(abort->reason, links_[0].member), link);
  } else if (std::holds_alternative<LeaveMessage>(message)) {
    link.left = true;
    return;
  } else if (std::holds_alternative<BeatMessage>(message)) {
    return;
  }
  Fail(absl::InternalError(absl::StrCat(NodeName(link.member), " sent a message that is out of turn")), link);
}

void Coordinator::Fail(absl::Status failure, const MemberLink& culprit) {
  if (failure_.has_value()) return;
  failure_ = std::move(failure);
  const auto frame = std::make_shared<const std::string>(EncodeMessage(AbortMessage{*failure_}));
  for (MemberLink& link : links_) {
    // A member that was stopped reads the frame when it wakes up.
    const bool awaits_decision = !link.gathered.empty();
    const bool knows = &link == &culprit && IsOpen(link) && !awaits_decision;
    if (link.connection != nullptr && !knows) link.connection->Send(frame);
  }
}

absl::Status Coordinator::AwaitContributions(std::string_view phase, std::int64_t deadline_ns) {
  HearAll();  // a member that has contributed may have said since that it has failed
  absl::Status waited;
  while (true) {
    if (failure_.has_value()) return *failure_;
    bool complete = true;
    for (const MemberLink& link : links_) {
      if (link.connection == nullptr) continue;
      if (!link.gathered.empty() && link.gathered.front().phase != phase) {
        Fail(absl::InternalError(absl::StrCat(NodeName(link.member), " is at '", link.gathered.front().phase,
                                              "' while node 0 is at '", std::string(phase), "'")),
             links_[0]);
        return *failure_;
      }
      if (link.gathered.empty() && link.left) {
        Fail(absl::UnavailableError(
                 absl::StrCat(NodeName(link.member), " left the run before '", std::string(phase), "'")),
             link);
        return *failure_;
      }
      complete = complete && !link.gathered.empty();
    }
    if (complete) return absl::OkStatus();
    if (absl::IsDeadlineExceeded(waited)) return MissingContributions(phase);
    if (!waited.ok()) return waited;
    waited = WaitAndHear(deadline_ns);
  }
}

absl::Status Coordinator::FlushAll(std::int64_t deadline_ns) {
  const auto unsent = [](const MemberLink& link) { return IsOpen(link) && link.connection->wants_write(); };
  while (std::any_of(links_.begin(), links_.end(), unsent)) {
    if (absl::Status status = WaitAndHear(deadline_ns); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<Connection*> Coordinator::OpenConnections() {
  std::vector<Connection*> open;
  for (MemberLink& link : links_) {
    if (IsOpen(link)) open.push_back(link.connection.get());
  }
  return open;
}

absl::Status Coordinator::MissingContributions(std::string_view phase) const {
  std::vector<std::string> missing;
  for (const MemberLink& link : links_) {
    if (link.connection != nullptr && link.gathered.empty()) missing.push_back(NodeName(link.member));
  }
  return absl::DeadlineExceededError(absl::StrCat("still waiting for ", absl::StrJoin(missing, ", "), " at '",
                                                  std::string(phase), "' when the time was up"));
}

}  // namespace glaive::rdma
