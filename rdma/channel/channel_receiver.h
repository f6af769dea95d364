// ChannelReceiver: the reading end of a ring of c slots in this executor's exposed memory.
//
// It hands out messages in the ring, without a copy, in the order in which they were sent. Several messages may be held
// at a time, unless they are copied (below). They are released oldest first, and the count of released messages is
// returned to the sender as credit, at most c/2 messages late. Owned by one executor and used by its thread alone;
// never blocks.
//
// How it notices a message depends on the transport (rdma/transport/arrival.h):
//
//   kImmediate  The mesh calls OnArrival for each immediate value of this channel.
//   kChecksum   It polls the last byte of the next slot (paper section 6.2). That byte may arrive before the rest.
//               Then footer and payload are read again until their checksums are right, for at most
//               kPlacementPatience: a message that stays wrong is damaged, or the fabric has lost a part of it.
//
// A right checksum proves what a slot held when it was read. Bytes of the slot's last use may still be placed
// afterwards where nothing says that all of them are in place: over iWARP, whose writes complete before that (RFC 5041,
// section 5), and with PCIe relaxed ordering. Such receivers have a CopySlot: they copy a message there, hash the copy,
// and hand out the copy.
//
// With kImmediate credits are immediate values. With kChecksum they are written into a word of the sender, one write at
// a time: the next one is posted once the one before is complete. So no older count comes after a newer one where a
// complete write is in place. Elsewhere (credits_may_be_late) an older count may overwrite a newer one that nobody has
// seen. So the last count is written again, first after kFirstRepeatNanos, then whenever twice as much time has passed
// since it was first written, until kPlacementPatienceNanos have. By then older counts are in place, as messages are,
// and the last repeat stays.
//
//   I1 A message beyond the credits that were given out is refused.
//   I2 Every message is handed out exactly once and in order: its number must be the next one.
//   A footer is copied before it is checked, so that it cannot change any more. A wrong number, token, length,
//   checksum, lap or reserved byte is refused with DataLoss, which names the source, the found and the expected value.
//   Then the channel stays failed, because messages behind a lost one cannot be trusted.
//
// Cost: an empty poll is one load of a byte that stays in cache, or of a member with kImmediate; a message costs one
// footer copied and hashed, and with kChecksum a hash of its payload, with a CopySlot also a copy of it.
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

#include "rdma/base/clock.h"
#include "rdma/base/ids.h"
#include "rdma/channel/channel_options.h"
#include "rdma/channel/message_tag.h"
#include "rdma/channel/slot_footer.h"
#include "rdma/transport/arrival.h"
#include "rdma/transport/queue_pair.h"

namespace glaive::rdma {

/// Memory for one message, shared by the receivers of an executor, of which one holds a message at a time.
struct CopySlot {
  std::span<std::byte> memory;  ///< 64-byte aligned, of a slot's size
  bool is_held = false;         ///< from TryReceive to Release
};

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
  Arrival arrival = Arrival::kImmediate;
  const Clock* clock = nullptr;      ///< needed for kChecksum
  CopySlot* copy_slot = nullptr;     ///< kChecksum: where messages are copied before they are checked; null: nowhere
  bool credits_may_be_late = false;  ///< kChecksum: a complete write may not be in the peer's memory yet
};

/// A received message. Valid until it is released.
struct Message {
  std::span<const std::byte> payload;  ///< in the ring itself or in the CopySlot, 64-byte aligned
  MessageTag tag;
  std::uint64_t number = 0;  ///< 1, 2, 3 ... on this ring
};

/// What a receiver has done so far.
struct ReceiverCounters {
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t credit_writes = 0;    ///< repeats included
  std::uint64_t placement_waits = 0;  ///< kChecksum: messages whose last byte was seen before the rest
};

/// See the head of this file.
class ChannelReceiver {
 public:
  /// How long a message may show its last byte before the rest, in nanoseconds: longer than a device tries a write
  /// again that was lost on its way.
  static constexpr std::int64_t kPlacementPatienceNanos = 10'000'000'000;
  /// When a count is first written again, in nanoseconds after it was written: much later than a write is in place.
  static constexpr std::int64_t kFirstRepeatNanos = 10'000'000;

  /// `options` must be valid, and the ring have their size. With kChecksum they must ask for payload checksums.
  ChannelReceiver(const ChannelOptions& options, const ReceiverEndpoint& endpoint);
  ChannelReceiver(ChannelReceiver&&) = default;

  /// Whether TryReceive would have something to say: a message or an error.
  bool Ready() const;

  /// kImmediate: the immediate value of a message has arrived, which names `slot`. A slot that is not the next one
  /// makes the channel fail.
  void OnArrival(std::uint32_t slot);

  /// The next message, or none yet. DataLoss, now and ever after, when what arrived is no message of this ring. With a
  /// CopySlot it is a CHECK that nobody holds a message in it.
  absl::StatusOr<std::optional<Message>> TryReceive();

  /// Gives the oldest received message's slot back. It is a CHECK that there is one.
  void Release();

  /// Returns the credits that Release has held back so far. For a receiver that has run idle. False: the send queue is
  /// full or the last write of credits is not complete, try again.
  bool FlushCredits();

  /// Where credits may be late: to be called again and again, with the time of the endpoint's clock. Writes the last
  /// count again when that is due, as the head of this file says.
  void RepeatCredits(std::int64_t now_ns);

  /// The write of credits that was under way is complete.
  void OnCreditCompletion() { credit_under_way_ = false; }

  ExecutorId peer() const { return endpoint_.peer; }
  /// Whether so many credits are held back that the sender may wait for them: the write of them found no room.
  bool credits_are_overdue() const { return released_ - published_ >= options_.credits / 2; }
  /// kChecksum: the last byte of the next message is there, and as of the last TryReceive not the rest.
  bool waits_for_placement() const { return placed_by_ns_.has_value(); }
  std::uint64_t received() const { return received_; }
  /// Messages received and not released.
  std::uint32_t held() const { return static_cast<std::uint32_t>(received_ - released_); }
  const ReceiverCounters& counters() const { return counters_; }
  const ChannelOptions& options() const { return options_; }

 private:
  const std::byte* SlotEnd(std::uint64_t number) const;
  std::span<const std::byte> Copied(std::span<const std::byte> payload) const;
  absl::StatusOr<std::optional<Message>> OnDamage(std::uint64_t number, const char* field, std::uint64_t found,
                                                  std::uint64_t expected);
  std::string WithoutCredit() const;
  bool PostCredits();
  std::string Examine(const SlotFooter& footer, std::uint64_t number) const;
  absl::Status Refuse(std::uint64_t number, const std::string& wrong);

  ChannelOptions options_;
  ReceiverEndpoint endpoint_;
  std::uint64_t arrived_ = 0;                 // kImmediate: number of the last message that has arrived
  std::uint64_t received_ = 0;                // number of the last message handed out
  std::uint64_t released_ = 0;                // messages up to this one were given back
  std::uint64_t published_ = 0;               // the sender knows of this many
  bool credit_under_way_ = false;             // kChecksum
  std::int64_t written_ns_ = 0;               // where credits may be late: when the last count was first written
  std::optional<std::int64_t> repeat_ns_;     // and when it is to be written again, if it is
  std::optional<std::int64_t> placed_by_ns_;  // kChecksum: the next message shows its last byte, but not the rest
  absl::Status failure_;
  ReceiverCounters counters_;
};

}  // namespace glaive::rdma
