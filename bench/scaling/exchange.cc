#include "bench/scaling/exchange.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/baseline/thread_exchange.h"
#include "bench/scaling/meeting.h"
#include "bench/scaling/record_blocks.h"
#include "engine/api/stream.h"
#include "queries/cm/generator.h"
#include "queries/cm/task_event.h"

namespace glaive::bench {
namespace {

using queries::ResultRow;
using queries::ResultSinks;
using queries::Totals;
using queries::cm::TaskEvent;
using queries::cm::TaskEventTime;
using EventBlocks = RecordBlocks<TaskEvent, TaskEventTime>;

constexpr std::int64_t kMinuteOfMovesMs = 60'000;

// Types of their own, since a compiler cannot see through a pointer to a function that a stream holds.
struct JobOf {
  std::uint64_t operator()(const TaskEvent& event) const { return static_cast<std::uint64_t>(event.job_id); }
};
/// What either side makes of a record that has arrived.
struct RowOf {
  engine::WindowResult<std::uint64_t, std::int64_t> operator()(const TaskEvent& event) const {
    return {.window_start_ms = event.timestamp_us,
            .window_end_ms = event.timestamp_us,
            .key = JobOf{}(event),
            .value = event.task_index};
  }
};

using SharedExchange = std::shared_ptr<ThreadExchange<TaskEvent>>;
static_assert(ThreadExchange<TaskEvent>::kThreads == Meeting<SharedExchange>::kThreads);

}  // namespace

absl::StatusOr<Workload> MakeExchange(const InputSize& size) {
  const std::uint64_t records = size.RecordsOf(sizeof(TaskEvent));
  const std::int64_t span_ms = static_cast<std::int64_t>(size.windows) * kMinuteOfMovesMs;
  const auto input = InputOf(size, records, span_ms, kMinuteOfMovesMs);
  if (!input.ok()) {
    return input.status();
  }
  const auto generated = EventBlocks::Generate(queries::cm::TaskEventGenerator(*input), records, size.executors);
  if (!generated.ok()) {
    return generated.status();
  }
  const std::shared_ptr<const EventBlocks>& blocks = *generated;
  const std::uint64_t repetitions = size.repetitions;
  Workload workload;
  workload.records = records * repetitions;
  workload.build_query = [=](const ResultSinks& sinks) {
    return engine::From(blocks->Source(repetitions, /*span_ms=*/0))
        .KeyBy(JobOf{})
        .Partition()
        .DropKey()
        .Map(RowOf{})
        .To(sinks);
  };
  const auto meeting = std::make_shared<Meeting<SharedExchange>>();
  workload.make_loop = [=](std::uint32_t thread) -> absl::StatusOr<Loop> {
    const SharedExchange exchange = meeting->Join([] { return std::make_shared<ThreadExchange<TaskEvent>>(); });
    return [=] {
      Totals totals;
      exchange->Run(thread, blocks->of(thread), repetitions, JobOf{},
                    [&](const TaskEvent& event) { totals.Add(queries::ToResultRow(RowOf{}(event))); });
      return totals;
    };
  };
  return workload;
}

}  // namespace glaive::bench
