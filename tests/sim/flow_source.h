// FlowSource: reads a simulated flow, and FlowTruth: how far all flows of a run have really come, for the invariants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/executor/roles.h"
#include "engine/source/source.h"
#include "tests/sim/event.h"
#include "tests/sim/scenario.h"
#include "tests/sim/virtual_time.h"

namespace glaive::sim {

/// How far a flow has been read.
struct FlowPosition {
  std::int64_t watermark_ms = kBeginningMs;
  std::int64_t first_watermark_ms = kBeginningMs;  ///< behind the first batch
  std::int64_t followed_ms = kBeginningMs;         ///< how far it may have followed others while it was idle
  std::int64_t last_watermark_ms = kBeginningMs;   ///< before its end
  std::int64_t idle_from_ns = kNever;              ///< virtual time, until it is read again

  /// How far it may be said to have come.
  std::int64_t told_ms() const { return std::max(watermark_ms, followed_ms); }
};

class FlowTruth {
 public:
  /// `one_is_silent`: at most one flow falls silent. An executor may take a flow for idle that is not any more; without
  /// such flows it is known how far others follow at most.
  FlowTruth(std::size_t sources, const engine::Roles& roles, const VirtualTime& time, std::int64_t idle_timeout_ns,
            bool one_is_silent)
      : roles_(roles),
        positions_(sources, std::vector<FlowPosition>(roles.executor_count())),
        time_(&time),
        idle_timeout_ns_(idle_timeout_ns),
        one_is_silent_(one_is_silent) {
    for (auto& of_source : positions_) {
      for (std::uint32_t executor = 0; executor < of_source.size(); ++executor) {
        if (!roles.FlowOf(ExecutorId{executor})) of_source[executor].watermark_ms = kEndMs;
      }
    }
  }

  /// The executor that opens a source.
  ExecutorId ReaderOf(const engine::SourceContext& context) const { return roles_.reader(Value(context.executor)); }

  /// The flow that a reader's source begins. Where executors are fed, it is the flow of the one that the reader feeds.
  FlowPosition& OfReader(std::size_t source, ExecutorId reader) {
    return Of(source, roles_.feeds() ? roles_.FedBy(reader) : reader);
  }
  FlowPosition& Of(std::size_t source, ExecutorId executor) { return positions_[source][Value(executor)]; }
  const FlowPosition& Of(std::size_t source, ExecutorId executor) const { return positions_[source][Value(executor)]; }
  const VirtualTime& time() const { return *time_; }
  std::int64_t idle_timeout_ns() const { return idle_timeout_ns_; }

  /// How far the slowest of the flows that are not idle has come, each counted as no less than `at_least_ms`.
  std::int64_t SlowestMs(std::int64_t at_least_ms) const { return SlowestOfMs(0, sources(), at_least_ms); }
  /// Likewise of `count` sources, from `first` on.
  std::int64_t SlowestOfMs(std::size_t first, std::size_t count, std::int64_t at_least_ms) const {
    std::int64_t slowest_ms = kEndMs;
    for (const auto& of_source : std::span(positions_).subspan(first, count)) {
      for (const FlowPosition& each : of_source) {
        if (!IsIdle(each)) slowest_ms = std::min(slowest_ms, std::max(each.told_ms(), at_least_ms));
      }
    }
    return slowest_ms;
  }
  /// Before a flow is read: idle flows may have followed until now.
  void BeforeRead() {
    for (auto& of_source : positions_) {
      for (FlowPosition& each : of_source) each.followed_ms = one_is_silent_ ? FollowedMs(each) : each.followed_ms;
    }
  }
  /// How far a flow may be said to have come.
  std::int64_t ToldMs(std::size_t source, ExecutorId executor) const {
    const FlowPosition& position = positions_[source][Value(executor)];
    if (!IsIdle(position)) return position.told_ms();
    return one_is_silent_ ? std::max(position.watermark_ms, FollowedMs(position)) : kEndMs;
  }
  bool IsIdle(std::size_t source, ExecutorId executor) const { return IsIdle(positions_[source][Value(executor)]); }
  /// How far a flow has followed others at most: while it is idle, as far as the slowest of the others has come if
  /// these are never silent, or the fastest.
  std::int64_t FollowedMs(const FlowPosition& position) const {
    if (!IsIdle(position)) return position.followed_ms;
    if (one_is_silent_) return std::max(position.followed_ms, SlowestBesideMs(position));
    std::int64_t fastest_ms = position.followed_ms;
    for (const auto& of_source : positions_) {
      for (const FlowPosition& each : of_source) fastest_ms = std::max(fastest_ms, each.watermark_ms);
    }
    return fastest_ms;
  }
  /// How far the fastest flow of a source has come, before its end if it has ended.
  std::int64_t FastestMs(std::size_t source) const {
    std::int64_t fastest_ms = kBeginningMs;
    for (const FlowPosition& each : positions_[source]) {
      fastest_ms = std::max(fastest_ms, each.watermark_ms == kEndMs ? each.last_watermark_ms : each.watermark_ms);
    }
    return fastest_ms;
  }
  std::size_t sources() const { return positions_.size(); }
  /// Whether an idle flow is behind `window_end_ms`: the window is complete only for those who go on without it.
  bool IsPastAnIdleFlow(std::int64_t window_end_ms) const {
    return std::ranges::any_of(positions_, [&](const auto& of_source) {
      return std::ranges::any_of(
          of_source, [&](const FlowPosition& each) { return IsIdle(each) && each.watermark_ms < window_end_ms; });
    });
  }

 private:
  /// How far the slowest of the other flows has come. Markers of flows' ends arrive in any order, so once all have
  /// ended, the last marker before may be of any flow.
  std::int64_t SlowestBesideMs(const FlowPosition& position) const {
    std::int64_t slowest_ms = kEndMs;
    std::int64_t last_ms = kBeginningMs;
    for (const auto& of_source : positions_) {
      for (const FlowPosition& each : of_source) {
        if (&each == &position) continue;
        slowest_ms = std::min(slowest_ms, each.watermark_ms);
        last_ms = std::max(last_ms, each.last_watermark_ms);
      }
    }
    return slowest_ms == kEndMs ? last_ms : slowest_ms;
  }
  bool IsIdle(const FlowPosition& position) const { return position.idle_from_ns <= time_->now_ns(); }

  engine::Roles roles_;
  std::vector<std::vector<FlowPosition>> positions_;  ///< by source and executor
  const VirtualTime* time_;
  std::int64_t idle_timeout_ns_;
  bool one_is_silent_;
};

/// Told of every batch, before it is read; an error ends the stream.
class SourceListener {
 public:
  virtual ~SourceListener() = default;
  virtual absl::Status OnBatch(std::size_t source, ExecutorId executor) = 0;
};

class FlowSource final : public engine::Source<Event> {
 public:
  /// All outlive the source.
  FlowSource(const Flow& flow, FlowTruth& truth, SourceListener& listener, std::size_t source,
             const engine::SourceContext& context)
      : flow_(&flow),
        truth_(&truth),
        listener_(&listener),
        source_(source),
        executor_(truth.ReaderOf(context)),
        clock_(context.clock) {}

  engine::SourceBatch<Event> Poll() override {
    FlowPosition& position = truth_->OfReader(source_, executor_);
    if (!Ready()) return {.records = {}, .watermark_ms = position.watermark_ms};
    truth_->BeforeRead();
    if (status_ = listener_->OnBatch(source_, executor_); !status_.ok() || next_ == flow_->size()) {
      if (status_.ok()) {
        position.last_watermark_ms = position.watermark_ms;
        position.watermark_ms = kEndMs;
      }
      return {.records = {}, .watermark_ms = position.watermark_ms, .ended = true};
    }
    const Batch& batch = (*flow_)[next_++];
    position = {.watermark_ms = batch.watermark_ms,
                .first_watermark_ms = next_ == 1 ? batch.watermark_ms : position.first_watermark_ms,
                .followed_ms = truth_->FollowedMs(position)};
    if (next_ < flow_->size() && (*flow_)[next_].silence_ns > 0) {
      speaks_ns_ = clock_->NowNanos() + (*flow_)[next_].silence_ns;
      position.idle_from_ns = truth_->time().now_ns() + truth_->idle_timeout_ns();
    }
    return {.records = batch.events,
            .watermark_ms = batch.watermark_ms,
            .in_order = std::ranges::is_sorted(batch.events, {}, &Event::time_ms)};
  }
  bool Ready() override { return speaks_ns_ <= clock_->NowNanos(); }
  absl::Status status() const override { return status_; }

 private:
  const Flow* flow_;
  FlowTruth* truth_;
  SourceListener* listener_;
  std::size_t source_;
  ExecutorId executor_;
  const Clock* clock_;
  std::size_t next_ = 0;
  std::int64_t speaks_ns_ = std::numeric_limits<std::int64_t>::min();
  absl::Status status_;
};

inline constexpr auto kEventTime = [](const Event& event) { return event.time_ms; };

}  // namespace glaive::sim
