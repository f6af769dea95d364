// FlowReader: one executor's generated records for a second time, in order, with the watermarks by which they are
// judged late. For checks: it shares the generator with the query, and no code of the engine.
//
// A flow's watermark stands still for `watermark_every` records; then it is the latest event time so far, held back by
// the allowed lateness.
//
//   for (FlowReader<Bid> flow(input, executor, count); !flow.done(); flow.Advance())
//     Count(flow.record(), flow.event_time_ms(), flow.watermark_ms());
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "queries/common/generator.h"

namespace glaive::queries {

/// The input of a run, as a check sees it.
template <typename R>
struct CheckedInput {
  const Generator<R>* generator = nullptr;
  std::function<std::int64_t(const R&)> event_time_ms;
  /// How many records each executor read, by executor.
  std::vector<std::uint64_t> record_counts = {};
  /// Record n of an executor is record n % block_records of its generated input, with event time moved on by
  /// (n / block_records) * block_span_ms. 0: nothing is repeated.
  std::uint64_t block_records = 0;
  std::int64_t block_span_ms = 0;
  std::uint64_t watermark_every = 1;
  std::int64_t allowed_lateness_ms = 0;
};

template <typename R>
class FlowReader {
 public:
  /// `input` outlives the reader.
  FlowReader(const CheckedInput<R>& input, std::uint32_t executor)
      : input_(&input),
        executor_(executor),
        records_(input.record_counts[executor]),
        block_records_(input.block_records != 0 ? input.block_records : std::max<std::uint64_t>(records_, 1)),
        buffer_(kBufferRecords) {
    Refill();
  }

  bool done() const { return next_ == records_; }
  /// The next record; not when done.
  const R& record() const { return buffer_[next_ - buffer_first_]; }
  /// Its event time, moved on by the repetitions before it.
  std::int64_t event_time_ms() const { return input_->event_time_ms(record()) + moved_on_ms_; }
  /// That of the flow before the next record; kNever at first, the greatest number when done.
  std::int64_t watermark_ms() const { return done() ? std::numeric_limits<std::int64_t>::max() : watermark_ms_; }

  void Advance() {
    latest_ms_ = std::max(latest_ms_, event_time_ms());
    ++next_;
    if (next_ % input_->watermark_every == 0) {
      watermark_ms_ = latest_ms_ - input_->allowed_lateness_ms;
    }
    if (next_ == buffer_first_ + buffered_) {
      Refill();
    }
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

 private:
  static constexpr std::uint64_t kBufferRecords = 512;

  void Refill() {
    const std::uint64_t in_block = next_ % block_records_;
    buffer_first_ = next_;
    buffered_ = std::min({kBufferRecords, records_ - next_, block_records_ - in_block});
    moved_on_ms_ = static_cast<std::int64_t>(next_ / block_records_) * input_->block_span_ms;
    input_->generator->Fill(executor_, in_block, std::span(buffer_).first(buffered_));
  }

  const CheckedInput<R>* input_;
  std::uint32_t executor_;
  std::uint64_t records_;
  std::uint64_t block_records_;
  std::vector<R> buffer_;  // of one repetition only
  std::uint64_t buffer_first_ = 0;
  std::uint64_t buffered_ = 0;
  std::int64_t moved_on_ms_ = 0;
  std::uint64_t next_ = 0;
  std::int64_t latest_ms_ = kNever;
  std::int64_t watermark_ms_ = kNever;
};

}  // namespace glaive::queries
