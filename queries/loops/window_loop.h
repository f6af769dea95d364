// WindowLoop: a windowed aggregation as a hand-written loop: one thread, no engine code, no prefetching.
//
// It does what the query does: fold each record into the account of its key, emit every (window, key, value) at a
// tumbling window's end, or at the end where there is no window, and start the next window empty. The query's Fold says
// how some hundred records are folded. Everything is mapped and touched before the first record.
//
// Requires: event times never decrease, keys of an AccountTable are never 0. Owned and used by one thread.
//
//   auto loop = WindowLoop<BidFold>::Create({}, {.window_ms = 60'000, .keys = 1'000'000});
//   loop->Take(bids, /*shift_ms=*/0, emit);   // any number of times
//   loop->End(emit);                          // empty again
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/sink/sink.h"
#include "queries/loops/window_walk.h"

namespace glaive::queries {

struct WindowLoopOptions {
  std::int64_t window_ms = 0;  // 0: no window, one result a key at the end
  std::uint64_t keys = 1;      // the most distinct keys of a window; reserves up to five times their cells
};

template <typename T>
struct WithoutOptional {
  using Type = T;
};
template <typename T>
struct WithoutOptional<std::optional<T>> {
  using Type = T;
};

/// What the accounts of a table have as their values; of an optional, what it may have.
template <typename Table>
using ValueOf = typename WithoutOptional<decltype(std::declval<const typename Table::Account&>().value())>::Type;

/// The rows that a table's accounts become.
template <typename Table>
using RowOf = engine::WindowResult<typename Table::Key, ValueOf<Table>>;

/// Emits the accounts of a window as rows, and empties the table.
template <typename Table, typename Emit>
void EmitWindow(Table& table, std::int64_t start_ms, std::int64_t window_ms, const Emit& emit) {
  const std::int64_t end_ms = WindowEnd(start_ms, window_ms);
  table.Drain([&](const typename Table::Key& key, const typename Table::Account& account) {
    const std::optional<ValueOf<Table>> value = account.value();
    if (value.has_value()) {
      emit(RowOf<Table>{.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = *value});
    }
  });
}

/// `Fold` has a Record, a Table of accounts with value(), TimeMs(record), and FoldChunk(records, table) for at most
/// Table::kRecordsAtOnce records. A value may be an optional; an empty one is no row.
template <typename Fold>
class WindowLoop {
 public:
  using Record = typename Fold::Record;
  using Row = RowOf<typename Fold::Table>;

  static absl::StatusOr<WindowLoop> Create(Fold fold, const WindowLoopOptions& options) {
    if (options.window_ms < 0) {
      return absl::InvalidArgumentError(absl::StrCat("a window of ", options.window_ms, " ms; it cannot be below 0"));
    }
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return WindowLoop(std::move(fold), options, *std::move(table));
  }

  /// Bytes of memory of a loop for so many keys.
  static std::uint64_t MemoryBytes(std::uint64_t keys) { return Table::MemoryBytes(keys); }

  /// Takes records, to whose event times `shift_ms` is added. Calls `emit(row)` for those of the windows that end
  /// before the last record.
  template <typename Emit>
  void Take(std::span<const Record> records, std::int64_t shift_ms, const Emit& emit) {
    walk_.Take(
        records, shift_ms, Fold::TimeMs, [&](std::span<const Record> chunk) { fold_.FoldChunk(chunk, table_); },
        [&](std::int64_t start_ms) { EmitWindow(table_, start_ms, window_ms_, emit); });
  }

  /// The stream ends: emits the rows of the last window.
  template <typename Emit>
  void End(const Emit& emit) {
    walk_.End([&](std::int64_t start_ms) { EmitWindow(table_, start_ms, window_ms_, emit); });
  }

 private:
  using Table = typename Fold::Table;

  WindowLoop(Fold fold, const WindowLoopOptions& options, Table table)
      : fold_(std::move(fold)),
        window_ms_(options.window_ms),
        walk_({.window_ms = options.window_ms, .most_records = Table::kRecordsAtOnce}),
        table_(std::move(table)) {}

  Fold fold_;
  std::int64_t window_ms_;
  WindowWalk walk_;
  Table table_;
};

}  // namespace glaive::queries
