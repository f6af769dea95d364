// ProcessingTime: a source's records by the time when they are read, whatever time they carry themselves.
//
// A record's time is when its batch was read, wall-clock milliseconds since 1970, and that is the watermark, too: no
// record is ever late. Time passes without records, a step of 10 ms at least, so windows close on a silent stream, and
// a flow never counts as idle. Flows on several hosts go by their own hosts' clocks; how far these are apart shows in
// which window a record falls into, and windows close when the slowest clock has passed their end. Two runs over one
// input give different results.
//
//   From(ProcessingTime(source)).KeyBy(...).Window(Tumbling{absl::Seconds(1)})...
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class ProcessingTimeSource final : public Source<R> {
 public:
  /// `clock` outlives the source.
  ProcessingTimeSource(std::unique_ptr<Source<R>> source, const Clock& clock)
      : source_(std::move(source)), clock_(&clock) {}

  SourceBatch<R> Poll() override {
    SourceBatch<R> batch = source_->Poll();
    read_ms_ = clock_->WallMillis();
    batch.event_time_shift_ms = read_ms_;
    batch.watermark_ms = read_ms_;
    batch.in_order = true;
    return batch;
  }

  absl::Status status() const override { return source_->status(); }
  SourceFindings findings() const override { return source_->findings(); }
  bool Ready() override { return source_->Ready() || clock_->WallMillis() - read_ms_ >= kStepMs; }

 private:
  static constexpr std::int64_t kStepMs = 10;

  std::unique_ptr<Source<R>> source_;
  const Clock* clock_;
  std::int64_t read_ms_ = 0;
};

/// The time that a record carries itself: none. The batch's shift is all there is.
struct NoTimeOfItsOwn {
  template <typename R>
  std::int64_t operator()(const R&) const {
    return 0;
  }
};

/// `source` is a SourceSpec; its times and watermarks are not read.
template <typename R, typename EventTime>
SourceSpec<R, NoTimeOfItsOwn> ProcessingTime(const SourceSpec<R, EventTime>& source) {
  const auto open = [open = source.open](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<R>>> {
    absl::StatusOr<std::unique_ptr<Source<R>>> inner = open(context);
    if (!inner.ok()) {
      return inner.status();
    }
    return std::make_unique<ProcessingTimeSource<R>>(*std::move(inner), *context.clock);
  };
  return {.open = open,
          .event_time_ms = {},
          .memory_bytes = source.memory_bytes,
          .compared_inputs = source.compared_inputs,
          .each_process_reads = source.each_process_reads};
}

}  // namespace glaive::engine
