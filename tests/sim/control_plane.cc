#include "tests/sim/control_plane.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/bootstrap/hello.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {
namespace {

constexpr std::int64_t kLeastDelayNs = 5'000;
constexpr std::int64_t kMostDelayNs = 2'000'000;

}  // namespace

ControlWire::ControlWire(std::uint32_t nodes, const VirtualTime& time, Random random)
    : time_(&time),
      random_(random),
      to_coordinator_(nodes),
      to_member_(nodes),
      is_dead_(nodes, false),
      quiet_(nodes),
      held_(nodes) {}

void ControlWire::Send(std::uint32_t from, std::uint32_t to, ControlMessage message) {
  if (is_dead_[from] || is_dead_[to]) return;
  Connection& connection = to == 0 ? to_coordinator_[from] : to_member_[to];
  connection.last_due_ns =
      std::max(connection.last_due_ns, time_->now_ns() + random_.Between(kLeastDelayNs, kMostDelayNs));
  message.due_ns = connection.last_due_ns;
  connection.messages.push_back(std::move(message));
}

std::optional<ControlMessage> ControlWire::Receive(std::uint32_t from, std::uint32_t to) {
  Connection& connection = to == 0 ? to_coordinator_[from] : to_member_[to];
  if (connection.messages.empty() || connection.messages.front().due_ns > time_->now_ns() ||
      HeldBetween(from, to).Holds(time_->now_ns())) {
    return std::nullopt;
  }
  ControlMessage message = std::move(connection.messages.front());
  connection.messages.pop_front();
  return message;
}

void ControlWire::Kill(std::uint32_t rank, bool quietly) {
  if (is_dead_[rank]) return;
  if (quietly) {
    quiet_[rank] = {.from_ns = time_->now_ns(), .until_ns = kNever};
  } else if (rank != 0) {
    Send(rank, 0, {.kind = ControlMessage::Kind::kClosed});
  } else {
    for (std::uint32_t member = 1; member < is_dead_.size(); ++member) {
      Send(0, member, {.kind = ControlMessage::Kind::kClosed});
    }
  }
  is_dead_[rank] = true;
}

void ControlWire::Hold(std::uint32_t a, std::uint32_t b, std::int64_t until_ns) {
  if (a == 0 || b == 0) HeldBetween(a, b).Extend(time_->now_ns(), until_ns);
}

void ControlWire::Stall(std::uint32_t rank, std::int64_t until_ns) { quiet_[rank].Extend(time_->now_ns(), until_ns); }

std::int64_t ControlWire::SilentForNs(std::uint32_t observer, std::uint32_t peer) const {
  const std::int64_t now_ns = time_->now_ns();
  std::int64_t since_ns = now_ns;
  for (const Span& span : {quiet_[peer], HeldBetween(observer, peer)}) {
    if (span.Holds(now_ns)) since_ns = std::min(since_ns, span.from_ns);
  }
  // The time in which the observer itself stood still does not count.
  return now_ns - std::max(since_ns, quiet_[observer].from_ns == kNever ? since_ns : quiet_[observer].until_ns);
}

SimControlPlane::SimControlPlane(ControlWire& wire, const VirtualTime& time, NodeId rank,
                                 std::vector<rdma::Member> members, std::uint64_t run_token, WaitUntil wait,
                                 std::function<void(std::string_view)> at_phase)
    : ControlPlane(rank, run_token, rdma::RunKey{static_cast<std::uint8_t>(run_token)}, std::move(members)),
      wire_(&wire),
      time_(&time),
      wait_(std::move(wait)),
      at_phase_(std::move(at_phase)),
      left_(nodes(), false) {}

SimControlPlane::~SimControlPlane() { wire_->Kill(Value(rank()), /*quietly=*/false); }

absl::StatusOr<std::vector<std::string>> SimControlPlane::AllGather(std::string_view phase, std::string mine,
                                                                    absl::Duration /*timeout*/) {
  at_phase_(phase);
  if (!failure_.ok()) return failure_;
  const std::size_t index = gathers_begun_++;
  ControlMessage part{.index = index, .phase = std::string(phase), .texts = {std::move(mine)}};
  if (is_coordinator()) {
    TakePart(0, part);
  } else {
    wire_->Send(Value(rank()), 0, std::move(part));
  }
  const auto is_over = [&] {
    Poll();
    if (is_coordinator() && failure_.ok()) Distribute(index);
    return !failure_.ok() || results_.contains(index);
  };
  absl::Status seen;
  const auto is_over_or_seen = [&] {
    if (is_over()) return true;
    seen = watch_();
    return !seen.ok();
  };
  if (!is_over_or_seen()) wait_(is_over_or_seen);
  if (!seen.ok()) return seen;
  if (!results_.contains(index)) return failure_;
  std::vector<std::string> all = std::move(results_[index]);
  results_.erase(index);
  return all;
}

std::optional<absl::Status> SimControlPlane::PollFailure() {
  Poll();
  return failure_.ok() ? std::nullopt : std::optional(failure_);
}

void SimControlPlane::Abort(const absl::Status& reason) {
  if (!failure_.ok()) return;
  const absl::Status told(reason.code(), absl::StrCat("node ", Value(rank()), " ended the run: ", reason.message()));
  if (is_coordinator()) {
    Fail(told, std::nullopt);
  } else {
    failure_ = told;
    wire_->Send(Value(rank()), 0, {.kind = ControlMessage::Kind::kFailure, .status = told});
  }
}

absl::Status SimControlPlane::Leave(absl::Duration grace) {
  at_phase_("leave");
  if (!is_coordinator()) wire_->Send(Value(rank()), 0, {.kind = ControlMessage::Kind::kGoodbye});
  const std::int64_t deadline_ns = time_->now_ns() + absl::ToInt64Nanoseconds(grace);
  wait_([&] {
    Poll();
    return !failure_.ok() || AllHaveLeft() || time_->now_ns() >= deadline_ns;
  });
  if (is_coordinator()) {
    for (std::uint32_t member = 1; member < nodes(); ++member) {
      wire_->Send(0, member, {.kind = ControlMessage::Kind::kGoodbye});
    }
  }
  return failure_;
}

bool SimControlPlane::AllHaveLeft() const {
  return is_coordinator() ? std::all_of(left_.begin() + 1, left_.end(), [](bool left) { return left; }) : left_[0];
}

void SimControlPlane::Poll() {
  const std::uint32_t first = is_coordinator() ? 1 : 0;
  const std::uint32_t end = is_coordinator() ? nodes() : 1;
  for (std::uint32_t peer = first; peer < end; ++peer) {
    while (std::optional<ControlMessage> message = wire_->Receive(peer, Value(rank()))) Take(peer, *std::move(message));
    if (!left_[peer] && failure_.ok() && wire_->SilentForNs(Value(rank()), peer) >= kPeerTimeoutNs) {
      Lose(peer, "nothing was heard of it");
    }
  }
}

void SimControlPlane::Take(std::uint32_t from, ControlMessage message) {
  switch (message.kind) {
    case ControlMessage::Kind::kPart:
      TakePart(from, message);
      break;
    case ControlMessage::Kind::kAll:
      results_[message.index] = std::move(message.texts);
      break;
    case ControlMessage::Kind::kFailure:
      Fail(message.status, from);
      break;
    case ControlMessage::Kind::kGoodbye:
      left_[from] = true;
      break;
    case ControlMessage::Kind::kClosed:
      if (!left_[from]) Lose(from, "its connection was closed");
      break;
  }
}

void SimControlPlane::TakePart(std::uint32_t from, const ControlMessage& message) {
  Gather& gather = open_[message.index];
  if (gather.parts.empty()) {
    gather = {.phase = message.phase,
              .parts = std::vector<std::string>(nodes()),
              .has_part = std::vector<bool>(nodes(), false),
              .missing = nodes()};
  }
  if (gather.phase != message.phase || gather.has_part[from]) {
    Fail(absl::InternalError(
             absl::StrCat("node ", from, " is at '", message.phase, "', others at '", gather.phase, "'")),
         std::nullopt);
    return;
  }
  gather.parts[from] = message.texts.front();
  gather.has_part[from] = true;
  --gather.missing;
}

// The gathering is over once all parts are there and nobody is known to be lost.
void SimControlPlane::Distribute(std::size_t index) {
  const auto gather = open_.find(index);
  if (gather == open_.end() || gather->second.missing > 0) return;
  for (std::uint32_t member = 1; member < nodes(); ++member) {
    wire_->Send(0, member, {.kind = ControlMessage::Kind::kAll, .index = index, .texts = gather->second.parts});
  }
  results_[index] = std::move(gather->second.parts);
  open_.erase(gather);
}

void SimControlPlane::Fail(const absl::Status& reason, std::optional<std::uint32_t> known_to) {
  if (!failure_.ok()) return;
  failure_ = reason;
  if (!is_coordinator()) return;
  for (std::uint32_t member = 1; member < nodes(); ++member) {
    if (known_to != member) wire_->Send(0, member, {.kind = ControlMessage::Kind::kFailure, .status = reason});
  }
}

void SimControlPlane::Lose(std::uint32_t peer, std::string_view how) {
  Fail(absl::UnavailableError(absl::StrCat(rdma::NodeName(members()[peer]), " was lost: ", std::string(how))),
       std::nullopt);
}

}  // namespace glaive::sim
