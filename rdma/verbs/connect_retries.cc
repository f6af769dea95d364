#include "rdma/verbs/connect_retries.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace glaive::rdma {

void ConnectRetries::OnAttempt() {
  ++attempts_;
  retry_at_ns_.reset();
}

int ConnectRetries::StepMillis(std::int64_t now_ns) const {
  const absl::Duration left = absl::Nanoseconds(deadline_ns_ - now_ns);
  return static_cast<int>(absl::ToInt64Milliseconds(std::clamp(left, kShortestStep, kLongestStep)));
}

void ConnectRetries::OnRequest(std::int64_t now_ns) {
  request_ns_ = now_ns;
  answer_due_ns_ = std::min(now_ns + absl::ToInt64Nanoseconds(patience_), std::max(deadline_ns_, now_ns));
}

absl::Status ConnectRetries::NoAnswer(std::int64_t now_ns) const {
  const absl::Duration waited = absl::Trunc(absl::Nanoseconds(now_ns - request_ns_), absl::Milliseconds(100));
  return absl::UnavailableError(
      absl::StrCat("no answer to the request for a connection in ", absl::FormatDuration(waited)));
}

void ConnectRetries::OnFailure(const absl::Status& reason, std::int64_t now_ns) {
  last_failure_ = reason;
  if (IsOverdue(now_ns)) patience_ = std::min(2 * patience_, kLongestPatience);
  answer_due_ns_.reset();
  retry_at_ns_ = now_ns + absl::ToInt64Nanoseconds(pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
}

absl::Status ConnectRetries::Expired(std::int64_t now_ns) const {
  if (last_failure_.ok() || now_ns < deadline_ns_) return absl::OkStatus();
  return {last_failure_.code(),
          absl::StrCat(last_failure_.message(), "; tried ", attempts_, attempts_ == 1 ? " time" : " times", " in ",
                       absl::FormatDuration(join_timeout_), " (--join-timeout)")};
}

}  // namespace glaive::rdma
