// Timeline: the event times of a generated stream: evenly rising with the record's number, each moved back at random by
// up to the disorder. Immutable and safe to share; a pure function of (stream, number).
//
//   Timeline timeline({.rate = {.records = 1'000, .span_ms = 1}, .disorder_ms = 200});
//   for (auto cursor = timeline.From(stream, first);;) event.event_time_ms = cursor.Next();
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "queries/common/random.h"

namespace glaive::queries {

/// `records` records of one executor's input span `span_ms` of event time. A block of exactly `records` records
/// therefore spans exactly `span_ms` and can be repeated with event time moved on by that much.
struct EventRate {
  std::uint64_t records = 1'000;
  std::int64_t span_ms = 1;
};

struct TimelineOptions {
  EventRate rate = {};
  std::int64_t start_time_ms = 1'600'000'200'000;
  std::int64_t align_ms = 1;     // the start is rounded down to a multiple of it
  std::int64_t disorder_ms = 0;  // the most that a record comes late by, against the latest before it
};

/// InvalidArgument naming the option and its bounds.
absl::Status Validate(const TimelineOptions& options);

class Timeline {
 public:
  /// Steps through consecutive numbers without a division.
  class Cursor {
   public:
    std::int64_t Next();

   private:
    friend class Timeline;
    __extension__ using Uint128 = unsigned __int128;

    Cursor(const Timeline& timeline, std::uint64_t stream, std::uint64_t first);

    const TimelineOptions* options_;
    std::uint64_t counter_;  // of the disorder's draws
    std::int64_t time_ms_;
    std::int64_t step_ms_;
    Uint128 fraction_;
    Uint128 step_fraction_;
  };

  /// `options` must be valid.
  explicit Timeline(const TimelineOptions& options);

  /// The event times of an executor's records from `first` on. The timeline outlives the cursor.
  Cursor From(std::uint64_t stream, std::uint64_t first) const { return {*this, stream, first}; }
  /// The event time that a record would have without disorder, ms; the same for every executor.
  std::int64_t InOrderMs(std::uint64_t number) const;
  /// That of record 0.
  std::int64_t start_time_ms() const { return start_time_ms_; }

 private:
  TimelineOptions options_;
  std::int64_t start_time_ms_ = 0;
};

inline std::int64_t Timeline::Cursor::Next() {
  std::int64_t time_ms = time_ms_;
  if (options_->disorder_ms > 0) {
    counter_ += kCounterStep;
    time_ms -= static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(options_->disorder_ms) + 1, Mix(counter_)));
  }
  time_ms_ += step_ms_;
  fraction_ += step_fraction_;
  if (fraction_ >= options_->rate.records) {
    fraction_ -= options_->rate.records;
    ++time_ms_;
  }
  return time_ms;
}

}  // namespace glaive::queries
