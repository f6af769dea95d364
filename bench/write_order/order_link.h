// OrderLink: one end of a connection of bench/write_order. The writer writes messages into the reader's ring; both tell
// each other how far they are by words that they write into each other's memory.
//
//   at the reader  | words (kOrderWordBytes), ring        | word i: messages written of all sizes up to i, plus 1; 0:
//   not yet at the writer  | words (kOrderWordBytes)              | kChecked: messages checked; kStop: sizes that are
//   over
//
// A word only grows, and its writer repeats it now and then: a fabric that reorders WRITEs may bring an older value
// last. For the self-test both memories are shared by the processes, and writes go through BackwardsQueuePair.
//
// Used by one thread. Errors of the device end the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "bench/write_order/order_check.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/transport/transport.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::bench {

inline constexpr std::size_t kOrderWordBytes = 4096;
inline constexpr std::uint32_t kMaxMessageBytes = 1 << 20;
inline constexpr std::size_t kOrderRingBytes = std::size_t{kMaxMessageBytes} * kOrderSlots;

/// Words of the writer's memory.
enum OrderWord : std::uint32_t { kChecked = 0, kStop = 8 };

/// See the head of this file.
class OrderLink {
 public:
  enum class Side : std::uint8_t { kReader, kWriter };

  /// Over verbs, not connected yet. Links of one reader differ by `key`. `relaxed_ordering`: how this end's memory is
  /// written.
  OrderLink(Side side, const rdma::RunKey& key, bool relaxed_ordering, std::shared_ptr<rdma::VerbsDevice> device);
  /// For the self-test: this end's memory and the other's.
  OrderLink(std::span<std::byte> here, std::span<std::byte> there);

  /// What the other end passes to StartConnecting; over verbs alone.
  std::string Describe() const;
  void StartConnecting(const std::string& description);
  /// Whether the connection stands; once the other end has started, too.
  absl::StatusOr<bool> PollConnecting();

  /// This end's ring; at the reader.
  std::span<std::byte> ring() const { return memory_.subspan(kOrderWordBytes); }
  /// A word of this end's memory.
  std::uint64_t Word(std::uint32_t index) const;

  rdma::LocalKey Register(std::span<std::byte> memory);
  /// Whether a message could be written to the other's ring now.
  bool TryWrite(const std::byte* local, std::uint32_t length, rdma::LocalKey key, std::uint64_t ring_offset);
  /// Writes a word of the other's memory as soon as that is possible.
  void WriteWord(std::uint32_t index, std::uint64_t value);

  void Poll();

 private:
  bool TryPost(const rdma::WriteRequest& request);

  Side side_ = Side::kReader;
  std::unique_ptr<rdma::Transport> transport_;
  BackwardsQueuePair backwards_;
  rdma::QueuePair* queue_pair_ = nullptr;
  rdma::RemoteRegion remote_;
  rdma::RegionDescriptor region_;
  std::span<std::byte> memory_;
};

}  // namespace glaive::bench
