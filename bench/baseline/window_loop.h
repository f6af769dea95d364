// WindowLoop: the hand-written loop that the engine is measured against: one thread, no engine code, no prefetching.
//
// It does what a query does, on the same bytes: fold each record into the account of its key, emit every (window, key,
// value) at a tumbling window's end, or at the end where there is no window, to a sink that keeps totals, and start the
// next window empty. How a chunk of records is folded is the query's (folds.h). Everything is mapped and touched before
// the first record.
//
// Requires: event times never decrease within a block, keys of an AccountTable are never 0. Owned and used by one
// thread.
//
//   auto loop = WindowLoop<BidFold>::Create({}, {.window_ms = 60'000, .keys = 1'000'000});
//   queries::Totals emitted = loop->Run(bids, /*repetitions=*/4, /*block_span_ms=*/600'000);
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "bench/baseline/window_walk.h"
#include "queries/common/result_row.h"

namespace glaive::bench {

struct LoopOptions {
  std::int64_t window_ms = 0;  // 0: no window, one result a key at the end
  std::uint64_t keys = 1;      // the most distinct keys of a window; reserves up to five times their cells
};

/// Emits the accounts of a window, and empties the table.
template <typename Fold>
void EmitWindow(typename Fold::Table& table, std::int64_t start_ms, std::int64_t window_ms, queries::Totals& emitted) {
  const std::int64_t end_ms = WindowEnd(start_ms, window_ms);
  table.Drain([&](std::uint64_t key, const auto& account) {
    const auto value = account.value();
    if constexpr (requires { value.has_value(); }) {
      if (!value.has_value()) {
        return;
      }
    }
    emitted.Add({.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = queries::ValueBits(value)});
  });
}

/// `Fold` has a Record, a Table of accounts with value(), TimeMs(record), and FoldChunk(records, table) for at most
/// Table::kRecordsAtOnce records. A value may be an optional; an empty one is no row.
template <typename Fold>
class WindowLoop {
 public:
  using Record = typename Fold::Record;

  static absl::StatusOr<WindowLoop> Create(Fold fold, const LoopOptions& options) {
    if (options.window_ms < 0) {
      return absl::InvalidArgumentError(absl::StrCat("a window of ", options.window_ms, " ms; it cannot be below 0"));
    }
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return WindowLoop(std::move(fold), options, *std::move(table));
  }

  /// Runs the query over `block`, `repetitions` times, and ends the stream; returns what it emitted. Event time moves
  /// on by `block_span_ms`, a multiple of the window, with each repetition.
  queries::Totals Run(std::span<const Record> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
    queries::Totals emitted;
    WalkWindows(
        block,
        {.repetitions = repetitions,
         .block_span_ms = block_span_ms,
         .window_ms = options_.window_ms,
         .most = Table::kRecordsAtOnce},
        Fold::TimeMs, [&](std::span<const Record> chunk) { fold_.FoldChunk(chunk, table_); },
        [&](std::int64_t window_start_ms) { EmitWindow<Fold>(table_, window_start_ms, options_.window_ms, emitted); });
    return emitted;
  }

 private:
  using Table = typename Fold::Table;

  WindowLoop(Fold fold, const LoopOptions& options, Table table)
      : fold_(std::move(fold)), options_(options), table_(std::move(table)) {}

  Fold fold_;
  LoopOptions options_;
  Table table_;
};

}  // namespace glaive::bench
