// ConnectRetries: decides when a failed connection is tried again, and makes the error when the time is up.
//
// The pause grows from kFirstPause by a factor of two up to kLongestPause. An attempt whose request is not answered is
// given up after kFirstPatience; the next one after twice that, up to kLongestPatience, since a busy peer may only be
// slow. The kernel would repeat the same request for about a minute. Plain state without a clock; one for each
// connection, used by its connector.
//
//   ConnectRetries retries(now_ns, absl::Seconds(60));
//   retries.OnAttempt(); ... retries.OnRequest(now_ns);
//   if (retries.IsOverdue(now_ns)) reason = retries.NoAnswer();
//   ... retries.OnFailure(reason, now_ns); ... if (retries.IsDue(now_ns)) ... retries.OnAttempt();
//   if (absl::Status failure = retries.Expired(now_ns); !failure.ok()) return failure;
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace glaive::rdma {

/// See the head of this file.
class ConnectRetries {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(20);
  static constexpr absl::Duration kLongestPause = absl::Seconds(2);
  static constexpr absl::Duration kShortestStep = absl::Milliseconds(100);
  static constexpr absl::Duration kLongestStep = absl::Seconds(4);
  static constexpr absl::Duration kFirstPatience = absl::Seconds(3);
  static constexpr absl::Duration kLongestPatience = absl::Seconds(12);

  ConnectRetries() = default;
  ConnectRetries(std::int64_t now_ns, absl::Duration join_timeout)
      : join_timeout_(join_timeout), deadline_ns_(now_ns + absl::ToInt64Nanoseconds(join_timeout)) {}

  /// An attempt begins.
  void OnAttempt();
  /// How long one step of it before the request may take, in milliseconds, so that its failure is there when time is
  /// up.
  int StepMillis(std::int64_t now_ns) const;
  /// Its request is on the way to the peer.
  void OnRequest(std::int64_t now_ns);
  /// Whether the request should have been answered by now, also because time is up.
  bool IsOverdue(std::int64_t now_ns) const { return answer_due_ns_.has_value() && now_ns >= *answer_due_ns_; }
  /// Unavailable: how long the request that is overdue was not answered.
  absl::Status NoAnswer(std::int64_t now_ns) const;
  /// It has failed; the next is due after a pause.
  void OnFailure(const absl::Status& reason, std::int64_t now_ns);
  /// Whether the next attempt is to begin.
  bool IsDue(std::int64_t now_ns) const { return retry_at_ns_.has_value() && now_ns >= *retry_at_ns_; }
  /// Once the join timeout is over and an attempt has failed: the last failure, and how many attempts there were.
  absl::Status Expired(std::int64_t now_ns) const;

 private:
  absl::Duration join_timeout_ = absl::InfiniteDuration();
  std::int64_t deadline_ns_ = 0;
  std::uint32_t attempts_ = 0;
  absl::Duration pause_ = kFirstPause;
  absl::Duration patience_ = kFirstPatience;
  std::int64_t request_ns_ = 0;
  std::optional<std::int64_t> answer_due_ns_;
  std::optional<std::int64_t> retry_at_ns_;
  absl::Status last_failure_;
};

}  // namespace glaive::rdma
