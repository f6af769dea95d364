#include "rdma/bootstrap/admission.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "rdma/base/address.h"
#include "rdma/base/exhaustion.h"
#include "rdma/bootstrap/reminder.h"

namespace glaive::rdma {
namespace {

// How long a connection may take to say its next word, and how many such there may be at a time.
constexpr absl::Duration kStrangerTimeout = absl::Seconds(5);
constexpr std::size_t kMaxStrangers = 256;
// How long a member takes, at the most, to answer its challenge: until then nobody is sent away for want of room.
constexpr absl::Duration kAnswerTime = absl::Seconds(1);
// Connections accepted by one Poll, so that those that are open are read in between.
constexpr int kMaxAccepted = 32;
// Who is refused waits that long to learn of it, so that guessing is slow.
constexpr absl::Duration kRefusalPause = absl::Seconds(1);
// How long rank 0 accepts no connection after it had no descriptor left for one.
constexpr absl::Duration kDescriptorPause = absl::Milliseconds(200);
constexpr absl::Duration kLogInterval = absl::Seconds(1);
constexpr absl::Duration kLatecomerTimeout = absl::Seconds(1);
constexpr std::size_t kMaxRanksNamed = 16;

}  // namespace

absl::StatusOr<std::vector<MemberLink>> Admission::AwaitAll() {
  links_[0].member = MemberOf(hello_);
  absl::Status status = Admit(waiter_.DeadlineIn(options_.join_timeout));
  if (status.ok()) return std::move(links_);
  if (absl::IsDeadlineExceeded(status)) {
    status = TimedOut();
  } else {
    AwaitLatecomers();
  }
  // Whoever is at the door but has not said who it is yet is told as well, if it knows the secret.
  std::vector<Connection*> known;
  for (const auto& connection : refused_) known.push_back(connection.get());
  for (const Stranger& stranger : strangers_) {
    if (stranger.state == Stranger::State::kProven) known.push_back(stranger.connection.get());
  }
  for (const MemberLink& link : links_) {
    if (link.connection != nullptr) known.push_back(link.connection.get());
  }
  waiter_.PartFrom(known, std::make_shared<const std::string>(EncodeMessage(AbortMessage{status})), kPartingTimeout);
  return status;
}

absl::Status Admission::Admit(std::int64_t deadline_ns) {
  Reminder reminder(waiter_.NowNanos());
  while (admitted_ + 1 < hello_.nodes) {
    if (options_.log && reminder.Due(waiter_.NowNanos())) {
      options_.log(absl::StrCat("waits at ", listener_.address(), " for ", MissingRanks(), ", for at most ",
                                absl::FormatDuration(options_.join_timeout), " (--join-timeout)", Hints()));
    }
    std::vector<pollfd> fds = {DoorEntry()};
    PollStrangers(fds);
    for (const MemberLink& link : links_) {
      if (link.connection != nullptr) fds.push_back(PollEntry(*link.connection));
    }
    if (absl::Status status = waiter_.Wait(fds, deadline_ns); !status.ok()) return status;
    if (absl::Status status = Poll(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Admission::Poll() {
  if (absl::Status status = HearMembers(); !status.ok()) return status;
  if (absl::Status status = HearStrangers(); !status.ok()) return status;
  return Accept();
}

void Admission::AwaitLatecomers() {
  const std::int64_t deadline_ns = waiter_.DeadlineIn(kLatecomerTimeout);
  while (admitted_ + refused_.size() + 1 < hello_.nodes) {
    std::vector<pollfd> fds = {DoorEntry()};
    PollStrangers(fds);
    if (!waiter_.Wait(fds, deadline_ns).ok()) return;  // also when the user or a failed child ended the start
    for (const MemberLink& link : links_) {
      if (link.connection != nullptr) link.connection->Tend(waiter_.NowNanos(), /*judge=*/false);
    }
    (void)HearStrangers();  // whoever comes now is told the first reason
    if (!Accept().ok()) return;
  }
}

absl::Status Admission::Accept() {
  for (int i = 0; i < kMaxAccepted && HasRoom(); ++i) {
    SocketAddress address;
    address.length = sizeof(address.storage);
    UniqueFd fd(::accept4(listener_.fd(), reinterpret_cast<sockaddr*>(&address.storage), &address.length,
                          SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) {
      // Strangers take no descriptor away from members: one of them goes, now or when it has had its time.
      if (MakeRoom()) return absl::OkStatus();
      if (!strangers_.empty()) {
        Log(absl::StrCat("cannot take in another connection for now: ", ErrorText(errno)));
        accept_again_ns_ = waiter_.DeadlineIn(kDescriptorPause);
        return absl::OkStatus();
      }
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot take in all of ", hello_.nodes, " nodes: ", ErrorText(errno)));
    }
    if (!fd.valid()) return absl::OkStatus();  // nobody there any more
    if (strangers_.size() >= kMaxStrangers) MakeRoom();
    Stranger stranger{
        .connection = std::make_unique<Connection>(std::move(fd), FormatAddress(address), kStrangerLimits),
        .deadline_ns = waiter_.DeadlineIn(kStrangerTimeout),
        .answer_ns = waiter_.DeadlineIn(kAnswerTime),
        .nonce = MakeNonce(options_.random)};
    stranger.connection->Send(EncodeMessage(ChallengeMessage{.nonce = stranger.nonce}));
    strangers_.push_back(std::move(stranger));
  }
  return absl::OkStatus();
}

// One that was refused, else the one that has said nothing for the longest time, if it has had the time to.
std::vector<Admission::Stranger>::iterator Admission::Dispensable() {
  const auto refused = std::find_if(strangers_.begin(), strangers_.end(), [](const Stranger& stranger) {
    return stranger.state == Stranger::State::kRefused;
  });
  if (refused != strangers_.end()) return refused;
  const std::int64_t now_ns = waiter_.NowNanos();
  return std::find_if(strangers_.begin(), strangers_.end(), [now_ns](const Stranger& stranger) {
    return stranger.state == Stranger::State::kChallenged && now_ns >= stranger.answer_ns;
  });
}

bool Admission::HasRoom() {
  if (waiter_.NowNanos() < accept_again_ns_) return false;
  return strangers_.size() < kMaxStrangers || Dispensable() != strangers_.end();
}

// Lets one go; false if nobody can be spared.
bool Admission::MakeRoom() {
  const auto place = Dispensable();
  if (place == strangers_.end()) return false;
  if (place->state != Stranger::State::kRefused) TurnAway(*place, "it said nothing while too many others came");
  strangers_.erase(place);
  return true;
}

// Of the listener; without room, nobody is called in.
pollfd Admission::DoorEntry() {
  return {.fd = listener_.fd(), .events = static_cast<short>(HasRoom() ? POLLIN : 0), .revents = 0};
}

// What a refused one says is not even read.
void Admission::PollStrangers(std::vector<pollfd>& fds) const {
  for (const Stranger& stranger : strangers_) {
    if (stranger.state != Stranger::State::kRefused) fds.push_back(PollEntry(*stranger.connection));
  }
}

absl::Status Admission::HearStrangers() {
  absl::Status verdict;
  std::vector<Stranger> waiting;
  waiting.swap(strangers_);
  for (Stranger& stranger : waiting) {
    if (stranger.state != Stranger::State::kRefused) verdict.Update(HearStranger(stranger));
    const bool let_go = stranger.state == Stranger::State::kRefused && waiter_.NowNanos() >= stranger.deadline_ns;
    if (stranger.connection != nullptr && !let_go) strangers_.push_back(std::move(stranger));
  }
  return verdict;
}

// Takes the connection away once it is a member's, or that of a node that does not match.
absl::Status Admission::HearStranger(Stranger& stranger) {
  stranger.connection->Flush();
  stranger.connection->Receive();
  while (true) {
    const absl::StatusOr<std::optional<ControlMessage>> message = stranger.connection->Next();
    if (!message.ok()) {
      TurnAway(stranger, message.status().message());
      return absl::OkStatus();
    }
    if (!message->has_value()) break;
    absl::Status verdict = Answer(stranger, **message);
    if (!verdict.ok() || stranger.connection == nullptr || stranger.state == Stranger::State::kRefused) return verdict;
  }
  if (stranger.connection->ended()) {
    TurnAway(stranger, "its connection ended before it said who it is");
  } else if (waiter_.NowNanos() >= stranger.deadline_ns) {
    TurnAway(stranger, absl::StrCat("it said nothing for ", absl::FormatDuration(kStrangerTimeout)));
  }
  return absl::OkStatus();
}

absl::Status Admission::Answer(Stranger& stranger, const ControlMessage& message) {
  if (stranger.state == Stranger::State::kChallenged) {
    if (CheckAnswer(stranger, message)) {
      stranger.state = Stranger::State::kProven;
      stranger.deadline_ns = waiter_.DeadlineIn(kStrangerTimeout);
    }
    return absl::OkStatus();
  }
  if (const Hello* hello = std::get_if<Hello>(&message)) return Judge(stranger.connection, *hello);
  if (!std::holds_alternative<BeatMessage>(message)) TurnAway(stranger, "it did not say who it is");
  return absl::OkStatus();
}

bool Admission::CheckAnswer(Stranger& stranger, const ControlMessage& message) {
  const auto* answer = std::get_if<AnswerMessage>(&message);
  if (answer == nullptr) {
    TurnAway(stranger, "it did not answer the challenge");
    return false;
  }
  const Nonces nonces{.coordinator = stranger.nonce, .member = answer->nonce};
  if (!SameDigest(MemberProof(options_.secret, nonces), answer->proof)) {
    TurnAway(stranger, "it does not know this run's secret");
    return false;
  }
  stranger.connection->Send(EncodeMessage(AcceptMessage{.proof = CoordinatorProof(options_.secret, nonces)}));
  const SessionKeys keys = DeriveKeys(options_.secret, nonces);
  stranger.connection->Seal(keys.coordinator, keys.member);
  stranger.connection->set_limits(kNewcomerLimits);
  return true;
}

absl::Status Admission::HearMembers() {
  for (MemberLink& link : links_) {
    if (link.connection == nullptr) continue;
    link.connection->Flush();
    link.connection->Receive();
    link.connection->Tend(waiter_.NowNanos(), /*judge=*/true);
    while (true) {
      const absl::StatusOr<std::optional<ControlMessage>> message = link.connection->Next();
      if (!message.ok()) {
        return absl::InternalError(absl::StrCat(NodeName(link.member), ": ", message.status().message()));
      }
      if (!message->has_value()) break;
      if (std::holds_alternative<BeatMessage>(**message)) continue;
      if (const auto* abort = std::get_if<AbortMessage>(&**message)) {
        return link.connection->ExplainLoss(abort->reason, links_[0].member);
      }
      return absl::InternalError(absl::StrCat(NodeName(link.member), " spoke before the run began"));
    }
    if (link.connection->ended()) {
      const absl::Status loss = absl::UnavailableError(
          absl::StrCat(NodeName(link.member), " was lost before the run began: ", link.connection->end_reason()));
      return link.connection->ExplainLoss(loss, links_[0].member);
    }
  }
  return absl::OkStatus();
}

absl::Status Admission::Judge(std::unique_ptr<Connection>& connection, const Hello& hello) {
  absl::Status verdict = CheckHello(hello_, hello);
  if (verdict.ok() && hello.rank == hello_.rank) {
    verdict = absl::FailedPreconditionError(absl::StrCat("a second process was started as rank ", Value(hello.rank),
                                                         ", the coordinator; give each process a rank of its own"));
  }
  if (verdict.ok() && links_[Value(hello.rank)].connection != nullptr) {
    const Member& first = links_[Value(hello.rank)].member;
    verdict =
        absl::FailedPreconditionError(absl::StrCat("rank ", Value(hello.rank), " came twice: processes ", first.pid,
                                                   " and ", hello.pid, "; give each process a rank of its own"));
  }
  if (!verdict.ok()) {
    refused_.push_back(std::move(connection));
    return verdict;
  }
  MemberLink& link = links_[Value(hello.rank)];
  link.member = MemberOf(hello);
  link.connection = std::move(connection);
  link.connection->set_limits(kMemberLimits);
  link.connection->StartPulse(options_.peer_timeout, waiter_.NowNanos());
  ++admitted_;
  return absl::OkStatus();
}

void Admission::TurnAway(Stranger& stranger, absl::string_view why) {
  stranger.state = Stranger::State::kRefused;
  stranger.deadline_ns = waiter_.DeadlineIn(kRefusalPause);
  last_turned_away_ = absl::StrCat(stranger.connection->peer(), " was turned away: ", why);
  Log(last_turned_away_);
}

void Admission::Log(const std::string& text) {
  if (!options_.log) return;
  if (waiter_.NowNanos() < next_log_ns_) {
    ++not_logged_;
    return;
  }
  options_.log(not_logged_ == 0 ? text : absl::StrCat(text, " (and ", not_logged_, " others before)"));
  next_log_ns_ = waiter_.DeadlineIn(kLogInterval);
  not_logged_ = 0;
}

// "ranks 1, 3 of 4 nodes".
std::string Admission::MissingRanks() const {
  std::vector<std::string> missing;
  for (const MemberLink& link : links_) {
    const auto rank = static_cast<std::size_t>(&link - links_.data());
    if (rank != 0 && link.connection == nullptr) missing.push_back(absl::StrCat(rank));
  }
  const std::size_t count = missing.size();
  if (count > kMaxRanksNamed) {
    missing.resize(kMaxRanksNamed);
    missing.push_back("...");
  }
  return absl::StrCat(count == 1 ? "rank " : "ranks ", absl::StrJoin(missing, ", "), " of ", hello_.nodes, " nodes");
}

absl::Status Admission::TimedOut() const {
  return absl::DeadlineExceededError(absl::StrCat(
      MissingRanks(), " did not join at ", listener_.address(), " within ", absl::FormatDuration(options_.join_timeout),
      "; start them with --rank and --coordinator, or raise --join-timeout", Hints()));
}

// Why ranks may be missing.
std::string Admission::Hints() const {
  std::string hints;
  if (IsLoopback(LocalAddress(listener_.fd()))) absl::StrAppend(&hints, "; no other host reaches a loopback address");
  if (!last_turned_away_.empty()) absl::StrAppend(&hints, "; ", last_turned_away_);
  return hints;
}

}  // namespace glaive::rdma
