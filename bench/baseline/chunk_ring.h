// ChunkRing: chunks of records from one thread to another, as one would write it by hand.
//
//   sender: fills a chunk ── full ──► published        receiver: published ──► used ──► given back, empty
//
// A chunk is a write-combining buffer of a size that suits the cache. Each end is used by one thread.
//
//   Chunk* chunk = &ring.first();
//   chunk = &ring.Publish([] {});                                  // in the sender
//   ring.End();
//   do ring.Wait(); while (!ring.UsePublished([&](Chunk& chunk) { ... }));   // in the receiver
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/common/spin.h"

namespace glaive::bench {

/// The bytes of the records of a chunk.
inline constexpr std::size_t kChunkBytes = std::size_t{32} << 10;

/// The user of a `Chunk` makes it empty.
template <typename Chunk>
class ChunkRing {
 public:
  // ---- for the sender ---------------------------------------------------------------------------------------------

  /// The chunk to fill first.
  Chunk& first() { return chunks_[0]; }
  /// Publishes the chunk that was filled; returns the next one, which is empty. Calls `meanwhile()` while it waits for
  /// that.
  template <typename Meanwhile>
  Chunk& Publish(const Meanwhile& meanwhile) {
    const std::uint64_t next = published_.load(std::memory_order_relaxed) + 1;
    published_.store(next, std::memory_order_release);
    SpinUntil([&] {
      meanwhile();
      return next - used_.load(std::memory_order_acquire) < kChunks;
    });
    return chunks_[next % kChunks];
  }
  /// No chunk follows.
  void End() { ended_.store(true, std::memory_order_release); }

  // ---- for the receiver -------------------------------------------------------------------------------------------

  /// Waits until a chunk was published, or none follows.
  void Wait() const {
    SpinUntil([this] {
      return ended_.load(std::memory_order_acquire) ||
             used_.load(std::memory_order_relaxed) < published_.load(std::memory_order_acquire);
    });
  }
  /// Calls `use(chunk)` for each chunk that was published, and gives it back. True once no chunk follows.
  template <typename Use>
  bool UsePublished(const Use& use) {
    const bool ended = ended_.load(std::memory_order_acquire);
    const std::uint64_t published = published_.load(std::memory_order_acquire);
    for (std::uint64_t used = used_.load(std::memory_order_relaxed); used < published; ++used) {
      use(chunks_[used % kChunks]);
      used_.store(used + 1, std::memory_order_release);
    }
    return ended;
  }

 private:
  static constexpr std::uint64_t kChunks = 16;

  alignas(64) std::atomic<std::uint64_t> published_ = 0;
  std::atomic<bool> ended_ = false;
  alignas(64) std::atomic<std::uint64_t> used_ = 0;
  alignas(64) std::array<Chunk, kChunks> chunks_;
};

}  // namespace glaive::bench
