// CountWindowLoop: the hand-written loop that the engine's count windows are measured against: how many records each
// window of a bid's auction has, in one thread, no engine code.
//
// It does what the query does: count the records of each key, emit a row whenever a window of the key is complete, and
// at the end a row of each key's oldest open window. Everything is mapped and touched before the first record.
//
// Requires: keys are never 0. Owned and used by one thread.
//
//   auto loop = CountWindowLoop::Create({.size = 10, .slide = 5, .keys = 1'000'000});
//   loop->Take(bids, /*shift_ms=*/0, emit);   // any number of times
//   loop->End(emit);                          // empty again
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "engine/sink/sink.h"
#include "queries/loops/account_table.h"
#include "queries/nexmark/bid.h"

namespace glaive::bench {

struct CountWindowLoopOptions {
  std::uint64_t size = 1;  // records of a window
  std::uint64_t slide = 1;
  std::uint64_t keys = 1;  // the most distinct ones
};

class CountWindowLoop {
 public:
  using Record = queries::nexmark::Bid;
  using Row = engine::NumberedResult<std::uint64_t, std::uint64_t>;

  static absl::StatusOr<CountWindowLoop> Create(const CountWindowLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return CountWindowLoop(options, *std::move(table));
  }

  /// Calls `emit(row)` for the windows that the bids complete.
  template <typename Emit>
  void Take(std::span<const Record> bids, std::int64_t /*shift_ms*/, const Emit& emit) {
    for (std::span<const Record> rest = bids; !rest.empty();) {
      const std::span<const Record> chunk = rest.first(std::min(rest.size(), Table::kRecordsAtOnce));
      rest = rest.subspan(chunk.size());
      table_.Fold(
          chunk, [](const Record& bid) { return bid.auction; },
          [&](OpenWindow& open, const Record& bid) {
            if (++open.records == options_.size) {
              emit(RowOf(bid.auction, open));
              ++open.number;
              open.records -= std::min(options_.slide, options_.size);
            }
          });
    }
  }

  /// The stream ends: calls `emit(row)` for the oldest open window of each key.
  template <typename Emit>
  void End(const Emit& emit) {
    table_.Drain([&](std::uint64_t key, const OpenWindow& open) {
      if (open.records > 0) {
        emit(RowOf(key, open));
      }
    });
  }

 private:
  /// The oldest one of a key.
  struct OpenWindow {
    std::uint64_t number = 0;
    std::uint64_t records = 0;
  };
  using Table = queries::AccountTable<OpenWindow>;

  CountWindowLoop(const CountWindowLoopOptions& options, Table table) : options_(options), table_(std::move(table)) {}

  static Row RowOf(std::uint64_t key, const OpenWindow& open) {
    return {.window = open.number, .records = open.records, .key = key, .value = open.records};
  }

  CountWindowLoopOptions options_;
  Table table_;
};

}  // namespace glaive::bench
