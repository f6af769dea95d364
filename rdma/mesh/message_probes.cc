#include "rdma/mesh/message_probes.h"

#include <array>

#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/verbs/completion_failure.h"

namespace glaive::rdma {

absl::StatusOr<std::optional<NodeId>> MessageProbes::Poll(Transport& transport, std::span<const std::byte> zeros,
                                                          LocalKey key) {
  if (first_missing_ == probes_.size()) return std::nullopt;
  have_arrived_.resize(probes_.size());
  for (; posted_ < probes_.size(); ++posted_) {
    const Probe& probe = probes_[posted_];
    const bool taken = probe.queue_pair->TryPostWrite({.local = zeros.data(),
                                                       .length = static_cast<std::uint32_t>(zeros.size()),
                                                       .local_key = key,
                                                       .remote = probe.region,
                                                       .remote_offset = probe.offset,
                                                       .wr_id = posted_,
                                                       .signaled = true});
    if (!taken) break;
  }
  transport.Flush();
  std::array<Completion, 32> completions;
  const std::size_t count = transport.PollCompletions(completions);
  for (const Completion& completion : std::span(completions).first(count)) {
    if (completion.status != WriteStatus::kDone) {
      return DidNotArrive(transport, probes_[completion.wr_id].node, zeros.size());
    }
    have_arrived_[completion.wr_id] = true;
  }
  while (first_missing_ < probes_.size() && have_arrived_[first_missing_]) ++first_missing_;
  if (first_missing_ == probes_.size()) return std::nullopt;
  if (absl::Status failure = transport.PollFailure(); !failure.ok()) return failure;
  return probes_[first_missing_].node;
}

// The transport says more. If this first large message may have been lost on its way, the MTU may be the cause.
absl::Status MessageProbes::DidNotArrive(Transport& transport, NodeId node, std::size_t size_bytes) const {
  absl::Status cause = transport.PollFailure();
  if (!cause.ok() && !absl::IsUnavailable(cause)) return cause;
  const char* const remedy =
      MayBeLostOnTheWay(cause) ? ". If that node still runs, an interface or switch on the way has a smaller MTU than "
                                 "the queue pairs: give all the same MTU (ip link show; ping -M do -s SIZE)"
                               : "";
  return absl::UnavailableError(
      absl::StrCat("node ", Value(node), " is connected, but the first message of full size (", FormatBytes(size_bytes),
                   ") did not reach it", cause.ok() ? "" : absl::StrCat(": ", std::string(cause.message())), remedy));
}

}  // namespace glaive::rdma
