// Output: hands a producer's records and controls to all consumers of its stream, in the order in which they were
// added. Producer: an operator that has one.
//
// It checks rules 1, 2 and 3 of operator.h, on which consumers rely. A consumer that holds up the producer gives the
// others their turns through it (other_consumers.h). Used by its executor's thread alone.
//
//   output.Emit(fiber, Batch<Row>{.records = rows, .read_ns = now_ns});
//   output.Emit(fiber, Watermark{.time_ms = 70, .read_ns = now_ns});
//   output.Attend(fiber, {.now_ns = now_ns});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/event_time.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "rdma/base/check.h"

namespace glaive::engine {

/// See the head of this file.
template <typename R>
class Output final : public OtherConsumers {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// While the graph is opened. `consumer` outlives the run.
  void Add(Consumer<R>& consumer) {
    consumers_.push_back(&consumer);
    consumer.SetOthers(*this);
  }
  /// In the body of a loop, where all executors wait for each watermark: consumers tell it at once.
  void FlushBehindWatermarks() { flushes_behind_watermarks_ = true; }
  /// For an operator that runs in the fiber of another producer: that one's consumers, beside the operator.
  void SetUpstream(OtherConsumers* upstream) { upstream_ = upstream; }

  void Emit(Fiber& fiber, const Batch<R>& batch) {
    GLAIVE_CHECK(!ended_ && !idle_, "records behind ", ended_ ? "the end of the stream" : "an Idle");
    ForEach([&](Consumer<R>& consumer) { consumer.Take(fiber, batch); });
  }

  void Emit(Fiber& fiber, const Control& control) {
    GLAIVE_CHECK(!ended_, "a control behind the end of the stream");
    if (const auto* watermark = std::get_if<Watermark>(&control)) {
      GLAIVE_CHECK(!idle_, "a watermark behind an Idle");
      GLAIVE_CHECK(watermark->time_ms > watermark_ms_ && watermark->time_ms < kEndedMs, "the watermark goes from ",
                   watermark_ms_, " to ", watermark->time_ms);
      watermark_ms_ = watermark->time_ms;
    }
    if (std::holds_alternative<Idle>(control) || std::holds_alternative<Active>(control)) {
      GLAIVE_CHECK(idle_ == std::holds_alternative<Active>(control), "a second ", idle_ ? "Idle" : "Active");
      idle_ = !idle_;
    }
    ended_ = std::holds_alternative<EndOfStream>(control);
    ForEach([&](Consumer<R>& consumer) { consumer.On(fiber, control); });
    if (flushes_behind_watermarks_ && std::holds_alternative<Watermark>(control)) {
      Flush(fiber);
    }
  }

  void Flush(Fiber& fiber) {
    GLAIVE_CHECK(!ended_, "a Flush behind the end of the stream");
    ForEach([&](Consumer<R>& consumer) { consumer.Flush(fiber); });
  }

  /// Whether a consumer wants a turn.
  bool WantsTurn(const Turn& turn) const {
    return std::ranges::any_of(consumers_, [&](const auto* consumer) { return consumer->WantsTurn(turn); });
  }
  void Attend(Fiber& fiber, const Turn& turn) {
    GLAIVE_CHECK(!ended_, "an Attend behind the end of the stream");
    ForEach([&](Consumer<R>& consumer) {
      if (consumer.WantsTurn(turn)) {
        consumer.Attend(fiber, turn);
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

  bool OthersWantTurn(std::int64_t now_ns) const override {
    if (attends_others_) {
      return false;
    }
    const Turn turn{.now_ns = now_ns, .held_up = true};
    for (std::size_t i = FirstOther(); i < consumers_.size(); ++i) {
      if (i != called_ && consumers_[i]->WantsTurn(turn)) {
        return true;
      }
    }
    return upstream_ != nullptr && upstream_->OthersWantTurn(now_ns);
  }
  void AttendOthers(Fiber& fiber, std::int64_t now_ns) override {
    if (std::exchange(attends_others_, true)) {
      return;  // one of the others waits, too
    }
    const Turn turn{.now_ns = now_ns, .held_up = true};
    for (std::size_t i = FirstOther(); i < consumers_.size(); ++i) {
      if (i != called_ && consumers_[i]->WantsTurn(turn)) {
        consumers_[i]->Attend(fiber, turn);
      }
    }
    if (upstream_ != nullptr) {
      upstream_->AttendOthers(fiber, now_ns);
    }
    attends_others_ = false;
  }

  /// The last one that was emitted; kMinEventTimeMs before the first.
  std::int64_t watermark_ms() const { return watermark_ms_; }
  bool idle() const { return idle_; }
  /// Whether a consumer has suspended the producer's fiber.
  bool is_emitting() const { return called_ != kNone; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  template <typename Fn>
  void ForEach(const Fn& call) {
    GLAIVE_CHECK(!is_emitting(), "a call of an output begins during another");
    for (called_ = 0; called_ < consumers_.size(); ++called_) {
      call(*consumers_[called_]);
    }
    called_ = kNone;
  }

  /// Those before the one that is being called have had the end of the stream.
  std::size_t FirstOther() const { return ended_ ? called_ + 1 : 0; }

  std::vector<Consumer<R>*> consumers_;
  OtherConsumers* upstream_ = nullptr;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  bool idle_ = false;
  bool ended_ = false;
  bool flushes_behind_watermarks_ = false;
  std::size_t called_ = kNone;
  bool attends_others_ = false;
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
