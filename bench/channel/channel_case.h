// One case of the channel benchmark: its shape, the memory that producer and consumer share beside the rings, and the
// consumer, in a thread or a process of its own.
//
// The producer sets up a round in Control and raises `round`; the consumer does the round's work and follows with
// `finished`. Every word that is polled has a cache line of its own.
//
//   ChannelCase shape = {.kind = TransportKind::kShm, .slot_bytes = 65536, .credits = 8, .channels = 1};
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rdma/base/ids.h"
#include "rdma/memory/page_region.h"
#include "rdma/mesh/executor_mesh.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {

inline constexpr ExecutorId kProducer{0};
inline constexpr ExecutorId kConsumer{1};
inline constexpr std::uint32_t kMaxChannels = 16;

/// The shape of a case. Plain values: it crosses process boundaries.
struct ChannelCase {
  rdma::TransportKind kind = rdma::TransportKind::kLocal;
  std::uint32_t slot_bytes = 64 * 1024;
  std::uint32_t credits = 8;
  std::uint32_t channels = 1;         ///< each with a ring, and over verbs a queue pair, of its own
  std::uint32_t segments = 8;         ///< a channel's, to send from
  std::uint32_t signal_interval = 0;  ///< see ChannelOptions
  bool read_payload = true;           ///< whether the consumer reads every byte
};

/// What the consumer is to do in a round.
enum class Work : std::uint32_t { kSetUp, kChannel, kCopy, kEcho, kStop };

/// See the head of this file.
struct Control {
  alignas(64) std::atomic<std::uint64_t> round;
  Work work;
  std::uint64_t messages;  ///< of the round, on all channels together
  alignas(64) std::atomic<std::uint64_t> finished;
  alignas(64) std::atomic<std::uint64_t> copied;    ///< plain copies announced
  alignas(64) std::atomic<std::uint64_t> consumed;  ///< plain copies given back
  alignas(64) std::array<std::array<std::array<char, 1024>, kMaxChannels>, 2> descriptors;
  std::uint64_t sum;  ///< keeps the consumer's reading alive
};

/// Spins, and after a while lets others run: the machine may have fewer processors than it should, and on an emulated
/// device the processor that polls is the one that transfers.
template <typename Condition>
void SpinUntil(const Condition& condition, int attempts_before_yield = 200) {
  for (int attempts = 0; !condition(); ++attempts) {
    if (attempts > attempts_before_yield) std::this_thread::yield();
  }
}

/// The shape of a case and the memory that both sides have.
struct ChannelSetup {
  ChannelCase shape;
  rdma::DeviceChoice device;  ///< for verbs; each side opens it for itself
  Control* control = nullptr;
  rdma::PageRegion copy_ring;  ///< empty over verbs

  int attempts_before_yield() const { return shape.kind == rdma::TransportKind::kVerbs ? 8 : 200; }
  std::byte* CopySlot(std::uint64_t number) const {
    return copy_ring.data() + number % shape.credits * std::size_t{shape.slot_bytes};
  }
};

/// Publishes one side's descriptors, waits for the other's and connects.
std::vector<std::unique_ptr<rdma::ExecutorMesh>> MakeMeshes(const ChannelSetup& setup, ExecutorId self,
                                                            const std::function<void()>& published,
                                                            const std::function<void()>& await_other);

/// Sends messages of a full slot as long as that is possible, at most `limit`; how many. They still need a Flush.
std::uint64_t SendAvailable(rdma::ExecutorMesh& mesh, ExecutorId peer, std::uint64_t limit);

/// Waits for a message.
rdma::Message Receive(const ChannelSetup& setup, rdma::ExecutorMesh& mesh, ExecutorId peer);

/// The consumer's side of a case: does the work of each round until it is told to stop.
void Consume(const ChannelSetup& setup);

}  // namespace glaive::bench
