// Workload: a query, the input of some executors, and the hand-written loop over the same input.
//
// Made by workload_kinds.h. The input is generated once: engine and loops read the same bytes, the engine a copy of
// its own, which it makes before the clock starts. Copies share the input. Used by the main thread; `make_loop` and
// what it makes by any threads, of different executors.
//
//   std::unique_ptr<engine::Query> query = workload.build_query(sinks);
//   absl::StatusOr<Loop> loop = workload.make_loop(/*executor=*/0);
//   queries::Totals emitted = (*loop)();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "queries/common/result_row.h"
#include "queries/common/result_sinks.h"

namespace glaive::bench {

/// A hand-written loop that is ready to run, once: it has touched all its memory.
using Loop = std::function<queries::Totals()>;

/// In the place of a function that makes loops, where nobody has written one.
inline constexpr std::nullptr_t kNoLoop = nullptr;

/// What the engine is to reach; 0: nothing in particular.
struct WantedFigures {
  double share_of_gain = 0;     // at least so much of the loop's gain by a second thread, by a second executor
  double processor_time = 0;    // a record's with many executors, at most so often that with two
  double share_of_threads = 0;  // of an exchange: at least so much of the rate of two threads that are written by hand
  double share_of_loop = 0;     // one executor: at least so much of the loop's rate
  double gain_of_two = 0;       // two executors: at least so many times the rate of one
  double share_of_unmoved = 0;  // two executors that move records: at least so much of their rate without
  double gain_over_uppar = 0;   // two executors: at least so many times UpPar's rate
};

struct Workload {
  std::string name;
  std::uint64_t records = 0;  // that each executor reads, repetitions included
  WantedFigures wanted;
  std::function<std::unique_ptr<engine::Query>(const queries::ResultSinks&)> build_query;
  /// The same with records that move to the executors of their keys; null where it is not measured.
  std::function<std::unique_ptr<engine::Query>(const queries::ResultSinks&)> build_moving_query;

  // Both null where no loop has been written.
  std::function<absl::StatusOr<Loop>(std::uint32_t executor)> make_loop;  // over what that executor reads
  std::function<absl::StatusOr<Loop>()> make_sequential_loop;             // over what all of them read, by event time

  /// One of two threads that share the work on what executor 0 reads: thread 0 partitions, and thread 1 folds. Null
  /// where no such threads have been written.
  std::function<absl::StatusOr<Loop>(std::uint32_t thread)> make_partition_loop;
};

}  // namespace glaive::bench
