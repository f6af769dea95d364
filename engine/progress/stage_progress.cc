#include "engine/progress/stage_progress.h"

#include <algorithm>
#include <iterator>

#include "rdma/base/check.h"

namespace glaive::engine {

StageProgress::StageProgress(const Windows& windows, std::uint32_t executor_count,
                             const std::vector<std::int64_t>& delays_ms)
    : windows_(windows),
      executor_count_(executor_count),
      delays_ms_(delays_ms),
      clock_(delays_ms.size() * executor_count) {}

void StageProgress::Advance(std::size_t flow, std::int64_t watermark_ms, std::int64_t read_ns) {
  if (clock_.Advance(flow, watermark_ms) && clock_.Min() >= window_end_ms_) {
    passed_.push_back({.min_ms = clock_.Min(), .read_ns = read_ns});
    window_end_ms_ = windows_.NextEndMs(clock_.Min());
  }
}

std::int64_t StageProgress::SlowestSourceMs(std::int64_t first_ms) const {
  std::int64_t slowest_ms = kMaxEventTimeMs;
  for (std::size_t input = 0; input < delays_ms_.size(); ++input) {
    const std::int64_t clock_ms =
        delays_ms_.size() == 1 ? clock_.Min() : clock_.MinOf(input * executor_count_, executor_count_);
    const std::int64_t told_ms = passed_.empty() ? clock_ms : std::min(clock_ms, passed_.front().min_ms);
    const std::int64_t known_ms = told_ms == kMinEventTimeMs ? first_ms : told_ms;
    const bool fits = known_ms <= kMaxEventTimeMs - delays_ms_[input];
    slowest_ms = std::min(slowest_ms, fits ? known_ms + delays_ms_[input] : kMaxEventTimeMs);
  }
  return slowest_ms;
}

std::uint64_t StageProgress::UnfiredMs() const {
  return passed_.empty()
             ? 0
             : static_cast<std::uint64_t>(clock_.Min()) - static_cast<std::uint64_t>(passed_.front().min_ms);
}

void StageProgress::ForgetPassedUntil(std::int64_t min_ms) {
  while (!passed_.empty() && passed_.front().min_ms <= min_ms) {
    passed_.pop_front();
  }
}

std::optional<std::int64_t> StageProgress::LastPassedReadNanos(std::int64_t min_ms) const {
  const auto behind = std::ranges::upper_bound(passed_, min_ms, {}, &Passing::min_ms);
  return behind == passed_.begin() ? std::nullopt : std::optional(std::prev(behind)->read_ns);
}

std::int64_t StageProgress::PassedReadNanos(std::int64_t window_end_ms) const {
  const auto passing = std::ranges::lower_bound(passed_, window_end_ms, {}, &Passing::min_ms);
  GLAIVE_CHECK(passing != passed_.end(), "no batch has passed the window's end at ", window_end_ms, " ms");
  return passing->read_ns;
}

}  // namespace glaive::engine
