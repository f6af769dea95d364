#include "engine/cluster/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace glaive::engine {
namespace {

constexpr std::int64_t kIntervalNs = 500'000'000;
constexpr std::size_t kUsualColumns = 80;  // of a terminal that does not say

std::string WatermarkText(std::int64_t watermark_ms) {
  if (watermark_ms == kMinEventTimeMs) {
    return "none yet";
  }
  if (watermark_ms == kMaxEventTimeMs) {
    return "none";  // records without event times
  }
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMillis(watermark_ms), absl::UTCTimeZone());
}

/// At least 1.
std::size_t TerminalColumns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

}  // namespace

bool ShowsProgress(ProgressChoice choice) {
  return choice == ProgressChoice::kAlways || (choice == ProgressChoice::kAuto && isatty(STDERR_FILENO) == 1);
}

ProgressLine::ProgressLine(bool enabled, const Clock& clock)
    : enabled_(enabled), clock_(&clock), on_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && on_terminal_) {
    std::fputs(kClearLine, stderr);
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
  std::string text =
      absl::StrFormat("node 0: %.1f M records, %.1f M records/s, watermark %s, %d epochs",
                      static_cast<double>(records) * 1e-6, rate * 1e-6, WatermarkText(watermark_ms), epochs);
  if (idle > 0) {
    absl::StrAppendFormat(&text, ", %d of %d executors idle", idle, executors.size());
  }
  text = on_terminal_ ? absl::StrCat(kClearLine, text.substr(0, TerminalColumns() - 1)) : absl::StrCat(text, "\n");
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
  last_ns_ = now_ns;
  last_records_ = records;
}

}  // namespace glaive::engine
