// ChannelPair: both ends of one channel in this process, over a real transport, with the raw memory within reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gtest/gtest.h"

#include "rdma/base/steady_clock.h"
#include "rdma/bootstrap/run_key.h"
#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "rdma/channel/checksum.h"
#include "rdma/channel/write_id.h"
#include "rdma/memory/segment_pool.h"
#include "rdma/transport/immediate.h"
#include "rdma/transport/transport.h"
#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {

inline constexpr ExecutorId kSource{3};
inline constexpr ExecutorId kDestination{5};
inline constexpr RunKey kChannelRunKey = {0x5e, 0xed};

class ChannelPair {
 public:
  ChannelPair(TransportKind kind, const ChannelOptions& options, std::uint32_t segment_count)
      : options_(options),
        segments_(SegmentPool::Create(options.slot_bytes, segment_count).value()),
        source_(MakeTestTransport(kind, 0, 1024)),
        destination_(MakeTestTransport(kind, 1, 1024)) {
    if (options_.signal_interval == 0) options_.signal_interval = 1;
    const Arrival arrival = source_->arrival();
    if (arrival == Arrival::kChecksum) options_.checksum_payload = true;
    credit_region_ = source_->Expose(64).value();
    ring_region_ = destination_->Expose(options.ring_bytes()).value();
    const std::uint32_t token = RingToken(kChannelRunKey, kSource, kDestination);
    sender_.emplace(options_,
                    SenderEndpoint{.self = kSource,
                                   .peer = kDestination,
                                   .queue_pair = source_->Connect(ExecutorId{1}, destination_->endpoint()).value(),
                                   .segments = &segments_,
                                   .segments_key = source_->Register(segments_.bytes()).value(),
                                   .region = source_->Attach(ring_region_.descriptor).value(),
                                   .ring_offset = 0,
                                   .credit_word = credit_region_.memory.data(),
                                   .ring_token = token,
                                   .completion_frees_segment = source_->CompletionFreesMemory(),
                                   .arrival = arrival});
    receiver_.emplace(options_,
                      ReceiverEndpoint{.self = kDestination,
                                       .peer = kSource,
                                       .queue_pair = destination_->Connect(ExecutorId{0}, source_->endpoint()).value(),
                                       .ring = ring(),
                                       .region = destination_->Attach(credit_region_.descriptor).value(),
                                       .credit_offset = 0,
                                       .ring_token = token,
                                       .arrival = arrival,
                                       .clock = &clock_});
    AwaitConnected(*source_, *destination_);
  }

  const ChannelOptions& options() const { return options_; }
  SegmentPool& segments() { return segments_; }
  ChannelSender& sender() { return *sender_; }
  /// With the immediate values that have arrived so far, as a mesh hands them to its receivers.
  ChannelReceiver& receiver() {
    for (const std::uint32_t bits : ArrivalsAt(*destination_)) receiver_->OnArrival(Immediate::Unpack(bits).number);
    return *receiver_;
  }
  std::span<std::byte> ring() { return ring_region_.memory.first(options_.ring_bytes()); }

  /// What a mesh does for its senders: routes completions and immediate values, then takes in credits.
  absl::Status PollSender() {
    source_->Flush();
    std::array<Completion, 4> completions;
    while (const std::size_t count = source_->PollCompletions(completions)) {
      for (const Completion& completion : std::span(completions).first(count)) {
        sender_->OnCompletion(WriteId::Unpack(completion.wr_id).number, completion.status);
      }
    }
    for (const std::uint32_t bits : ArrivalsAt(*source_)) sender_->OnCredit(Immediate::Unpack(bits).number);
    return sender_->Poll();
  }

  /// What a mesh does for its receivers: sends off their credits, and tells them which have arrived.
  void FlushReceiver() {
    destination_->Flush();
    Completion completion;
    while (destination_->PollCompletions({&completion, 1}) == 1) {
      EXPECT_EQ(WriteId::Unpack(completion.wr_id).number, WriteId::kCredit);
      receiver_->OnCreditCompletion();
    }
  }

 private:
  static std::vector<std::uint32_t> ArrivalsAt(Transport& transport) {
    std::vector<std::uint32_t> immediates(16);
    immediates.resize(transport.PollArrivals(immediates));
    return immediates;
  }

  ChannelOptions options_;
  SteadyClock clock_;
  SegmentPool segments_;
  std::unique_ptr<Transport> source_;
  std::unique_ptr<Transport> destination_;
  ExposedRegion credit_region_;
  ExposedRegion ring_region_;
  std::optional<ChannelSender> sender_;
  std::optional<ChannelReceiver> receiver_;
};

/// Keeps what is posted instead of sending it, so that a test decides what arrives.
class CapturingQueuePair final : public QueuePair {
 public:
  struct Write {
    WriteRequest request;
    std::vector<std::byte> bytes;
  };

  bool TryPostWrite(const WriteRequest& request) override {
    if (full) return false;
    writes.push_back({request, {request.local, request.local + request.length}});
    return true;
  }

  std::vector<Write> writes;
  bool full = false;
};

/// The payload of message `number`: every byte depends on the number and its place.
inline std::byte PatternByte(std::uint64_t number, std::size_t place) {
  return static_cast<std::byte>(number * 131 + place * 7 + (place >> 8) + 1);
}
inline void FillPattern(std::span<std::byte> payload, std::uint64_t number) {
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = PatternByte(number, i);
}
inline bool HasPattern(std::span<const std::byte> payload, std::uint64_t number) {
  for (std::size_t i = 0; i < payload.size(); ++i) {
    if (payload[i] != PatternByte(number, i)) return false;
  }
  return true;
}

/// Acquires, fills and sends the next message; false when there was no segment or no credit.
inline bool SendPattern(SegmentPool& segments, ChannelSender& sender, std::uint32_t payload_bytes) {
  const std::optional<SegmentId> segment = segments.TryAcquire();
  if (!segment) return false;
  const std::uint64_t number = sender.sent() + 1;
  FillPattern({segments.Data(*segment), payload_bytes}, number);
  if (sender.TrySend(*segment, payload_bytes, MessageTag::Of(number))) return true;
  segments.Release(*segment);
  return false;
}

}  // namespace glaive::rdma
