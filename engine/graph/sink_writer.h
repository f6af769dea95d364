// SinkWriter: the end of a stream on one executor: runs the last chain of steps on the records that it takes in, and
// writes the resulting rows to the sink.
//
// No row moves: each executor writes the rows of windows that it leads, or of records that it reads or receives.
// SinkVertex is an end of the query's graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "engine/graph/vertex.h"
#include "engine/sink/sink.h"
#include "engine/steps/steps.h"

namespace glaive::engine {

template <Step Chain>
class SinkWriter final : public Operator, public Consumer<typename Chain::In> {
 public:
  using In = typename Chain::In;
  using Row = typename Chain::Out;

  /// `context` and `chain` outlive the writer. `from_source`: it takes in a source's records. `has_time`: watermarks
  /// say how far the rows are complete.
  SinkWriter(TaskContext& context, const Chain& chain, std::unique_ptr<Sink<Row>> sink, bool from_source, bool has_time)
      : context_(&context), chain_(&chain), sink_(std::move(sink)), from_source_(from_source), has_time_(has_time) {}

  void Take(Fiber& fiber, const Batch<In>& batch) override {
    if constexpr (std::is_same_v<Chain, SourceStep<In>>) {
      Write(fiber, batch.records);
    } else {
      rows_.clear();
      for (const In& record : batch.records) {
        if (chain_->Selects(record)) {
          chain_->Push(record, [&](const Row& row) { rows_.push_back(row); });
        }
      }
      Write(fiber, rows_);
    }
    if (from_source_) {
      const std::size_t rows = std::is_same_v<Chain, SourceStep<In>> ? batch.records.size() : rows_.size();
      context_->metrics->row_latency.Add(context_->clock->NowNanos() - batch.read_ns, rows);
    }
  }

  void On(Fiber& fiber, const Control& control) override {
    if (const auto* watermark = std::get_if<Watermark>(&control); watermark != nullptr && has_time_) {
      sink_->Complete(watermark->time_ms);
    } else if (std::holds_alternative<EndOfStream>(control)) {
      Finish(fiber);
    }
  }

  bool WantsTurn(const Turn& turn) const override { return sink_->WantsToPublish(turn.now_ns); }
  void Attend(Fiber& fiber, const Turn& turn) override {
    if (sink_->WantsToPublish(turn.now_ns)) {
      context_->Require(fiber, sink_->Publish(turn.now_ns));
    }
  }

  void AddParts(std::vector<ResultPart>& parts) const override { sink_->AddParts(parts); }
  absl::Status Commit() override { return sink_->Commit(); }

 private:
  void Finish(Fiber& fiber) {
    sink_->Complete(has_time_ ? std::optional(kEndedMs) : std::nullopt);
    while (true) {
      const absl::StatusOr<bool> finished = sink_->TryFinish();
      if (!finished.ok()) {
        context_->Fail(fiber, finished.status());
      }
      if (*finished) {
        break;
      }
      WaitForSink(fiber);
    }
    context_->metrics->last_result_ns = context_->clock->NowNanos();
  }

  void Write(Fiber& fiber, std::span<const Row> rows) {
    if (rows.empty()) {
      return;
    }
    context_->metrics->results += rows.size();
    context_->metrics->records_accepted += from_source_ ? rows.size() : 0;
    if (absl::Status status = sink_->Write(rows); !status.ok()) {
      context_->Fail(fiber, status);
    }
    if (!has_time_) {
      sink_->Complete(std::nullopt);
    }
    WaitForSink(fiber);
  }

  void WaitForSink(Fiber& fiber) {
    WaitAndAttend(fiber, *context_->clock, this->others(), [&] { return sink_->Ready(); });
  }

  TaskContext* context_;
  const Chain* chain_;
  std::unique_ptr<Sink<Row>> sink_;
  bool from_source_;
  bool has_time_;
  std::vector<Row> rows_;  // of one batch
};

template <typename Origin, Step Chain>
class SinkVertex final : public Vertex {
 public:
  SinkVertex(Origin origin, Chain chain, SinkFactory<typename Chain::Out> sink)
      : origin_(std::move(origin)), chain_(std::move(chain)), sink_(std::move(sink)) {}

  std::vector<const Vertex*> upstream() const override { return {origin_.vertex.get()}; }
  TableBytes tables() const override { return origin_.tables; }

  VertexPlan Explain(const Roles& /*roles*/) const override { return {.kind = "sink", .facts = {ChainFact<Chain>()}}; }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    TaskContext& context = graph.context();
    auto sink = sink_({.executor = context.self, .executor_count = context.executor_count, .claims = context.claims});
    if (!sink.ok()) {
      return sink.status();
    }
    const bool has_time = Origin::kHasTime && !origin_.vertex->adds_past_results();
    auto writer = std::make_unique<SinkWriter<Chain>>(context, chain_, *std::move(sink), Origin::kFromSource, has_time);
    graph.OutputOf(*origin_.vertex).Add(*writer);
    return writer;
  }

 private:
  Origin origin_;
  Chain chain_;
  SinkFactory<typename Chain::Out> sink_;
};

}  // namespace glaive::engine
