// ChannelSender: the writing end of a ring of c slots in another executor's memory.
//
// The caller fills a segment of the executor's pool and hands it over. The footer is written right behind the payload,
// and one write carries both to the slot's end (paper sections 6.2 and 6.3). Each message takes one credit. The
// receiver returns credits as a count of consumed messages: in a word of the sender's exposed memory, or with
// kImmediate in an immediate value, for which the mesh calls OnCredit (rdma/transport/arrival.h). Owned by one executor
// and used by its thread alone; never blocks.
//
//   I1 sent - consumed <= c at all times. The peer writes the count, so it is checked as hostile input: Poll fails if
//      it passes the number of sent messages, or goes back. Where a complete write of credits may not be in place yet
//      (credits_may_be_late), a count that goes back is passed over: an older write may have been placed over a newer
//      one, and nothing tells that from a wrong count. It takes no credit back, and the peer repeats its last count.
//   A segment that was sent returns to its pool when its write is complete, if the transport does not read its memory
//   any more then (Transport::CompletionFreesMemory), or when its message was consumed (invariant I6). With kChecksum
//   over such a transport completion alone returns it, so each write asks for one, and a slot is written again only
//   after the write before it is complete: right checksums do not prove that no byte of a message is still on its way,
//   since bytes may be equal to those that lay there. Over iWARP completion proves nothing, and consumption alone
//   returns segments and slots.
//
// Cost: a send is one footer (64 bytes written and hashed) and one virtual call, besides the transport's copy.
//
//   if (!sender.TrySend(segment, payload_bytes, tag)) { /* the segment is still ours; try again later */ }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_options.h"
#include "rdma/channel/message_tag.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/transport/arrival.h"
#include "rdma/transport/queue_pair.h"
#include "rdma/transport/transport.h"

namespace glaive::rdma {

/// What set-up tells a sender; pointers are borrowed and outlive it.
struct SenderEndpoint {
  ExecutorId self{};
  ExecutorId peer{};
  QueuePair* queue_pair = nullptr;         ///< to the peer's node
  SegmentPool* segments = nullptr;         ///< whose buffers have the size of the channel's slots
  LocalKey segments_key{};                 ///< the pool's memory, registered
  RemoteRegion region;                     ///< the peer's exposed memory
  std::uint64_t ring_offset = 0;           ///< of this ring in it
  const std::byte* credit_word = nullptr;  ///< 8 bytes of our exposed memory, written by the peer; not for kImmediate
  std::uint32_t ring_token = 0;
  std::uint16_t channel = 0;             ///< goes into the WriteId
  bool completion_frees_segment = true;  ///< see Transport::CompletionFreesMemory
  bool credits_may_be_late = false;      ///< kChecksum: an older count may come after a newer one
  Arrival arrival = Arrival::kImmediate;
};

/// What a sender has done so far.
struct SenderCounters {
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t credit_stalls = 0;  ///< times it went from sending to waiting for credit
  std::uint64_t queue_stalls = 0;   ///< times it went from sending to waiting for the send queue
};

/// See the head of this file.
class ChannelSender {
 public:
  /// `options` must be valid and have the pool's slot size and a signal interval of at least 1.
  ChannelSender(const ChannelOptions& options, const SenderEndpoint& endpoint);
  ChannelSender(ChannelSender&&) = default;

  /// Sends the first `payload_bytes` (0 .. payload_capacity) of an acquired segment. True: the segment is the channel's
  /// until it returns to the pool by itself. False: no credit or a full send queue; the segment remains the caller's.
  [[nodiscard]] bool TrySend(SegmentId segment, std::uint32_t payload_bytes, const MessageTag& tag);

  /// Whether TrySend would find a credit now. Reads the credit word only when the last seen credits are used up.
  [[nodiscard]] bool HasCredit();

  /// Takes in returned credits and frees the segments of consumed messages. DataLoss, now and ever after, when the
  /// peer's credit word breaks I1; Unavailable when a write failed.
  absl::Status Poll();

  /// kImmediate: the peer has returned credits; `count` is that of consumed messages modulo 4096 (Immediate).
  void OnCredit(std::uint32_t count);

  /// A write of this channel ended, and all before it did as well. `number` as in WriteId.
  void OnCompletion(std::uint64_t number, WriteStatus status);

  ExecutorId peer() const { return endpoint_.peer; }
  /// Messages that can be sent before the peer has to return credits, as last seen.
  std::uint32_t credits() const { return options_.credits - static_cast<std::uint32_t>(sent_ - consumed_); }
  /// Sent messages whose segment has not returned yet.
  std::uint32_t in_flight() const { return static_cast<std::uint32_t>(sent_ - returned_); }
  std::uint64_t sent() const { return sent_; }
  /// Messages the peer is known to have consumed.
  std::uint64_t consumed() const { return consumed_; }
  const SenderCounters& counters() const { return counters_; }
  const ChannelOptions& options() const { return options_; }

 private:
  void WriteFooter(std::byte* segment, std::uint32_t payload_bytes, const MessageTag& tag) const;
  bool PostWrite(const std::byte* segment, std::uint32_t payload_bytes);
  bool Stalled(std::uint64_t& counter);
  void RefreshCredits();
  void TakeConsumed(std::uint64_t consumed);
  bool AwaitsCompletions() const;
  void ReturnSegments(std::uint64_t up_to);

  ChannelOptions options_;
  SenderEndpoint endpoint_;
  std::vector<SegmentId> segments_in_flight_;  // by (number - 1) mod c
  std::uint64_t sent_ = 0;                     // number of the last message sent
  std::uint64_t consumed_ = 0;                 // the peer's count, as last seen
  std::uint64_t completed_ = 0;                // the writes of messages up to this one are known to be complete
  std::uint64_t returned_ = 0;                 // messages up to this one have given back their segment
  bool stalled_ = false;
  absl::Status failure_;
  SenderCounters counters_;
};

}  // namespace glaive::rdma
