// What of a message has arrived is decided by the test: bytes go into the raw ring one at a time.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"

#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/channel_sender.h"
#include "tests/rdma/channel_pair.h"

namespace glaive::rdma {
namespace {

class TornWrite : public ::testing::TestWithParam<ChannelOptions> {
 protected:
  TornWrite()
      : options_(GetParam()),
        ring_(options_.ring_bytes() / sizeof(Line)),
        segments_(SegmentPool::Create(options_.slot_bytes, 1).value()),
        sender_(options_, SenderEndpoint{.self = kSource,
                                         .peer = kDestination,
                                         .queue_pair = &to_receiver_,
                                         .segments = &segments_,
                                         .region = {.address = 64, .size_bytes = options_.ring_bytes(), .key = 0},
                                         .credit_word = reinterpret_cast<const std::byte*>(&credit_word_),
                                         .ring_token = 99,
                                         .arrival = Arrival::kChecksum}),
        receiver_(options_, ReceiverEndpoint{.self = kDestination,
                                             .peer = kSource,
                                             .queue_pair = &to_sender_,
                                             .ring = ring(),
                                             .region = {.address = 64, .size_bytes = 64, .key = 0},
                                             .ring_token = 99,
                                             .arrival = Arrival::kChecksum,
                                             .clock = &clock_}) {}

  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };

  std::span<std::byte> ring() { return std::as_writable_bytes(std::span(ring_)); }

  // The next message's write, of which nothing has arrived yet.
  CapturingQueuePair::Write Post(std::uint32_t payload_bytes) {
    EXPECT_TRUE(SendPattern(segments_, sender_, payload_bytes));
    CapturingQueuePair::Write write = std::move(to_receiver_.writes.back());
    to_receiver_.writes.clear();
    return write;
  }

  void Arrive(const CapturingQueuePair::Write& write, std::size_t place) {
    ring()[write.request.remote_offset + place] = write.bytes[place];
  }

  // The message is complete: it must come out whole; its slot and segment are given back.
  void ExpectMessage(std::uint32_t payload_bytes) {
    ASSERT_TRUE(receiver_.Ready());
    const absl::StatusOr<std::optional<Message>> message = receiver_.TryReceive();
    ASSERT_TRUE(message.ok()) << message.status();
    ASSERT_EQ((*message)->payload.size(), payload_bytes);
    ASSERT_TRUE(HasPattern((*message)->payload, (*message)->number));
    receiver_.Release();
    ASSERT_TRUE(receiver_.FlushCredits());
    receiver_.OnCreditCompletion();
    sender_.OnCompletion(sender_.sent(), WriteStatus::kDone);
    std::memcpy(&credit_word_, to_sender_.writes.back().bytes.data(), sizeof(credit_word_));
    ASSERT_TRUE(sender_.Poll().ok());
  }

  std::uint64_t MessagesOfManyLaps() const { return std::uint64_t{260} * options_.credits; }
  std::uint32_t Capacity() const { return segments_.payload_capacity(); }

  ChannelOptions options_;
  std::vector<Line> ring_;
  alignas(64) std::uint64_t credit_word_ = 0;
  SteadyClock clock_;
  CapturingQueuePair to_receiver_;
  CapturingQueuePair to_sender_;
  SegmentPool segments_;
  ChannelSender sender_;
  ChannelReceiver receiver_;
};

TEST_P(TornWrite, IsNotSeenWhileAnyProperPrefixHasArrived) {
  for (std::uint64_t i = 0; i < MessagesOfManyLaps(); ++i) {
    const auto payload_bytes = static_cast<std::uint32_t>(i * 37 % (Capacity() + 1));
    const CapturingQueuePair::Write write = Post(payload_bytes);
    for (std::size_t place = 0; place < write.bytes.size(); ++place) {
      ASSERT_FALSE(receiver_.Ready()) << "message " << i + 1 << ", " << place << " bytes";
      Arrive(write, place);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectMessage(payload_bytes));
  }
}

TEST_P(TornWrite, IsNotSeenWhicheverOtherBytesArrivedBeforeTheLast) {
  std::mt19937 random(7);
  for (std::uint64_t i = 0; i < MessagesOfManyLaps(); ++i) {
    const auto payload_bytes = static_cast<std::uint32_t>(random() % (Capacity() + 1));
    const CapturingQueuePair::Write write = Post(payload_bytes);
    std::vector<std::size_t> places(write.bytes.size() - 1);
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::shuffle(places.begin(), places.end(), random);
    for (const std::size_t place : places) {
      Arrive(write, place);
      ASSERT_FALSE(receiver_.Ready()) << "message " << i + 1;
    }
    Arrive(write, places.size());
    ASSERT_NO_FATAL_FAILURE(ExpectMessage(payload_bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TornWrite,
    ::testing::Values(ChannelOptions{.slot_bytes = 256, .credits = 2, .checksum_payload = true, .signal_interval = 1},
                      ChannelOptions{.slot_bytes = 256, .credits = 8, .checksum_payload = true, .signal_interval = 1},
                      ChannelOptions{.slot_bytes = 1088, .credits = 3, .checksum_payload = true, .signal_interval = 1}),
    [](const auto& test) { return std::to_string(test.param.slot_bytes) + "x" + std::to_string(test.param.credits); });

}  // namespace
}  // namespace glaive::rdma
