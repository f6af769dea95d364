// TimedProducer: a producer that makes its records itself, each with its event time: it gathers them, and hands them on
// in batches of bounded size.
//
// It has no fiber of its own: its consumers run in the fiber of the producer that it takes in. The buffer is empty
// between two calls of its own consumer side: Take hands on all that it has made before it returns.
//
//   void Take(Fiber& fiber, const Batch<In>& batch) override {
//     const Stretch stretch{.in_order = batch.in_order, .read_ns = batch.read_ns};
//     for (const In& record : batch.records) Add(fiber, stretch, TimeOf(record), Made(record));
//     HandOn(fiber, stretch);
//   }
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/executor/task_context.h"
#include "engine/flow/batch.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/operator.h"
#include "engine/graph/output.h"
#include "rdma/base/every.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

/// The texts of a full buffer have about so many bytes at most.
inline constexpr std::size_t kMostTextBytes = std::size_t{256} << 10;

template <typename Out>
class TimedProducer : public Producer<TimedRecord<Out>> {
 public:
  /// Of its buffer, for the memory plan.
  static constexpr std::uint64_t kMemoryBytes =
      kMostMadeAtOnce<TimedRecord<Out>> * sizeof(TimedRecord<Out>) + (kHasText<Out> ? 2 * kMostTextBytes : 0);

 protected:
  /// The properties that all records made of one batch share.
  struct Stretch {
    bool in_order = false;     // whether their event times ascend
    std::int64_t read_ns = 0;  // when the batch was read
  };

  /// `context` outlives the producer.
  explicit TimedProducer(const TaskContext& context)
      : context_(&context),
        most_records_(
            std::min<std::size_t>(kMostMadeAtOnce<TimedRecord<Out>>, context.memory->thresholds().entries_per_turn)),
        turn_(context.memory->thresholds().entries_per_turn) {
    buffer_.reserve(most_records_);
  }

  using Producer<TimedRecord<Out>>::output;

  /// Adds a record to the buffer, with its texts. A full buffer is handed on before, and the fiber's turn ends: much
  /// may be made of little.
  void Add(Fiber& fiber, const Stretch& stretch, std::int64_t event_time_ms, const Out& record) {
    if (buffer_.size() == most_records_ || (kHasText<Out> && texts_.used_bytes() > kMostTextBytes)) {
      HandOn(fiber, stretch);
      EndTurn(fiber);
    }
    buffer_.push_back({.event_time_ms = event_time_ms, .record = texts_.Own(record)});
  }

  /// Hands on what is in the buffer, which may be empty.
  void HandOn(Fiber& fiber, const Stretch& stretch) {
    if (!buffer_.empty()) {
      output().Emit(
          fiber, Batch<TimedRecord<Out>>{.records = buffer_, .in_order = stretch.in_order, .read_ns = stretch.read_ns});
      buffer_.clear();
      texts_.Clear();
    }
  }

  /// Counts `records` that were taken in or made. Hands on and ends the fiber's turn once in
  /// StateThresholds::entries_per_turn of them, so that a turn is bounded whatever it makes of a record.
  void CountWork(Fiber& fiber, const Stretch& stretch, std::size_t records = 1) {
    if (turn_.Step(records)) {
      HandOn(fiber, stretch);
      EndTurn(fiber);
    }
  }

  /// Ends the fiber's turn. All other consumers get the turns that they want.
  void EndTurn(Fiber& fiber) {
    output().AttendOthers(fiber, context_->clock->NowNanos());  // all of its own, too: none is being called
    fiber.Yield();
  }

 private:
  const TaskContext* context_;
  const std::size_t most_records_;
  Every turn_;  // over records
  std::vector<TimedRecord<Out>> buffer_;
  state::TextArena texts_;  // of the buffer
};

/// A TimedProducer of what one stream brings. It passes on to its producer what its own consumers answer.
template <typename In, typename Out>
class TimedOperator : public TimedProducer<Out>, public Consumer<In> {
 public:
  void Flush(Fiber& fiber) override { output().Flush(fiber); }
  bool WantsTurn(const Turn& turn) const override { return output().WantsTurn(turn); }
  void Attend(Fiber& fiber, const Turn& turn) override { output().Attend(fiber, turn); }
  bool LeadsTooFar(std::int64_t ahead_ms) const override { return output().LeadsTooFar(ahead_ms); }
  std::optional<std::int64_t> watermark_ms() const override { return output().least_watermark_ms(); }
  void SetOthers(OtherConsumers& others) override {
    Consumer<In>::SetOthers(others);
    output().SetUpstream(&others);
  }

 protected:
  using TimedProducer<Out>::TimedProducer;
  using TimedProducer<Out>::output;
};

}  // namespace glaive::engine
