// The memory that both ends of a case over shm or local have beside the rings, and how they agree on rounds.
//
// The producer sets up a round in Control and raises `round`; the consumer does the round's work and follows with
// `finished`. Every word that is polled has a cache line of its own. A round of plain copies moves the same bytes as a
// round of the channel through `copy_ring`, announced by one counter and given back by another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/channel/channel_case.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {

/// What the consumer is to do in a round.
enum class Work : std::uint32_t { kSetUp, kChannel, kCopy, kEcho, kStop };

/// See the head of this file.
struct Control {
  alignas(64) std::atomic<std::uint64_t> round;
  Work work;
  std::uint64_t messages;  ///< of the round, on all channels together
  alignas(64) std::atomic<std::uint64_t> finished;
  alignas(64) std::atomic<std::uint64_t> copied;                                  ///< plain copies announced
  alignas(64) std::atomic<std::uint64_t> consumed;                                ///< plain copies given back
  alignas(64) std::array<std::array<char, 1024 * kMaxChannels>, 2> descriptions;  ///< of DescribeMeshes, by executor
  std::uint64_t sum;  ///< keeps the consumer's reading alive
};

/// What both ends of a case have.
struct CopySetup {
  ChannelCase shape;
  Control* control = nullptr;
  rdma::PageRegion copy_ring;

  std::byte* CopySlot(std::uint64_t number) const {
    return copy_ring.data() + number % shape.credits * std::size_t{shape.slot_bytes};
  }
};

/// Prepares an end's meshes and publishes their descriptions.
Meshes PublishMeshes(const CopySetup& setup, ExecutorId self);

/// Connects them once both ends have published theirs.
void ConnectPublished(const CopySetup& setup, Meshes& meshes);

/// The consumer's side of a case: does the work of each round until it is told to stop.
void Consume(const CopySetup& setup);

}  // namespace glaive::bench
