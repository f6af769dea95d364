// FlatMapOperator: makes any number of records of each record that it takes in, with the same event time.
//
//    producer ── Batch<In> ──► chain ──► function ──► a range of Out ──► buffer ── Batch<TimedRecord<Out>> ──►
//    consumers
//             ── controls ─────────────────────────────────────────────────────────── the same ────────►
//
// A fused loop has room for one result a record. So a chain ends in front of a FlatMap, and another one begins behind
// it. The buffer is empty between calls: Take hands on all records that it makes before it returns, in batches of
// bounded size. A flat map has no fiber of its own: its consumers run in its producer's fiber. It passes on to the
// producer what they answer: whether one wants a turn, whether one leads too far.
//
// Owned by the executor's task, used by its thread alone. FlatMapVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/flow/timed_record.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/output.h"
#include "engine/graph/vertex.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

/// `Origin` is one of api/origin.h. `Function` is a callable from what the chain makes to a range of records `Out`.
template <typename Origin, Step Chain, typename Function, typename Out>
class FlatMapOperator final : public Producer<TimedRecord<Out>>, public Consumer<typename Chain::In> {
 public:
  using In = typename Chain::In;

  /// All outlive the operator.
  FlatMapOperator(const TaskContext& context, const Origin& origin, const Chain& chain, const Function& function)
      : context_(&context), origin_(&origin), chain_(&chain), function_(&function) {
    buffer_.reserve(kBatchRecords);
  }

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    for (const In& record : batch.records) {
      if (chain_->Selects(record)) {
        const std::int64_t event_time_ms = origin_->event_time_ms(record) + batch.event_time_shift_ms;
        chain_->Push(record, [&](const typename Chain::Out& survivor) {
          for (const auto& made : std::invoke(*function_, survivor)) {
            if (buffer_.size() == kBatchRecords) {
              HandOn(fiber, batch);
              EndTurn(fiber);
            }
            buffer_.push_back({.event_time_ms = event_time_ms, .record = made});
          }
        });
      }
    }
    HandOn(fiber, batch);
  }

  void On(Fiber& fiber, const Control& control) override { output().Emit(fiber, control); }
  void Flush(Fiber& fiber) override { output().Flush(fiber); }
  bool WantsTurn(std::int64_t now_ns) const override { return output().WantsTurn(now_ns); }
  void Attend(Fiber& fiber, std::int64_t now_ns) override { output().Attend(fiber, now_ns); }
  bool LeadsTooFar() const override { return output().LeadsTooFar(); }
  std::optional<std::int64_t> watermark_ms() const override { return output().least_watermark_ms(); }

 private:
  using Producer<TimedRecord<Out>>::output;

  /// About 32 KiB, which the first-level cache holds until the consumers have read them.
  static constexpr std::size_t kBatchRecords =
      std::clamp<std::size_t>((std::size_t{32} << 10) / sizeof(TimedRecord<Out>), 1, 4096);

  void HandOn(Fiber& fiber, const Batch<In>& batch) {
    if (!buffer_.empty()) {
      output().Emit(fiber,
                    Batch<TimedRecord<Out>>{.records = buffer_, .in_order = batch.in_order, .read_ns = batch.read_ns});
      buffer_.clear();
    }
  }

  /// The function may have made much of little.
  void EndTurn(Fiber& fiber) {
    const std::int64_t now_ns = context_->clock->NowNanos();
    if (output().WantsTurn(now_ns)) {
      output().Attend(fiber, now_ns);
    }
    fiber.Yield();
  }

  const TaskContext* context_;
  const Origin* origin_;
  const Chain* chain_;
  const Function* function_;
  std::vector<TimedRecord<Out>> buffer_;
};

template <typename Origin, Step Chain, typename Function, typename Out>
class FlatMapVertex final : public ProducerVertex<TimedRecord<Out>> {
 public:
  FlatMapVertex(Origin origin, Chain chain, Function function)
      : origin_(std::move(origin)), chain_(std::move(chain)), function_(std::move(function)) {}

  std::vector<const Vertex*> upstream() const override { return {origin_.vertex.get()}; }
  TableBytes tables() const override { return origin_.tables; }
  std::int64_t delay_ms() const override { return origin_.vertex->delay_ms(); }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    auto opened =
        std::make_unique<FlatMapOperator<Origin, Chain, Function, Out>>(graph.context(), origin_, chain_, function_);
    graph.OutputOf(*origin_.vertex).Add(*opened);
    return opened;
  }

 private:
  Origin origin_;
  Chain chain_;
  Function function_;
};

}  // namespace glaive::engine
