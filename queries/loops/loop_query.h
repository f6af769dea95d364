// LoopQueryOver: a query that a hand-written loop (run_loop.h) computes in one thread: --engine=loop. It says what the
// engine costs beside the best that one thread can do without it (COST: McSherry et al., HotOS 2015).
//
// Source, sinks and report are those of the engine, so both read the same bytes. No record is keyed, folded, shipped or
// merged by the engine, and no watermark counts: rows are complete at the end of the stream. A loop does not end its
// turn while it emits a window, since its executor has no other work. An interrupt waits for that.
//
//   std::unique_ptr<engine::Query> query =
//       LoopQueryOver(bids, Loop::MemoryBytes(keys), [=] { return Loop::Create({}, options); }, sinks);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/loops/loop_reader.h"
#include "queries/loops/loop_rows.h"
#include "queries/loops/run_loop.h"

namespace glaive::queries {

/// The task of a LoopQuery. `work` runs the loop, and writes its rows.
template <typename Row>
class LoopTask final : public engine::QueryTask {
 public:
  using Work = std::function<void(engine::Fiber& fiber, LoopRows<Row>& rows)>;

  LoopTask(engine::TaskContext& context, std::unique_ptr<engine::Sink<Row>> sink, Work work)
      : rows_(context, std::move(sink)), work_(std::move(work)) {}

  absl::Status Spawn(engine::Scheduler& scheduler) override {
    return scheduler.Spawn("hand-written loop", engine::FiberKind::kCompute, [this](engine::Fiber& fiber) {
      work_(fiber, rows_);
      rows_.Finish(fiber);
    });
  }
  void Measure() override {}
  void AddParts(std::vector<engine::ResultPart>& parts) const override { rows_.sink().AddParts(parts); }
  absl::Status Commit() override { return rows_.sink().Commit(); }

 private:
  LoopRows<Row> rows_;
  Work work_;
};

/// `OpenWork` makes a task's Work from its context, or a status.
template <typename Row, typename OpenWork>
class LoopQuery final : public engine::Query {
 public:
  LoopQuery(std::uint64_t memory_bytes, OpenWork open_work, engine::SinkFactory<Row> open_sink)
      : memory_bytes_(memory_bytes), open_work_(std::move(open_work)), open_sink_(std::move(open_sink)) {}

  std::vector<engine::InputShape> inputs(const engine::Roles& /*roles*/) const override { return {}; }
  std::uint64_t source_memory_bytes() const override { return memory_bytes_; }
  std::uint64_t table_bytes() const override { return 0; }
  std::int64_t window_ms() const override { return 1; }  // no flow leads another one

  std::string Explain(const engine::Roles& /*roles*/) const override {
    return absl::StrCat("one thread runs\n   1  a loop that is written by hand, which makes rows of ", sizeof(Row),
                        " bytes\n");
  }

  absl::StatusOr<std::unique_ptr<engine::QueryTask>> Open(engine::TaskContext& context) const override {
    absl::StatusOr<typename LoopTask<Row>::Work> work = open_work_(context);
    if (!work.ok()) {
      return work.status();
    }
    auto sink =
        open_sink_({.executor = context.self, .executor_count = context.executor_count, .claims = context.claims});
    if (!sink.ok()) {
      return sink.status();
    }
    return std::make_unique<LoopTask<Row>>(context, *std::move(sink), *std::move(work));
  }

 private:
  std::uint64_t memory_bytes_;  // of the sources and of the loop
  OpenWork open_work_;
  engine::SinkFactory<Row> open_sink_;
};

/// The query of the loop that `make_loop()` makes, a StatusOr<Loop>, whose tables have `loop_bytes`. The executor's
/// thread calls `make_loop`, before the run's clock starts. `sinks` has a Factory<Row>(), as engine::Results has.
template <typename R, typename EventTime, typename MakeLoop, typename Sinks>
std::unique_ptr<engine::Query> LoopQueryOver(const engine::SourceSpec<R, EventTime>& records, std::uint64_t loop_bytes,
                                             const MakeLoop& make_loop, const Sinks& sinks) {
  using Loop = typename std::invoke_result_t<MakeLoop>::value_type;
  using Work = typename LoopTask<typename Loop::Row>::Work;
  auto open_work = [records, make_loop](engine::TaskContext& context) -> absl::StatusOr<Work> {
    absl::StatusOr<Loop> made = make_loop();
    if (!made.ok()) {
      return made.status();
    }
    auto opened = LoopReader<R>::Open(records, context);
    if (!opened.ok()) {
      return opened.status();
    }
    return [&context, loop = std::make_shared<Loop>(*std::move(made)), reader = *std::move(opened)](
               engine::Fiber& fiber, auto& rows) {
      const auto next = [&] {
        const LoopInput<R> input = reader->Read(fiber);
        context.live->watermark_ms.store(reader->last_ms(), std::memory_order_relaxed);
        return input;
      };
      RunLoop(*loop, next, rows.EmitIn(fiber));
    };
  };
  return std::make_unique<LoopQuery<typename Loop::Row, decltype(open_work)>>(
      records.memory_bytes + loop_bytes, std::move(open_work), sinks.template Factory<typename Loop::Row>());
}

/// The same of a loop over two inputs.
template <typename L, typename TimeL, typename R, typename TimeR, typename MakeLoop, typename Sinks>
std::unique_ptr<engine::Query> LoopQueryOver(const engine::SourceSpec<L, TimeL>& lefts,
                                             const engine::SourceSpec<R, TimeR>& rights, std::uint64_t loop_bytes,
                                             const MakeLoop& make_loop, const Sinks& sinks) {
  using Loop = typename std::invoke_result_t<MakeLoop>::value_type;
  using Work = typename LoopTask<typename Loop::Row>::Work;
  auto open_work = [lefts, rights, make_loop](engine::TaskContext& context) -> absl::StatusOr<Work> {
    absl::StatusOr<Loop> made = make_loop();
    if (!made.ok()) {
      return made.status();
    }
    auto left = LoopReader<L>::Open(lefts, context);
    auto right = LoopReader<R>::Open(rights, context);
    if (!left.ok() || !right.ok()) {
      return left.ok() ? right.status() : left.status();
    }
    return [&context, loop = std::make_shared<Loop>(*std::move(made)), left = *std::move(left),
            right = *std::move(right)](engine::Fiber& fiber, auto& rows) {
      const auto read = [&](auto& reader) {
        const auto input = reader.Read(fiber);
        context.live->watermark_ms.store(std::min(left->last_ms(), right->last_ms()), std::memory_order_relaxed);
        return input;
      };
      RunLoop(*loop, [&] { return read(*left); }, [&] { return read(*right); }, rows.EmitIn(fiber));
    };
  };
  return std::make_unique<LoopQuery<typename Loop::Row, decltype(open_work)>>(
      lefts.memory_bytes + rights.memory_bytes + loop_bytes, std::move(open_work),
      sinks.template Factory<typename Loop::Row>());
}

}  // namespace glaive::queries
