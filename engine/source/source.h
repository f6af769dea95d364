// Source: where an executor's records come from, a batch at a time.
//
// Every executor that reads opens its own source and reads its own part of the stream (paper section 5.1). A source
// belongs to its executor's thread and must not block it: with nothing to read it returns an empty batch, and says
// through Ready when to ask again. It is silent as long as it is not Ready.
//
//   1. Watermarks never go back, and a later batch should have no event time below an earlier watermark. A record that
//      has one is late if its windows have closed.
//   2. Every executor's input should be a function of (query flags, executor, position), so that a run can be replayed.
//      Times that are read from a clock (processing_time.h) are no such function.
//
//   class Numbers final : public Source<Number> {
//    public:
//     SourceBatch<Number> Poll() override { return {.records = Next(), .watermark_ms = now_ms_}; }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/source/compared_input.h"
#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/base/watch.h"

namespace glaive::engine {

/// Some records in arrival order. They stay valid until the next Poll.
template <typename R>
struct SourceBatch {
  std::span<const R> records;
  std::int64_t event_time_shift_ms = 0;         // to be added to the records' event times
  std::int64_t watermark_ms = kMinEventTimeMs;  // holds once these records are processed
  bool ended = false;                           // no further batch will come
  /// Records likely to be in the next batch, if they lie in memory already. Not to be read, only to be prefetched.
  std::span<const R> upcoming = {};
  /// Whether no record's event time, by the SourceSpec's EventTime, is below that of the one before it. A stage then
  /// reads the times of the first and the last of some records, and takes those in between for granted.
  bool in_order = false;
  /// When the first and the last record were to be read, where they have times of a schedule (schedule.h): by the
  /// executor's clock. Latencies count from there. 0: the records have no such times.
  std::int64_t due_ns = 0;
  std::int64_t last_due_ns = 0;
};

/// Counts of the input that a source has skipped. Skipped records are in no batch.
struct SourceFindings {
  std::uint64_t bad_records = 0;      // skipped: they could not be read
  std::string first_bad_record;       // where the first of them is, and why; empty without
  std::uint64_t outside_records = 0;  // skipped: they say that they lie outside the time the input covers
};

template <typename R>
class Source {
 public:
  virtual ~Source() = default;

  /// The next batch, of at most a few thousand records so that a turn stays short; empty when there is none now.
  virtual SourceBatch<R> Poll() = 0;

  /// Whether Poll would have something to say, or get on with input that it skips. Cheap: an idle executor asks every
  /// round. A source that is not Ready for --idle-timeout counts as idle, and its next records may be late.
  virtual bool Ready() { return true; }

  /// Why the stream ended. Asked after the batch that has `ended` set; an error ends the run with its message, and the
  /// batch is dropped.
  virtual absl::Status status() const { return absl::OkStatus(); }

  /// Up to date after every Poll; asked at the end of the run.
  virtual SourceFindings findings() const { return {}; }
};

/// The executor that opens a source, and the run's clock and watch.
struct SourceContext {
  ExecutorId executor{};             // its number among the executors that read (engine/executor/roles.h)
  std::uint32_t executor_count = 1;  // of those that read
  const Clock* clock = nullptr;      // outlives the source
  Watch watch = GoOn;                // may end the opening
};

/// Opens an executor's source; on the executor's own thread, before the run's clock starts.
template <typename R>
using SourceFactory = std::function<absl::StatusOr<std::unique_ptr<Source<R>>>(const SourceContext&)>;

/// The EventTime of a source whose records have none. Its stream can be grouped by keys, with results at its end, but
/// not by windows.
struct NoEventTime {
  template <typename R>
  std::int64_t operator()(const R& /*record*/) const {
    return 0;
  }
};

/// A stream's beginning: how to open it, and where a record has its event time. `EventTime` is a callable from
/// `const R&` to milliseconds, which is compiled into the pipeline, or NoEventTime.
template <typename R, typename EventTime>
struct SourceSpec {
  using Record = R;

  SourceFactory<R> open;
  EventTime event_time_ms;
  std::uint64_t memory_bytes = 0;  // that an executor's source holds, for the memory plan
  std::vector<ComparedInput> compared_inputs =
      {};  // what each node reads for itself, such as files: the same at all nodes
  bool each_process_reads =
      false;  // whether each node has records of its own, so that one of its executors has to read
};

}  // namespace glaive::engine
