// Both ends of a channel at work: in one thread under random interleavings, and in two threads over real transports.

#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "gtest/gtest.h"

#include "tests/rdma/channel_pair.h"
#include "tests/rdma/test_device.h"

namespace glaive::rdma {
namespace {

struct Shape {
  TransportKind kind;
  ChannelOptions options;
};

std::string NameOf(const ::testing::TestParamInfo<Shape>& test) {
  const ChannelOptions& options = test.param.options;
  return std::string(Name(test.param.kind)) + "_" + std::to_string(options.slot_bytes) + "x" +
         std::to_string(options.credits) + (options.checksum_payload ? "_checksum" : "") +
         (options.signal_interval > 0 ? "_signal" + std::to_string(options.signal_interval) : "");
}

class ChannelStream : public ::testing::TestWithParam<Shape> {
 protected:
  ChannelStream() {
    if (GetParam().kind == TransportKind::kVerbs) traffic_.emplace(MessagesOfManyLaps());
  }
  const ChannelOptions& options() const { return GetParam().options; }
  std::uint64_t MessagesOfManyLaps() const { return std::uint64_t{2} * 256 * options().credits + 5; }
  // Sizes from nothing to a full slot, the same for both ends.
  std::uint32_t PayloadBytes(std::uint64_t number) const {
    return static_cast<std::uint32_t>(number * 2654435761U % (options().slot_bytes - kFooterBytes + 1));
  }
  void ExpectMessage(const Message& message, std::uint64_t number) const {
    ASSERT_EQ(message.number, number);
    ASSERT_EQ(message.payload.size(), PayloadBytes(number));
    ASSERT_EQ(message.tag.As<std::uint64_t>(), number);
    ASSERT_TRUE(HasPattern(message.payload, number)) << "message " << number;
  }

 private:
  std::optional<ExpectDeviceTraffic> traffic_;  // each message is a packet or more
};

TEST_P(ChannelStream, NeverHasMoreThanItsCreditsUnderWayInAnyInterleaving) {
  ChannelPair pair(GetParam().kind, options(), 2 * options().credits);
  std::mt19937 random(11);
  std::uint64_t received = 0;
  std::uint64_t released = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (received < MessagesOfManyLaps()) {
    ASSERT_TRUE(std::chrono::steady_clock::now() < deadline) << "only " << received << " messages came through";
    switch (random() % 5) {
      case 0:
      case 1:
        SendPattern(pair.segments(), pair.sender(), PayloadBytes(pair.sender().sent() + 1));
        break;
      case 2: {
        const absl::StatusOr<std::optional<Message>> message = pair.receiver().TryReceive();
        ASSERT_TRUE(message.ok()) << message.status();
        if (message->has_value()) {
          ASSERT_NO_FATAL_FAILURE(ExpectMessage(**message, ++received));
        }
        break;
      }
      case 3:
        if (released < received) {
          pair.receiver().Release();
          ++released;
        }
        break;
      default:
        if (random() % 8 == 0) pair.receiver().FlushCredits();
        pair.FlushReceiver();
        ASSERT_TRUE(pair.PollSender().ok());
        std::this_thread::yield();  // an emulated device works on the same processor
    }
    ASSERT_LE(pair.sender().sent() - released, options().credits) << "I1";
    ASSERT_EQ(pair.segments().available() + pair.sender().in_flight(), pair.segments().size()) << "I6";
  }
  EXPECT_GT(pair.sender().counters().credit_stalls, 0U);
}

TEST_P(ChannelStream, CarriesManyLapsBetweenTwoThreads) {
  ChannelPair pair(GetParam().kind, options(), options().credits);
  const std::uint64_t messages = MessagesOfManyLaps();
  std::atomic<bool> receiver_failed = false;
  std::thread receiving([&] {
    for (std::uint64_t number = 1; number <= messages;) {
      const absl::StatusOr<std::optional<Message>> message = pair.receiver().TryReceive();
      if (message.ok() && !message->has_value()) {
        pair.receiver().FlushCredits();
        pair.FlushReceiver();
        std::this_thread::yield();
        continue;
      }
      if (message.ok()) ExpectMessage(**message, number++);
      if (!message.ok() || ::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << message.status();
        receiver_failed = true;
        return;
      }
      pair.receiver().Release();
      pair.FlushReceiver();
    }
    // The last credits leave once the write of the credits before them is complete.
    while (!pair.receiver().FlushCredits()) pair.FlushReceiver();
    pair.FlushReceiver();
  });
  while (pair.sender().consumed() < messages && !receiver_failed) {
    const bool more = pair.sender().sent() < messages;
    const bool sent = more && SendPattern(pair.segments(), pair.sender(), PayloadBytes(pair.sender().sent() + 1));
    const absl::Status status = pair.PollSender();
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) break;
    if (!sent) std::this_thread::yield();
  }
  receiving.join();
  EXPECT_EQ(pair.sender().counters().messages, messages);
  EXPECT_EQ(pair.receiver().counters().messages, messages);
  EXPECT_EQ(pair.sender().counters().payload_bytes, pair.receiver().counters().payload_bytes);
  EXPECT_EQ(pair.segments().available(), pair.segments().size());
}

constexpr ChannelOptions Of(std::uint32_t slot_bytes, std::uint32_t credits, bool checksum,
                            std::uint32_t signal_interval = 0) {
  return {
      .slot_bytes = slot_bytes, .credits = credits, .checksum_payload = checksum, .signal_interval = signal_interval};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ChannelStream,
    ::testing::Values(Shape{TransportKind::kLocal, Of(256, 2, true)}, Shape{TransportKind::kLocal, Of(1024, 8, false)},
                      Shape{TransportKind::kLocal, Of(4096, 5, true, 3)}, Shape{TransportKind::kShm, Of(256, 2, true)},
                      Shape{TransportKind::kShm, Of(1024, 8, false)}, Shape{TransportKind::kShm, Of(4096, 5, true, 3)},
                      Shape{TransportKind::kShm, Of(8192, 4, false, 4)}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(OverVerbs, ChannelStream,
                         ::testing::Values(Shape{TransportKind::kVerbs, Of(256, 2, true)},
                                           Shape{TransportKind::kVerbs, Of(1024, 8, false)},
                                           Shape{TransportKind::kVerbs, Of(4096, 5, true, 3)},
                                           Shape{TransportKind::kVerbs, Of(16384, 4, true, 4)}),
                         NameOf);

}  // namespace
}  // namespace glaive::rdma
