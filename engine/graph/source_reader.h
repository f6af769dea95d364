// SourceReader: a source on one executor: a fiber that reads batches and hands them to all that take in the stream.
//
//   source    polls, hands over, waits for slower flows (I7), for sources that are behind, and for something to read
//
// SourceNode is the source in the query's graph, once a source however many stages take it in.
//
//   auto node = std::make_shared<const SourceNode<R>>(spec.open, spec.memory_bytes);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/graph/node.h"
#include "engine/graph/open_graph.h"
#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class SourceReader final : public Producer<R>, public OrderedReader {
 public:
  SourceReader(TaskContext& context, const ReadingOrder& order, std::unique_ptr<Source<R>> source)
      : context_(&context), order_(&order), source_(std::move(source)) {}

  absl::Status Spawn(Scheduler& scheduler) override {
    return scheduler.Spawn("source", FiberKind::kCompute, [this](Fiber& fiber) { Read(fiber); });
  }

  void Measure() override {
    ExecutorMetrics& metrics = *context_->metrics;
    if (const Idleness* idleness = this->consumers().front()->idleness()) {
      metrics.idle_periods += idleness->periods();
      metrics.idle_ns += idleness->idle_ns();
    }
    const SourceFindings findings = source_->findings();
    metrics.bad_records += findings.bad_records;
    metrics.outside_records += findings.outside_records;
    if (metrics.first_bad_record.empty()) {
      metrics.first_bad_record = findings.first_bad_record;
    }
  }

  std::int64_t watermark_ms() const override {
    std::int64_t least_ms = kMaxEventTimeMs;
    for (const FlowConsumer<R>* consumer : this->consumers()) {
      least_ms = std::min(least_ms, consumer->watermark_ms());
    }
    return least_ms;
  }
  bool CanRead() const override { return !ended_ && source_->Ready() && !LeadsTooFar(); }
  bool idle() const override {
    const Idleness* idleness = this->consumers().front()->idleness();
    return idleness != nullptr && idleness->idle();
  }

 private:
  void Read(Fiber& fiber) {
    ExecutorMetrics& metrics = *context_->metrics;
    metrics.first_batch_ns = metrics.first_batch_ns == 0 ? context_->clock->NowNanos() : metrics.first_batch_ns;
    while (!ended_) {
      WaitForSlowerFlows(fiber);
      WaitForTurn(fiber);
      const bool was_ready = source_->Ready();
      const SourceBatch<R> batch = source_->Poll();
      const std::int64_t read_ns = context_->clock->NowNanos();
      metrics.records += batch.records.size();
      metrics.input_bytes += batch.records.size_bytes();
      for (FlowConsumer<R>* consumer : this->consumers()) {
        consumer->Take(fiber, batch, was_ready, read_ns);
      }
      ended_ = batch.ended;
      ShowProgress();
      if (batch.records.empty() && !ended_) {
        fiber.WaitUntil([&] { return source_->Ready() || AttentionIsDue(); });
      } else {
        fiber.Yield();
      }
    }
    if (absl::Status status = source_->status(); !status.ok()) {
      context_->Fail(fiber, status);
    }
    for (FlowConsumer<R>* consumer : this->consumers()) {
      consumer->End(fiber);
    }
  }

  /// Lets sources that are behind read first. What has been read is told meanwhile, when it is time.
  void WaitForTurn(Fiber& fiber) {
    while (!order_->IsTurnOf(*this)) {
      fiber.WaitUntil([&] { return order_->IsTurnOf(*this) || AttentionIsDue(); });
      for (FlowConsumer<R>* consumer : this->consumers()) {
        if (consumer->AttentionIsDue(context_->clock->NowNanos())) {
          consumer->Settle(fiber);
        }
      }
    }
  }

  bool LeadsTooFar() const {
    return std::ranges::any_of(this->consumers(), [](const auto* consumer) { return consumer->LeadsTooFar(); });
  }

  bool AttentionIsDue() const {
    const std::int64_t now_ns = context_->clock->NowNanos();
    return std::ranges::any_of(this->consumers(),
                               [&](const auto* consumer) { return consumer->AttentionIsDue(now_ns); });
  }

  /// Invariant I7. The epoch ends first, or the others might be waiting for this flow's stale clock.
  void WaitForSlowerFlows(Fiber& fiber) {
    if (LeadsTooFar()) {
      for (FlowConsumer<R>* consumer : this->consumers()) {
        consumer->Settle(fiber);
      }
      fiber.WaitUntil([&] { return !LeadsTooFar(); });
    }
  }

  void ShowProgress() {
    LiveProgress& live = *context_->live;
    live.records.store(context_->metrics->records, std::memory_order_relaxed);
    live.watermark_ms.store(order_->watermark_ms(), std::memory_order_relaxed);
    live.idle.store(order_->all_idle(), std::memory_order_relaxed);
  }

  TaskContext* context_;
  const ReadingOrder* order_;
  std::unique_ptr<Source<R>> source_;
  bool ended_ = false;
};

template <typename R>
class SourceNode final : public ProducerNode<R> {
 public:
  SourceNode(SourceFactory<R> open, std::uint64_t memory_bytes) : open_(std::move(open)), memory_bytes_(memory_bytes) {}

  std::vector<const Node*> upstream() const override { return {}; }
  std::uint64_t source_memory_bytes() const override { return memory_bytes_; }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    TaskContext& context = graph.context();
    auto source = open_({.executor = context.self,
                         .executor_count = context.executor_count,
                         .clock = context.clock,
                         .watch = context.watch});
    if (!source.ok()) {
      return source.status();
    }
    auto reader = std::make_unique<SourceReader<R>>(context, graph.reading_order(), *std::move(source));
    graph.reading_order().Add(*reader);
    return reader;
  }

 private:
  SourceFactory<R> open_;
  std::uint64_t memory_bytes_;
};

}  // namespace glaive::engine
