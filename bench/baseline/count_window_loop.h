// CountWindowLoop: the hand-written loop that the engine's count windows are measured against: how many records each
// window of a bid's auction has, in one thread, no engine code.
//
// It does what the query does, on the same bytes: count the records of each key, emit a row whenever a window of the
// key is complete, and at the end a row of each key's oldest open window, to a sink that keeps totals. Everything is
// mapped and touched before the first record.
//
// Requires: keys are never 0. Owned and used by one thread.
//
//   auto loop = CountWindowLoop::Create({.size = 10, .slide = 5, .keys = 1'000'000});
//   queries::Totals emitted = loop->Run(bids, /*repetitions=*/4, /*block_span_ms=*/600'000);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/account_table.h"
#include "queries/common/result_row.h"
#include "queries/nexmark/bid.h"

namespace glaive::bench {

struct CountWindowLoopOptions {
  std::uint64_t size = 1;  // records of a window
  std::uint64_t slide = 1;
  std::uint64_t keys = 1;  // the most distinct ones
};

class CountWindowLoop {
 public:
  using Bid = queries::nexmark::Bid;

  static absl::StatusOr<CountWindowLoop> Create(const CountWindowLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return CountWindowLoop(options, *std::move(table));
  }

  /// Runs the query over the bids, `repetitions` times; returns what it emitted.
  queries::Totals Run(std::span<const Bid> bids, std::uint64_t repetitions, std::int64_t /*block_span_ms*/) {
    queries::Totals emitted;
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      for (std::span<const Bid> rest = bids; !rest.empty();) {
        const std::span<const Bid> chunk = rest.first(std::min(rest.size(), Table::kRecordsAtOnce));
        rest = rest.subspan(chunk.size());
        table_.Fold(
            chunk, [](const Bid& bid) { return bid.auction; },
            [&](OpenWindow& open, const Bid& bid) {
              if (++open.records == options_.size) {
                Emit(bid.auction, open, emitted);
                ++open.number;
                open.records -= std::min(options_.slide, options_.size);
              }
            });
      }
    }
    table_.Drain([&](std::uint64_t key, const OpenWindow& open) {
      if (open.records > 0) {
        Emit(key, open, emitted);
      }
    });
    return emitted;
  }

 private:
  /// The oldest one of a key.
  struct OpenWindow {
    std::uint64_t number = 0;
    std::uint64_t records = 0;
  };
  using Table = AccountTable<OpenWindow>;

  CountWindowLoop(const CountWindowLoopOptions& options, Table table) : options_(options), table_(std::move(table)) {}

  static void Emit(std::uint64_t key, const OpenWindow& open, queries::Totals& emitted) {
    emitted.Add({.window_start_ms = static_cast<std::int64_t>(open.number),
                 .window_end_ms = static_cast<std::int64_t>(open.records),
                 .key = key,
                 .value = queries::ValueBits(open.records)});
  }

  CountWindowLoopOptions options_;
  Table table_;
};

}  // namespace glaive::bench
