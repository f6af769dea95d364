#include "rdma/bootstrap/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace glaive::rdma {
namespace {

constexpr std::size_t kReadChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kReadBudgetBytes = std::size_t{1} << 20;

// A host that vanished is noticed after 3 s of silence and 5 probes, one a second; while data is on its way, when that
// has not been taken for 30 s. The latter would also hit a process that is stopped with megabytes yet to read.
constexpr int kKeepAliveIdleSeconds = 3;
constexpr int kKeepAliveIntervalSeconds = 1;
constexpr int kKeepAliveProbes = 5;
constexpr int kUserTimeoutMillis = 30'000;

void SetOption(int fd, int level, int name, int value) {
  // Best effort: a connection without keep-alive still works.
  (void)::setsockopt(fd, level, name, &value, sizeof(value));
}

}  // namespace

Connection::Connection(UniqueFd fd, std::string peer, FrameLimits limits)
    : fd_(std::move(fd)), peer_(std::move(peer)), decoder_(limits) {
  (void)::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
  SetOption(fd_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd_.get(), IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  SetOption(fd_.get(), IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  SetOption(fd_.get(), IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  SetOption(fd_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMillis);
}

void Connection::Send(std::shared_ptr<const std::string> frame) {
  outbound_.push_back({.frame = std::move(frame), .sealed = seal_.has_value()});
  Flush();
}

void Connection::Seal(const Digest& sending, const Digest& receiving) {
  seal_.emplace(sending);
  decoder_.set_seal(FrameSeal(receiving));
}

bool Connection::TakeChunk() {
  sent_of_chunk_ = 0;
  chunk_.clear();
  if (outbound_.empty()) return false;
  const Outbound& first = outbound_.front();
  const std::string_view next = std::string_view(*first.frame).substr(taken_of_first_, kMaxRecordBytes);
  chunk_ = first.sealed ? seal_->Seal(next) : std::string(next);
  taken_of_first_ += next.size();
  if (taken_of_first_ == first.frame->size()) {
    outbound_.pop_front();
    taken_of_first_ = 0;
  }
  return true;
}

void Connection::Flush() {
  while (sent_of_chunk_ < chunk_.size() || TakeChunk()) {
    const std::string_view rest = std::string_view(chunk_).substr(sent_of_chunk_);
    const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      // The end is reported by Receive, after what the peer had still to say.
      outbound_.clear();
      taken_of_first_ = 0;
      chunk_.clear();
      sent_of_chunk_ = 0;
      return;
    }
    sent_of_chunk_ += static_cast<std::size_t>(sent);
  }
}

void Connection::Receive() {
  std::array<char, kReadChunkBytes> chunk;
  std::size_t budget = kReadBudgetBytes;
  while (!ended() && budget > 0) {
    const std::size_t most = std::min(chunk.size(), decoder_.room());
    if (most == 0) return;
    const ssize_t received = ::recv(fd_.get(), chunk.data(), most, 0);
    if (received > 0) {
      const auto bytes = static_cast<std::size_t>(received);
      decoder_.Append(std::string_view(chunk.data(), bytes));
      budget -= std::min(budget, bytes);
    } else if (received == 0) {
      end_reason_ = "its connection was closed";
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      end_reason_ = ::strerrordesc_np(errno);
    }
  }
}

void Connection::Tend(std::int64_t now_ns, bool judge) {
  if (!pulse_.has_value()) return;
  const bool lost = pulse_->Lost(decoder_.records(), now_ns);
  if (ended()) return;
  if (lost && judge) {
    silent_ = true;
    end_reason_ = absl::StrCat("it has been silent for ", absl::FormatDuration(pulse_->peer_timeout()),
                               " (--peer-timeout): stopped, or its host is gone");
  } else if (seal_.has_value() && !wants_write() && pulse_->Due(now_ns)) {
    Send(EncodeMessage(BeatMessage{}));
  }
}

absl::StatusOr<std::optional<ControlMessage>> Connection::Next() {
  absl::StatusOr<std::optional<Frame>> frame = decoder_.Next();
  if (!frame.ok()) return frame.status();
  if (!frame->has_value()) return std::nullopt;
  absl::StatusOr<ControlMessage> message = DecodeMessage(**std::move(frame));
  if (!message.ok()) return message.status();
  return std::optional<ControlMessage>(*std::move(message));
}

absl::Status Connection::ExplainLoss(const absl::Status& loss, const Member& self) const {
  const absl::Duration absence = pulse_.has_value() ? pulse_->absence() : absl::ZeroDuration();
  if (absence == absl::ZeroDuration() || !absl::IsUnavailable(loss)) return loss;
  return absl::UnavailableError(
      absl::StrCat(NodeName(self), " was stopped, or kept from running, for ",
                   absl::FormatDuration(absl::Trunc(absence, absl::Milliseconds(100))),
                   ", longer than --peer-timeout=", absl::FormatDuration(pulse_->peer_timeout()),
                   ", and the others have ended the run without it (", loss.message(), ")"));
}

void Connection::ShutdownWrite() { (void)::shutdown(fd_.get(), SHUT_WR); }

}  // namespace glaive::rdma
