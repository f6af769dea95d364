#include "engine/progress/flow_progress.h"

#include <algorithm>
#include <utility>

#include "rdma/base/check.h"

namespace glaive::engine {

FlowProgress::FlowProgress(const FlowProgressOptions& options, const Windows& windows, StageProgress& stage)
    : options_(options), windows_(windows), stage_(&stage), flow_(stage.FlowOf(options.input, options.self)) {}

void FlowProgress::OnBatch(std::uint64_t records, std::uint64_t bytes, std::int64_t watermark_ms,
                           std::int64_t read_ns) {
  records_read_ += records;
  epoch_.bytes += bytes;
  epoch_.has_news = epoch_.has_news || records > 0;
  produced_ms_ = std::max(produced_ms_, watermark_ms);
  MoveTo(watermark_ms, read_ns);
}

void FlowProgress::MoveTo(std::int64_t watermark_ms, std::int64_t read_ns) {
  if (watermark_ms <= watermark_ms_) {
    return;
  }
  epoch_.has_news = true;
  if (watermark_ms_ == kMinEventTimeMs) {
    first_watermark_ms_ = watermark_ms;
    window_end_ms_ = windows_.NextEndMs(watermark_ms);
    // The first watermark passes the ends of all earlier windows, in which other flows may have records.
    boundary_read_ns_ = read_ns;
    unpublished_read_ns_ = read_ns;
  }
  watermark_ms_ = watermark_ms;
  if (watermark_ms >= window_end_ms_) {
    epoch_.passed_window_end = true;
    boundary_read_ns_ = boundary_read_ns_ == 0 ? read_ns : boundary_read_ns_;
    unpublished_read_ns_ = unpublished_read_ns_ == 0 ? read_ns : unpublished_read_ns_;
    window_end_ms_ = windows_.NextEndMs(watermark_ms);
  }
}

void FlowProgress::Publish() {
  if (watermark_ms_ > published_ms_) {
    published_ms_ = watermark_ms_;
    stage_->Advance(flow_, watermark_ms_, std::exchange(unpublished_read_ns_, 0));
  }
}

void FlowProgress::OnMarker(ExecutorId executor, const state::EpochMarker& marker) {
  const std::size_t flow = stage_->FlowOf(options_.input, executor);
  stage_->Advance(flow, marker.watermark_ms, marker.boundary_read_ns);
  stage_->SetIdle(flow, marker.idle == 1);
}

void FlowProgress::OnIdle(std::int64_t now_ns) {
  GLAIVE_CHECK(!is_idle_, "a flow becomes idle a second time");
  is_idle_ = true;
  stage_->SetIdle(flow_, true);
  epoch_.has_news = true;  // other idle flows need not wait for this one
  awakenings_ = stage_->awakenings();
  follows_from_ns_ = now_ns + (options_.of_results ? options_.patience_ns : 0);
}

void FlowProgress::OnActive() {
  epoch_.has_news = epoch_.has_news || is_idle_;
  is_idle_ = false;
  stage_->SetIdle(flow_, false);
}

void FlowProgress::Follow(std::int64_t now_ns) {
  if (!is_idle_) {
    return;
  }
  if (HasAwoken()) {
    awakenings_ = stage_->awakenings();
    follows_from_ns_ = now_ns + options_.patience_ns;
  }
  if (CanFollow(now_ns)) {
    MoveTo(FollowedMs(), now_ns);
  }
}

bool FlowProgress::ShouldEndEpoch(std::int64_t now_ns, std::uint64_t sources_bytes) const {
  EpochProgress epoch = epoch_;
  epoch.bytes = std::max(epoch.bytes, sources_bytes);
  epoch.elapsed_ns = now_ns - epoch_started_ns_;
  return options_.policy.ShouldEnd(epoch);
}

state::EpochMarker FlowProgress::EndEpoch(std::int64_t now_ns) {
  Publish();
  ++epochs_ended_;
  state::EpochMarker marker{};
  marker.epoch = epochs_ended_;
  marker.watermark_ms = watermark_ms_;
  marker.boundary_read_ns = boundary_read_ns_;
  marker.records_read = records_read_;
  marker.executor = Value(options_.self);
  marker.idle = is_idle_ ? 1 : 0;
  epoch_ = EpochProgress{};
  epoch_started_ns_ = now_ns;
  boundary_read_ns_ = 0;
  return marker;
}

bool FlowProgress::LeadsTooFar(std::int64_t ahead_ms) const {
  // An idle flow has followed others, and may be ahead of one that is idle by now. It becomes active by what it brings.
  if (produced_ms_ == kMinEventTimeMs || is_idle_) {
    return false;
  }
  const auto most_ms = static_cast<std::uint64_t>(options_.max_lead_ms);
  if (options_.goes_by_clock) {
    return stage_->UnfiredMs() > most_ms;
  }
  // A flow that has not reported yet counts as if at this flow's first watermark.
  const std::int64_t slowest_ms = stage_->SlowestSourceMs(options_.input, first_watermark_ms_);
  // The two may lie farther apart than a signed difference can say.
  const std::uint64_t lead_ms =
      slowest_ms < produced_ms_ ? static_cast<std::uint64_t>(produced_ms_) - static_cast<std::uint64_t>(slowest_ms) : 0;
  if (ahead_ms < 0) {
    const auto behind_ms = static_cast<std::uint64_t>(-ahead_ms);
    return lead_ms > behind_ms && lead_ms - behind_ms > most_ms;
  }
  return lead_ms > most_ms || static_cast<std::uint64_t>(ahead_ms) > most_ms - lead_ms;
}

}  // namespace glaive::engine
