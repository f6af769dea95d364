#include "engine/cluster/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kIntervalNs = 500'000'000;

std::string WatermarkText(std::int64_t watermark_ms) {
  if (watermark_ms == kMinEventTimeMs) {
    return "none yet";
  }
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMillis(watermark_ms), absl::UTCTimeZone());
}

}  // namespace

bool ShowsProgress(ProgressChoice choice) {
  return choice == ProgressChoice::kAlways || (choice == ProgressChoice::kAuto && isatty(STDERR_FILENO) == 1);
}

ProgressLine::~ProgressLine() {
  if (shown_) {
    std::fputs("\r\033[K", stderr);
  }
}

void ProgressLine::Update(std::span<const std::unique_ptr<Executor>> executors) {
  const std::int64_t now_ns = enabled_ ? clock_->NowNanos() : 0;
  if (!enabled_ || now_ns - last_ns_ < kIntervalNs) {
    return;
  }
  std::uint64_t records = 0;
  std::uint64_t epochs = 0;
  std::size_t idle = 0;
  std::int64_t watermark_ms = kMaxEventTimeMs;
  for (const auto& executor : executors) {
    const LiveProgress& live = executor->live();
    records += live.records.load(std::memory_order_relaxed);
    epochs += live.epochs.load(std::memory_order_relaxed);
    idle += live.idle.load(std::memory_order_relaxed) ? 1 : 0;
    watermark_ms = std::min(watermark_ms, live.watermark_ms.load(std::memory_order_relaxed));
  }
  const double seconds = last_ns_ == 0 ? 0.0 : static_cast<double>(now_ns - last_ns_) * 1e-9;
  const double rate = seconds > 0 ? static_cast<double>(records - last_records_) / seconds : 0.0;
  absl::FPrintF(stderr, "\r\033[Knode 0: %.1f M records, %.1f M records/s, watermark %s, %d epochs",
                static_cast<double>(records) * 1e-6, rate * 1e-6, WatermarkText(watermark_ms), epochs);
  if (idle > 0) {
    absl::FPrintF(stderr, ", %d of %d executors idle", idle, executors.size());
  }
  std::fflush(stderr);
  shown_ = true;
  last_ns_ = now_ns;
  last_records_ = records;
}

}  // namespace glaive::engine
