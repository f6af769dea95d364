// ChannelReceiver: the reading end of a ring of c slots in this executor's exposed memory.
//
// It polls the last byte of the next slot and hands out messages where they lie, in the order they were sent (paper
// section 6.2). Several messages may be held at a time; they are released oldest first, and the count of released
// messages is written back to the sender as credit, at most c/2 messages late.
// Owned by one executor and used by its thread alone; never blocks.
//
//   I1 A message beyond the credits that were given out is refused.
//   I2 Every message is handed out exactly once and in order: its number must be the next one.
//   A footer is copied before it is checked; what was checked cannot change any more. Whatever does not fit (number,
//   token, length, checksum, lap, reserved bytes) is refused with DataLoss that names the source, what was found and
//   what was expected, and the channel stays failed: after a lost message nothing later can be trusted.
//
// Cost: an empty poll is one load of a byte that stays in cache; a message costs one footer copied and hashed.
//
//   absl::StatusOr<std::optional<Message>> message = receiver.TryReceive();
//   if (!message.ok()) return message.status();
//   if (*message) {
//     Merge((*message)->payload, (*message)->tag);
//     receiver.Release();
//   } else {
//     receiver.FlushCredits();
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_options.h"
#include "rdma/channel/message_tag.h"
#include "rdma/channel/slot_footer.h"
#include "rdma/transport/queue_pair.h"

namespace glaive::rdma {

/// What set-up tells a receiver; pointers are borrowed and outlive it.
struct ReceiverEndpoint {
  ExecutorId self{};
  ExecutorId peer{};
  QueuePair* queue_pair = nullptr;  ///< to the peer's node
  std::span<const std::byte> ring;  ///< in our exposed memory, 64-byte aligned; the peer writes it
  RemoteRegion region;              ///< the peer's exposed memory
  std::uint64_t credit_offset = 0;  ///< of our credit word in it
  std::uint32_t ring_token = 0;
  std::uint16_t channel = 0;  ///< goes into the WriteId
};

/// A received message. Valid until it is released.
struct Message {
  std::span<const std::byte> payload;  ///< in the ring itself, 64-byte aligned
  MessageTag tag;
  std::uint64_t number = 0;  ///< 1, 2, 3 ... on this ring
};

/// What a receiver has done so far.
struct ReceiverCounters {
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t credit_writes = 0;
};

/// See the head of this file.
class ChannelReceiver {
 public:
  /// `options` must be valid, and the ring have their size.
  ChannelReceiver(const ChannelOptions& options, const ReceiverEndpoint& endpoint);
  ChannelReceiver(ChannelReceiver&&) = default;

  /// Whether TryReceive would have something to say: a message or an error.
  bool Ready() const;

  /// The next message, or none yet. DataLoss, now and ever after, when what arrived is no message of this ring.
  absl::StatusOr<std::optional<Message>> TryReceive();

  /// Gives the oldest received message's slot back. It is a CHECK that there is one.
  void Release();

  /// Writes back the credits that Release has held back so far. For a receiver that has run idle. False: the send queue
  /// is full, try again.
  bool FlushCredits();

  ExecutorId peer() const { return endpoint_.peer; }
  std::uint64_t received() const { return received_; }
  /// Messages received and not released.
  std::uint32_t held() const { return static_cast<std::uint32_t>(received_ - released_); }
  const ReceiverCounters& counters() const { return counters_; }
  const ChannelOptions& options() const { return options_; }

 private:
  const std::byte* SlotEnd(std::uint64_t number) const;
  std::string Examine(const SlotFooter& footer, std::uint64_t number) const;
  absl::Status Refuse(std::uint64_t number, const std::string& wrong);

  ChannelOptions options_;
  ReceiverEndpoint endpoint_;
  std::uint64_t received_ = 0;   // number of the last message handed out
  std::uint64_t released_ = 0;   // messages up to this one were given back
  std::uint64_t published_ = 0;  // the sender knows of this many
  absl::Status failure_;
  ReceiverCounters counters_;
};

}  // namespace glaive::rdma
