#include "tests/sim/invariants.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace glaive::sim {

void Invariants::BeforeRound(engine::Executor& executor) {
  for (std::uint32_t other = 0; other < scenario_->executor_count(); ++other) {
    if (ExecutorId{other} == executor.id()) continue;
    inbound_[{executor.id(), ExecutorId{other}}].was_ready = executor.mesh().receiver(ExecutorId{other}).Ready();
  }
}

std::optional<std::string> Invariants::CheckRing(const rdma::ChannelSender& sender,
                                                 const rdma::ChannelReceiver& receiver, ExecutorId from,
                                                 ExecutorId to) const {
  const std::uint64_t released = receiver.received() - receiver.held();
  if (receiver.received() > sender.sent() || sender.sent() - released > sender.options().credits ||
      sender.consumed() > released) {
    return absl::StrCat("I1: executor ", Value(from), " has sent ", sender.sent(), " messages to ", Value(to),
                        " and knows of ", sender.consumed(), " consumed; that has received ", receiver.received(),
                        " and given back ", released, " of ", sender.options().credits, " slots");
  }
  return std::nullopt;
}

std::optional<std::string> Invariants::AtEnd(engine::Executor& executor) const {
  const rdma::SegmentPool& segments = executor.mesh().segments();
  if (segments.available() != segments.size()) {
    return absl::StrCat("I6: executor ", Value(executor.id()), " has ended, and ",
                        segments.size() - segments.available(), " of its segments are not back");
  }
  return std::nullopt;
}

std::optional<std::string> Invariants::AtRow(std::int64_t window_end_ms) const {
  if (!entry_->has_known_flows()) return std::nullopt;
  const std::int64_t slowest_ms = truth_->SlowestMs(kBeginningMs);
  const std::int64_t passed_ms =
      slowest_ms == kEndMs || slowest_ms == kBeginningMs ? slowest_ms : slowest_ms - scenario_->lateness_ms;
  if (window_end_ms > passed_ms) {
    return absl::StrCat("I4: a row of a window that ends at ", window_end_ms, " ms, while a flow is at ", passed_ms);
  }
  return std::nullopt;
}

std::optional<std::string> Invariants::AtLateResult(std::int64_t time_ms) const {
  const std::int64_t fastest_ms = truth_->FastestMs(1);
  if (fastest_ms != kBeginningMs && time_ms < fastest_ms - scenario_->lateness_ms) return std::nullopt;
  return absl::StrCat("a result of ", time_ms, " ms is late, and the source that it is joined with is at ", fastest_ms,
                      " ms");
}

std::optional<std::string> Invariants::AtBatch(std::size_t source, ExecutorId executor) const {
  if (!entry_->compares_flows) return std::nullopt;
  if (scenario_->roles().feeds()) return std::nullopt;  // a feeder reads ahead of the executor that waits
  // Processing time goes on without batches, and the truth has the times of batches alone.
  if (entry_->by_processing_time) return std::nullopt;
  const FlowPosition& position = truth_->Of(source, executor);
  if (scenario_->max_lead_ms == 0 || position.watermark_ms == kBeginningMs) return std::nullopt;
  // Where results of the first stage's sources are joined with another source, the first stage does not wait for that
  // source.
  const bool joins_results = entry_->results_delay_ms > 0;
  const std::size_t first = entry_->sources_apart ? source : 0;
  const auto first_stage_sources = static_cast<std::size_t>(entry_->first_stage_sources);
  std::size_t end = truth_->sources();
  if (entry_->sources_apart) end = source + 1;
  if (joins_results) end = std::max(source + 1, first_stage_sources);
  // A flow that has not told its watermark counts as if at this flow's first one. A union tells its first watermark
  // once each of its sources has one.
  std::int64_t first_ms = position.first_watermark_ms;
  for (std::size_t other = 0; entry_->unites_sources && other < truth_->sources(); ++other) {
    first_ms = std::max(first_ms, truth_->Of(other, executor).first_watermark_ms);
  }
  const std::int64_t slowest_ms = truth_->SlowestOfMs(first, end - first, first_ms);
  const bool waits_for_results = joins_results && source >= first_stage_sources;
  const std::int64_t delay_ms = waits_for_results ? entry_->results_delay_ms + scenario_->lateness_ms : 0;
  if (slowest_ms < position.watermark_ms && position.watermark_ms - slowest_ms > scenario_->max_lead_ms + delay_ms) {
    return absl::StrCat("I7: source ", source, " of executor ", Value(executor), " is at ", position.watermark_ms,
                        " ms, the slowest at ", slowest_ms);
  }
  return std::nullopt;
}

}  // namespace glaive::sim
