// ThreadExchange: what an exchange by key (engine/exchange) is, written by hand for two threads: each reads records of
// its own, and uses those whose keys are its own, whichever thread has read them.
//
//   thread 0: record ── own key ──► chunk of its own ── full ──► use
//                    └─ other ────► chunk of the ring to thread 1 ── full ──► published
//   thread 1: chunk of the ring ──► use ──► given back
//
// A record is copied once: into a chunk (chunk_ring.h), where the other thread uses it. A thread whose ring is full
// uses meanwhile what has come to it.
//
//   ThreadExchange<TaskEvent> exchange;                    // shared
//   exchange.Run(/*self=*/0, records, /*repetitions=*/3, key_of, use);   // in each thread, once
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/baseline/chunk_ring.h"
#include "bench/common/spin.h"

namespace glaive::bench {

template <typename R>
class ThreadExchange {
 public:
  static constexpr std::uint32_t kThreads = 2;

  /// Calls `use(record)` for the records of both threads whose `key_of(record)` belongs to this one. Returns when both
  /// threads have read all their records, each as often as `repetitions` says, and this one has used its share.
  template <typename KeyFn, typename UseFn>
  void Run(std::uint32_t self, std::span<const R> records, std::uint64_t repetitions, const KeyFn& key_of,
           const UseFn& use) {
    ChunkRing<Chunk>& in = rings_[1 - self];
    ChunkRing<Chunk>& out = rings_[self];
    const auto use_chunk = [&](Chunk& chunk) { UseAll(chunk, use); };
    const auto use_published = [&] { in.UsePublished(use_chunk); };
    Chunk own;
    Chunk* other = &out.first();
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      for (const R& record : records) {
        if (OwnerOf(key_of(record)) == self) {
          if (own.count == kChunkRecords) {
            UseAll(own, use);
            use_published();
          }
          own.records[own.count++] = record;
        } else {
          if (other->count == kChunkRecords) {
            other = &out.Publish(use_published);
          }
          other->records[other->count++] = record;
        }
      }
    }
    UseAll(own, use);
    out.Publish(use_published);
    out.End();
    SpinUntil([&] { return in.UsePublished(use_chunk); });
  }

 private:
  static constexpr std::size_t kChunkRecords = kChunkBytes / sizeof(R);

  struct Chunk {
    std::size_t count = 0;
    alignas(64) std::array<R, kChunkRecords> records;
  };
  /// By a multiplication, as the engine's hash of keys.
  static std::uint32_t OwnerOf(std::uint64_t key) {
    return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15) >> 63);
  }

  template <typename UseFn>
  static void UseAll(Chunk& chunk, const UseFn& use) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      use(chunk.records[i]);
    }
    chunk.count = 0;
  }

  std::array<ChunkRing<Chunk>, kThreads> rings_;  // by sender
};

}  // namespace glaive::bench
