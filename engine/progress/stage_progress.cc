#include "engine/progress/stage_progress.h"

#include <algorithm>

#include "rdma/base/check.h"

namespace glaive::engine {

StageProgress::StageProgress(const Windows& windows, std::uint32_t executor_count,
                             const std::vector<FlowOrigin>& origins)
    : windows_(windows),
      executor_count_(executor_count),
      origins_(origins),
      all_from_sources_(std::ranges::count(origins, FlowOrigin::kStage) == 0),
      clock_(origins.size() * executor_count) {}

void StageProgress::Advance(std::size_t flow, std::int64_t watermark_ms, std::int64_t read_ns) {
  if (clock_.Advance(flow, watermark_ms) && clock_.Min() >= window_end_ms_) {
    passed_.push_back({.min_ms = clock_.Min(), .read_ns = read_ns});
    window_end_ms_ = windows_.NextEndMs(clock_.Min());
  }
}

std::int64_t StageProgress::slowest_source_ms() const {
  if (all_from_sources_) {
    return clock_.Min();
  }
  std::int64_t slowest_ms = kMaxEventTimeMs;
  for (std::size_t input = 0; input < origins_.size(); ++input) {
    if (origins_[input] == FlowOrigin::kSource) {
      slowest_ms = std::min(slowest_ms, clock_.MinOf(input * executor_count_, executor_count_));
    }
  }
  return slowest_ms;
}

std::int64_t StageProgress::PassedReadNanos(std::int64_t window_end_ms) const {
  const auto passing = std::ranges::lower_bound(passed_, window_end_ms, {}, &Passing::min_ms);
  GLAIVE_CHECK(passing != passed_.end(), "no batch has passed the window's end at ", window_end_ms, " ms");
  return passing->read_ns;
}

}  // namespace glaive::engine
