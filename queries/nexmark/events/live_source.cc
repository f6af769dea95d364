#include "queries/nexmark/events/live_source.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/event_time.h"

namespace glaive::queries::nexmark::events {
namespace {

constexpr std::uint64_t kBatchEvents = (std::uint64_t{64} << 10) / sizeof(Event);

}  // namespace

LiveSource::LiveSource(std::shared_ptr<const EventGenerator> generator, std::uint32_t executor,
                       const LiveSourceOptions& options, const Clock& clock)
    : generator_(std::move(generator)),
      executor_(executor),
      options_(options),
      schedule_(options.records_per_second),
      clock_(&clock),
      texts_(generator_->options().texts),
      batch_(kBatchEvents) {}

engine::SourceBatch<Event> LiveSource::Poll() {
  const std::uint64_t allowed = Allowed();
  std::uint64_t count = std::min(kBatchEvents, allowed - std::min(allowed, read_));
  if (options_.watermark_every != 0) {
    count = std::min(count, options_.watermark_every - read_ % options_.watermark_every);
  }
  const std::span<Event> events = std::span(batch_).first(count);
  texts_.Clear();
  generator_->Fill(executor_, read_, events, texts_);
  const std::int64_t due_ns = count == 0 ? 0 : schedule_.DueNanos(read_);
  const std::int64_t last_due_ns = count == 0 ? 0 : schedule_.DueNanos(read_ + count - 1);
  read_ += count;
  for (const Event& event : events) {
    latest_ms_ = std::max(latest_ms_, event.date_time);
  }
  if (options_.watermark_every == 0 || read_ % options_.watermark_every == 0) {
    watermark_ms_ = latest_ms_;
  }
  return {.records = events,
          .watermark_ms = watermark_ms_,
          .ended = read_ >= options_.total_records || ended_,
          .in_order = options_.watermark_every == 0,
          .due_ns = due_ns,
          .last_due_ns = last_due_ns};
}

std::uint64_t LiveSource::Allowed() {
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  if (options_.duration_ns == kForever && !schedule_.has_times()) {
    return options_.total_records;
  }
  const std::int64_t now_ns = clock_->NowNanos();
  started_ns_ = started_ns_ < 0 ? now_ns : started_ns_;
  schedule_.Start(now_ns);
  const std::int64_t elapsed_ns = now_ns - started_ns_;
  ended_ = ended_ || elapsed_ns >= options_.duration_ns;
  if (ended_) {
    return read_;
  }
  return std::min(options_.total_records, schedule_.RecordsDue(now_ns));
}

}  // namespace glaive::queries::nexmark::events
