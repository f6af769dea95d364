// Output: where a producer puts its records and controls: all consumers of its stream, in the order in which they were
// added. Producer: an operator that has one.
//
// It checks what consumers rely on: rules 1, 2 and 3 of operator.h. Used by its executor's thread alone.
//
//   output.Emit(fiber, Batch<Row>{.records = rows, .read_ns = now_ns});
//   output.Emit(fiber, Watermark{.time_ms = 70, .read_ns = now_ns});
//   output.Attend(fiber, now_ns);
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "engine/base/event_time.h"
#include "engine/graph/operator.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// See the head of this file.
template <typename R>
class Output {
 public:
  /// While the graph is opened. `consumer` outlives the run.
  void Add(Consumer<R>& consumer) { consumers_.push_back(&consumer); }

  void Emit(Fiber& fiber, const Batch<R>& batch) {
    GLAIVE_CHECK(!ended_ && !idle_, "records behind ", ended_ ? "the end of the stream" : "an Idle");
    ForEach([&](Consumer<R>& consumer) { consumer.Take(fiber, batch); });
  }

  void Emit(Fiber& fiber, const Control& control) {
    GLAIVE_CHECK(!ended_, "a control behind the end of the stream");
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      GLAIVE_CHECK(!idle_, "a watermark behind an Idle");
      GLAIVE_CHECK(watermark->time_ms > watermark_ms_ && watermark->time_ms < kMaxEventTimeMs,
                   "the watermark goes from ", watermark_ms_, " to ", watermark->time_ms);
      watermark_ms_ = watermark->time_ms;
    }
    if (std::holds_alternative<Idle>(control) || std::holds_alternative<Active>(control)) {
      GLAIVE_CHECK(idle_ == std::holds_alternative<Active>(control), "a second ", idle_ ? "Idle" : "Active");
      idle_ = !idle_;
    }
    ended_ = std::holds_alternative<EndOfStream>(control);
    ForEach([&](Consumer<R>& consumer) { consumer.On(fiber, control); });
  }

  void Flush(Fiber& fiber) {
    GLAIVE_CHECK(!ended_, "a Flush behind the end of the stream");
    ForEach([&](Consumer<R>& consumer) { consumer.Flush(fiber); });
  }

  /// Whether a consumer wants a turn.
  bool WantsTurn(std::int64_t now_ns) const {
    return std::ranges::any_of(consumers_, [&](const auto* consumer) { return consumer->WantsTurn(now_ns); });
  }
  void Attend(Fiber& fiber, std::int64_t now_ns) {
    GLAIVE_CHECK(!ended_, "an Attend behind the end of the stream");
    ForEach([&](Consumer<R>& consumer) {
      if (consumer.WantsTurn(now_ns)) {
        consumer.Attend(fiber, now_ns);
      }
    });
  }

  bool LeadsTooFar(std::int64_t ahead_ms = 0) const {
    return std::ranges::any_of(consumers_, [&](const auto* consumer) { return consumer->LeadsTooFar(ahead_ms); });
  }
  /// How far the consumer has come that is furthest behind; none if no consumer compares streams.
  std::optional<std::int64_t> least_watermark_ms() const {
    std::optional<std::int64_t> least;
    for (const Consumer<R>* consumer : consumers_) {
      const std::optional<std::int64_t> its = consumer->watermark_ms();
      least = least && its ? std::min(*least, *its) : least ? least : its;
    }
    return least;
  }

  /// The last one that was emitted; kMinEventTimeMs before the first.
  std::int64_t watermark_ms() const { return watermark_ms_; }
  bool idle() const { return idle_; }

 private:
  template <typename Fn>
  void ForEach(const Fn& call) {
    GLAIVE_CHECK(!is_emitting_, "a call of an output begins during another");
    is_emitting_ = true;
    for (Consumer<R>* consumer : consumers_) {
      call(*consumer);
    }
    is_emitting_ = false;
  }

  std::vector<Consumer<R>*> consumers_;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  bool idle_ = false;
  bool ended_ = false;
  bool is_emitting_ = false;
};

/// An operator that makes records of type R.
template <typename R>
class Producer : public Operator {
 public:
  Output<R>& output() { return output_; }
  const Output<R>& output() const { return output_; }

 private:
  Output<R> output_;
};

}  // namespace glaive::engine
