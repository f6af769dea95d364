// PartitionLoop: the work of UpPar on two executors (--engine=uppar), written by hand for two threads. One thread reads
// records, and sends the fields that the fold reads. The other thread has the table, and folds them.
//
//   thread 0: records ── filter, project ──► chunk of the ring ── full, or the window ends ──► published
//   thread 1: chunk of the ring ──► table ── the window has ended ──► emitted
//
// A record is copied once, into a chunk (chunk_ring.h), where the other thread reads it. One thread has all keys, so
// there is no choice between buffers.
//
//   auto loop = PartitionLoop<BidFold>::Create({}, {.window_ms = 60'000, .keys = 1'000'000});
//   loop->Partition(bids, /*repetitions=*/4, /*block_span_ms=*/600'000);   // in one thread
//   queries::Totals emitted = loop->Aggregate();                           // in the other one
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/chunk_ring.h"
#include "bench/baseline/partitioned_folds.h"
#include "queries/common/result_row.h"
#include "queries/common/result_sinks.h"
#include "queries/loops/window_loop.h"
#include "queries/loops/window_walk.h"

namespace glaive::bench {

/// `Fold` is one that has a PartitionedFold.
template <typename Fold>
class PartitionLoop {
 public:
  using Record = typename Fold::Record;

  /// Errors are those of the fold's table.
  static absl::StatusOr<PartitionLoop> Create(Fold fold, const queries::WindowLoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return PartitionLoop(std::move(fold), options, *std::move(table));
  }

  /// Reads the block `repetitions` times, and ends the stream. Event time moves on by `block_span_ms` each time.
  void Partition(std::span<const Record> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
    Chunk* chunk = &ring_->first();
    const auto take = [&](std::span<const Record> records) {
      if (chunk->count + records.size() > kChunkItems) {
        chunk = &ring_->Publish([] {});
      }
      chunk->count += fold_.Project(records, chunk->items.data() + chunk->count);
    };
    const auto fire = [&](std::int64_t window_start_ms) {
      chunk->ended_window_ms = window_start_ms;
      chunk = &ring_->Publish([] {});
    };
    queries::WindowWalk walk({.window_ms = options_.window_ms, .most_records = Table::kRecordsAtOnce});
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      walk.Take(block, static_cast<std::int64_t>(repetition) * block_span_ms, Fold::TimeMs, take, fire);
    }
    walk.End(fire);
    ring_->End();
  }

  /// Folds the items of the other thread until the stream has ended; returns the totals of the emitted rows.
  queries::Totals Aggregate() {
    queries::Totals emitted;
    do {
      ring_->Wait();
    } while (!ring_->UsePublished([&](Chunk& chunk) { Take(chunk, emitted); }));
    return emitted;
  }

 private:
  using Table = typename Fold::Table;
  using Item = typename PartitionedFold<Fold>::Item;

  static constexpr std::size_t kChunkItems = kChunkBytes / sizeof(Item);

  struct Chunk {
    std::size_t count = 0;
    std::optional<std::int64_t> ended_window_ms;  // the start of a window that ends behind the items
    alignas(64) std::array<Item, kChunkItems> items;
  };

  PartitionLoop(Fold fold, const queries::WindowLoopOptions& options, Table table)
      : fold_{std::move(fold)},
        options_(options),
        table_(std::move(table)),
        ring_(std::make_unique<ChunkRing<Chunk>>()) {}

  void Take(Chunk& chunk, queries::Totals& emitted) {
    for (std::span<const Item> rest = std::span(chunk.items).first(chunk.count); !rest.empty();) {
      const std::span<const Item> some = rest.first(std::min(rest.size(), Table::kRecordsAtOnce));
      fold_.FoldItems(some, table_);
      rest = rest.subspan(some.size());
    }
    if (chunk.ended_window_ms.has_value()) {
      queries::EmitWindow(table_, *chunk.ended_window_ms, options_.window_ms,
                          [&](const auto& row) { emitted.Add(queries::ToResultRow(row)); });
    }
    chunk.count = 0;
    chunk.ended_window_ms.reset();
  }

  PartitionedFold<Fold> fold_;
  queries::WindowLoopOptions options_;
  Table table_;
  std::unique_ptr<ChunkRing<Chunk>> ring_;
};

}  // namespace glaive::bench
