// ThreadExchange: what an exchange by key (engine/exchange) is, written by hand for two threads: each reads records of
// its own, and uses those whose keys are its own, whichever thread has read them.
//
//   thread 0: record ── own key ──► chunk of its own ── full ──► use
//                    └─ other ────► chunk of the ring to thread 1 ── full ──► published
//   thread 1: chunk of the ring ──► use ──► given back
//
// A record is copied once: into a chunk, a write-combining buffer of the size that suits the cache, where the other
// thread uses it. A thread whose ring is full uses meanwhile what has come to it.
//
//   ThreadExchange<TaskEvent> exchange;                    // shared
//   exchange.Run(/*self=*/0, records, /*repetitions=*/3, key_of, use);   // in each thread, once
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

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
    Ring& in = rings_[1 - self];
    Ring& out = rings_[self];
    Chunk own;
    Chunk* other = &out.chunks[0];
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      for (const R& record : records) {
        if (OwnerOf(key_of(record)) == self) {
          if (own.count == kChunkRecords) {
            UseAll(own, use);
            UsePublished(in, use);
          }
          own.records[own.count++] = record;
        } else {
          if (other->count == kChunkRecords) {
            other = &Publish(out, in, use);
          }
          other->records[other->count++] = record;
        }
      }
    }
    UseAll(own, use);
    Publish(out, in, use);
    out.ended.store(true, std::memory_order_release);
    SpinUntil([&] {
      const bool ended = in.ended.load(std::memory_order_acquire);
      UsePublished(in, use);
      return ended;
    });
  }

 private:
  static constexpr std::size_t kChunkRecords = (std::size_t{32} << 10) / sizeof(R);
  static constexpr std::uint64_t kChunks = 16;

  struct Chunk {
    std::size_t count = 0;
    alignas(64) std::array<R, kChunkRecords> records;
  };
  /// From one thread to the other.
  struct Ring {
    alignas(64) std::atomic<std::uint64_t> published = 0;
    std::atomic<bool> ended = false;
    alignas(64) std::atomic<std::uint64_t> used = 0;
    alignas(64) std::array<Chunk, kChunks> chunks;
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

  template <typename UseFn>
  static void UsePublished(Ring& in, const UseFn& use) {
    const std::uint64_t published = in.published.load(std::memory_order_acquire);
    for (std::uint64_t used = in.used.load(std::memory_order_relaxed); used < published; ++used) {
      UseAll(in.chunks[used % kChunks], use);
      in.used.store(used + 1, std::memory_order_release);
    }
  }

  /// Publishes the chunk that is being filled: the next one, which is empty.
  template <typename UseFn>
  static Chunk& Publish(Ring& out, Ring& in, const UseFn& use) {
    const std::uint64_t next = out.published.load(std::memory_order_relaxed) + 1;
    out.published.store(next, std::memory_order_release);
    SpinUntil([&] {
      UsePublished(in, use);
      return next - out.used.load(std::memory_order_acquire) < kChunks;
    });
    return out.chunks[next % kChunks];
  }

  std::array<Ring, kThreads> rings_;  // by sender
};

}  // namespace glaive::bench
