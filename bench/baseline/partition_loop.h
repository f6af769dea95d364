// PartitionLoop: the work of UpPar on two executors (--engine=uppar), written by hand for two threads. One thread reads
// records, and sends the fields that the fold reads. The other thread has the table, and folds them.
//
//   thread 0: records ── filter, project ──► chunk of the ring ── full, or the window ends ──► published
//   thread 1: chunk of the ring ──► table ── the window has ended ──► emitted
//
// A record is copied once, into a chunk, a write-combining buffer of the size that suits the cache, where the other
// thread reads it. One thread has all keys, so there is no choice between buffers.
//
//   auto loop = PartitionLoop<BidFold>::Create({}, {.window_ms = 60'000, .keys = 1'000'000});
//   loop->Partition(bids, /*repetitions=*/4, /*block_span_ms=*/600'000);   // in one thread
//   queries::Totals emitted = loop->Aggregate();                           // in the other one
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/window_loop.h"
#include "bench/baseline/window_walk.h"
#include "bench/common/spin.h"
#include "queries/common/result_row.h"

namespace glaive::bench {

/// `Fold` is one with an Item (folds.h).
template <typename Fold>
class PartitionLoop {
 public:
  using Record = typename Fold::Record;

  /// Errors are those of the fold's table.
  static absl::StatusOr<PartitionLoop> Create(Fold fold, const LoopOptions& options) {
    absl::StatusOr<Table> table = Table::Create(options.keys);
    if (!table.ok()) {
      return table.status();
    }
    return PartitionLoop(std::move(fold), options, *std::move(table));
  }

  /// Reads the block `repetitions` times, and ends the stream. Event time moves on by `block_span_ms` each time.
  void Partition(std::span<const Record> block, std::uint64_t repetitions, std::int64_t block_span_ms) {
    Chunk* chunk = &ring_->chunks[0];
    WalkWindows(
        block,
        {.repetitions = repetitions,
         .block_span_ms = block_span_ms,
         .window_ms = options_.window_ms,
         .most = Table::kRecordsAtOnce},
        Fold::TimeMs,
        [&](std::span<const Record> records) {
          if (chunk->count + records.size() > kChunkItems) {
            chunk = &Publish();
          }
          chunk->count += fold_.Project(records, chunk->items.data() + chunk->count);
        },
        [&](std::int64_t window_start_ms) {
          chunk->ended_window_ms = window_start_ms;
          chunk = &Publish();
        });
    ring_->ended.store(true, std::memory_order_release);
  }

  /// Folds the items of the other thread until the stream has ended; returns the totals of the emitted rows.
  queries::Totals Aggregate() {
    queries::Totals emitted;
    bool has_ended = false;
    while (!has_ended) {
      SpinUntil([&] {
        has_ended = ring_->ended.load(std::memory_order_acquire);
        return has_ended || used() < ring_->published.load(std::memory_order_acquire);
      });
      for (const std::uint64_t published = ring_->published.load(std::memory_order_acquire); used() < published;) {
        Take(ring_->chunks[used() % kChunks], emitted);
        ring_->used.store(used() + 1, std::memory_order_release);
      }
    }
    return emitted;
  }

 private:
  using Table = typename Fold::Table;
  using Item = typename Fold::Item;

  static constexpr std::size_t kChunkItems = (std::size_t{32} << 10) / sizeof(Item);
  static constexpr std::uint64_t kChunks = 16;

  struct Chunk {
    std::size_t count = 0;
    std::optional<std::int64_t> ended_window_ms;  // the start of a window that ends behind the items
    alignas(64) std::array<Item, kChunkItems> items;
  };
  struct Ring {
    alignas(64) std::atomic<std::uint64_t> published = 0;
    std::atomic<bool> ended = false;
    alignas(64) std::atomic<std::uint64_t> used = 0;
    alignas(64) std::array<Chunk, kChunks> chunks;
  };

  PartitionLoop(Fold fold, const LoopOptions& options, Table table)
      : fold_(std::move(fold)), options_(options), table_(std::move(table)), ring_(std::make_unique<Ring>()) {}

  std::uint64_t used() const { return ring_->used.load(std::memory_order_relaxed); }

  /// Publishes the chunk that is being filled; returns the next one, which is empty.
  Chunk& Publish() {
    const std::uint64_t next = ring_->published.load(std::memory_order_relaxed) + 1;
    ring_->published.store(next, std::memory_order_release);
    SpinUntil([&] { return next - ring_->used.load(std::memory_order_acquire) < kChunks; });
    return ring_->chunks[next % kChunks];
  }

  void Take(Chunk& chunk, queries::Totals& emitted) {
    for (std::span<const Item> rest = std::span(chunk.items).first(chunk.count); !rest.empty();) {
      const std::span<const Item> some = rest.first(std::min(rest.size(), Table::kRecordsAtOnce));
      fold_.FoldItems(some, table_);
      rest = rest.subspan(some.size());
    }
    if (chunk.ended_window_ms.has_value()) {
      EmitWindow<Fold>(table_, *chunk.ended_window_ms, options_.window_ms, emitted);
    }
    chunk.count = 0;
    chunk.ended_window_ms.reset();
  }

  Fold fold_;
  LoopOptions options_;
  Table table_;
  std::unique_ptr<Ring> ring_;
};

}  // namespace glaive::bench
