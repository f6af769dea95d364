// Generator: a query's input as a pure function of (options, executor, record number).
//
// Immutable after construction, safe to share between threads. Any executor can produce any part of any executor's
// input in any order, so a restart or a check needs only numbers.
//
//   class BidGenerator final : public DrawnGenerator<Bid, /*kDraws=*/2> {
//    public:
//     explicit BidGenerator(const InputOptions& options) : DrawnGenerator(options) {}
//
//    private:
//     Bid Make(std::int64_t event_time_ms, const Draws& draw) const override {
//       return {.auction = keys().Draw(draw(0)), .price = Below(100, draw(1)), .event_time_ms = event_time_ms};
//     }
//   };
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "queries/common/key_distribution.h"
#include "queries/common/random.h"
#include "queries/common/timeline.h"

namespace glaive::queries {

/// What the inputs of all queries have in common.
struct InputOptions {
  std::uint64_t seed = 1;
  KeyOptions keys = {};
  TimelineOptions timeline = {};
};

/// InvalidArgument naming the option and its bounds.
inline absl::Status Validate(const InputOptions& options) {
  absl::Status status = Validate(options.keys);
  status.Update(Validate(options.timeline));
  return status;
}

template <typename R>
class Generator {
 public:
  virtual ~Generator() = default;

  /// Records first .. first + records.size() - 1 of an executor's input.
  virtual void Fill(std::uint32_t executor, std::uint64_t first, std::span<R> records) const = 0;
};

/// A generator of records whose keys and event times are as the options say, and whose other fields are drawn, with at
/// most kDraws draws a record.
template <typename R, std::uint64_t kDraws>
class DrawnGenerator : public Generator<R> {
 public:
  /// `options` must be valid.
  explicit DrawnGenerator(const InputOptions& options)
      : seed_(options.seed), timeline_(options.timeline), keys_(options.keys) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<R> records) const final {
    const std::uint64_t stream = StreamOf(seed_, executor);
    Timeline::Cursor time = timeline_.From(stream, first);
    for (R& record : records) {
      record = Make(time.Next(), Draws(executor, stream, first++));
    }
  }

 protected:
  using Draws = RecordDraws<kDraws>;

  /// The record of this event time and these draws.
  virtual R Make(std::int64_t event_time_ms, const Draws& draw) const = 0;

  const KeyDistribution& keys() const { return keys_; }

 private:
  std::uint64_t seed_;
  Timeline timeline_;
  KeyDistribution keys_;
};

}  // namespace glaive::queries
