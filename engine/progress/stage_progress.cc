#include "engine/progress/stage_progress.h"

#include <algorithm>
#include <iterator>

#include "rdma/base/check.h"

namespace glaive::engine {

StageProgress::StageProgress(const Windows& windows, std::uint32_t executor_count,
                             const std::vector<std::int64_t>& delays_ms, bool compares_inputs)
    : windows_(windows),
      executor_count_(executor_count),
      delays_ms_(delays_ms),
      compares_inputs_(compares_inputs),
      clock_(delays_ms.size() * executor_count) {}

void StageProgress::Advance(std::size_t flow, std::int64_t watermark_ms, std::int64_t read_ns) {
  if (clock_.Advance(flow, watermark_ms) && clock_.Min() >= window_end_ms_) {
    passed_.push_back({.min_ms = clock_.Min(), .read_ns = read_ns});
    window_end_ms_ = windows_.NextEndMs(clock_.Min());
  }
}

std::int64_t StageProgress::SlowestSourceMs(std::size_t input, std::int64_t first_ms) const {
  const auto clock_of = [this](std::size_t each) {
    return delays_ms_.size() == 1 ? clock_.Min() : clock_.MinOf(each * executor_count_, executor_count_);
  };
  if (!compares_inputs_) {
    // The first window that has not fired is as far behind the flows of this input as behind the slowest of all.
    const std::int64_t clock_ms = clock_of(input);
    const std::uint64_t unfired_ms = UnfiredMs();
    const bool fits = clock_ms != kMinEventTimeMs &&
                      unfired_ms < static_cast<std::uint64_t>(clock_ms) - static_cast<std::uint64_t>(kMinEventTimeMs);
    return SourceOfMs(input, fits ? clock_ms - static_cast<std::int64_t>(unfired_ms) : clock_ms, first_ms);
  }
  std::int64_t slowest_ms = kMaxEventTimeMs;
  for (std::size_t each = 0; each < delays_ms_.size(); ++each) {
    const std::int64_t clock_ms = clock_of(each);
    const std::int64_t told_ms = passed_.empty() ? clock_ms : std::min(clock_ms, passed_.front().min_ms);
    slowest_ms = std::min(slowest_ms, SourceOfMs(each, told_ms, first_ms));
  }
  return slowest_ms;
}

std::int64_t StageProgress::SourceOfMs(std::size_t input, std::int64_t clock_ms, std::int64_t first_ms) const {
  const std::int64_t known_ms = clock_ms == kMinEventTimeMs ? first_ms : clock_ms;
  const bool fits = known_ms <= kMaxEventTimeMs - delays_ms_[input];
  return fits ? known_ms + delays_ms_[input] : kMaxEventTimeMs;
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
