// ChannelArrivalTest: a test with both ends of a channel, which places the bytes of writes, and says when they have
// arrived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "tests/rdma/channel_pair.h"
#include "tests/rdma/hand_clock.h"

namespace glaive::rdma {

inline constexpr ChannelOptions kArrivalOptions{
    .slot_bytes = 512, .credits = 4, .checksum_payload = true, .signal_interval = 1};
inline constexpr std::uint32_t kPayloadBytes = 448;

/// See the head of this file.
class ChannelArrivalTest : public ::testing::Test {
 protected:
  explicit ChannelArrivalTest(Arrival arrival, bool may_be_late = false)
      : segments_(SegmentPool::Create(kArrivalOptions.slot_bytes, 8).value()),
        sender_(kArrivalOptions,
                SenderEndpoint{.self = kSource,
                               .peer = kDestination,
                               .queue_pair = &to_receiver_,
                               .segments = &segments_,
                               .region = {.address = 64, .size_bytes = kArrivalOptions.ring_bytes(), .key = 0},
                               .credit_word = reinterpret_cast<const std::byte*>(&credit_word_),
                               .ring_token = 99,
                               .credits_may_be_late = may_be_late,
                               .arrival = arrival}),
        receiver_(kArrivalOptions, ReceiverEndpoint{.self = kDestination,
                                                    .peer = kSource,
                                                    .queue_pair = &to_sender_,
                                                    .ring = ring_.bytes,
                                                    .region = {.address = 64, .size_bytes = 64, .key = 0},
                                                    .ring_token = 99,
                                                    .channel = 2,
                                                    .arrival = arrival,
                                                    .clock = &clock_,
                                                    .copy_slot = may_be_late ? &copy_slot_ : nullptr,
                                                    .credits_may_be_late = may_be_late}) {}

  // The next message's write, of which nothing is placed yet.
  CapturingQueuePair::Write Send() {
    EXPECT_TRUE(SendPattern(segments_, sender_, kPayloadBytes));
    return std::exchange(to_receiver_.writes, {}).back();
  }

  void Place(const CapturingQueuePair::Write& write, std::size_t byte) {
    ring_.bytes[write.request.remote_offset + byte] = write.bytes[byte];
  }
  void PlaceAll(const CapturingQueuePair::Write& write) {
    for (std::size_t byte = 0; byte < write.bytes.size(); ++byte) Place(write, byte);
  }

  // Sends, receives and releases so many messages.
  void Exchange(std::uint32_t messages) {
    for (std::uint32_t message = 0; message < messages; ++message) {
      PlaceAll(Send());
      ExpectMessage();
      receiver_.Release();
    }
  }

  // The receiver's last write of credits takes effect, or the one that was posted so many writes before it.
  void PlaceCount(std::size_t back) {
    ASSERT_LT(back, to_sender_.writes.size());
    const CapturingQueuePair::Write& write = to_sender_.writes[to_sender_.writes.size() - 1 - back];
    std::memcpy(&credit_word_, write.bytes.data(), sizeof(credit_word_));
  }

  void ExpectNothing() { ASSERT_EQ(receiver_.TryReceive().value(), std::nullopt); }
  void ExpectMessage() {
    const std::optional<Message> message = receiver_.TryReceive().value();
    ASSERT_TRUE(message.has_value());
    ASSERT_EQ(message->payload.size(), kPayloadBytes);
    ASSERT_TRUE(HasPattern(message->payload, message->number));
  }

  struct Ring {
    alignas(64) std::array<std::byte, kArrivalOptions.slot_bytes * kArrivalOptions.credits> bytes{};
  };
  Ring ring_;
  struct Copy {
    alignas(64) std::array<std::byte, kArrivalOptions.slot_bytes> bytes{};
  };
  Copy copy_;
  CopySlot copy_slot_{.memory = copy_.bytes};
  HandClock clock_;
  alignas(64) std::uint64_t credit_word_ = 0;
  CapturingQueuePair to_receiver_;
  CapturingQueuePair to_sender_;
  SegmentPool segments_;
  ChannelSender sender_;
  ChannelReceiver receiver_;
};

}  // namespace glaive::rdma
