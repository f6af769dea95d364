// LoopRows: the rows of a hand-written loop on their way to the sink, some thousand at a time.
//
// Used by its executor's thread alone.
//
//   const auto emit = rows.EmitIn(fiber);
//   emit(row);
//   rows.Finish(fiber);
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/sink/sink.h"

namespace glaive::queries {

template <typename Row>
class LoopRows {
 public:
  /// `context` outlives the rows.
  LoopRows(engine::TaskContext& context, std::unique_ptr<engine::Sink<Row>> sink)
      : context_(&context), sink_(std::move(sink)) {
    rows_.reserve(kMostRows);
  }

  /// A function that takes a row, in a fiber, which waits for the sink.
  auto EmitIn(engine::Fiber& fiber) {
    return [this, &fiber](const Row& row) {
      rows_.push_back(row);
      if (rows_.size() == kMostRows) {
        Write(fiber);
      }
    };
  }

  /// Behind the last row: all rows are complete.
  void Finish(engine::Fiber& fiber) {
    Write(fiber);
    sink_->Complete(engine::kEndedMs);
    while (true) {
      const absl::StatusOr<bool> finished = sink_->TryFinish();
      context_->Require(fiber, finished.status());
      if (*finished) {
        break;
      }
      fiber.WaitUntil([this] { return sink_->Ready(); });
    }
    context_->metrics->last_result_ns = context_->clock->NowNanos();
  }

  engine::Sink<Row>& sink() { return *sink_; }
  const engine::Sink<Row>& sink() const { return *sink_; }

 private:
  static constexpr std::size_t kMostRows = 1024;

  void Write(engine::Fiber& fiber) {
    context_->metrics->results += rows_.size();
    context_->Require(fiber, sink_->Write(rows_));
    rows_.clear();
    fiber.WaitUntil([this] { return sink_->Ready(); });
  }

  engine::TaskContext* context_;
  std::unique_ptr<engine::Sink<Row>> sink_;
  std::vector<Row> rows_;
};

}  // namespace glaive::queries
