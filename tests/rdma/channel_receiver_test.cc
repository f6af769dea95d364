#include "rdma/channel/channel_receiver.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/rdma/channel_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

constexpr ChannelOptions kOptions{.slot_bytes = 512, .credits = 4, .checksum_payload = true, .signal_interval = 0};

// A receiver whose ring is written by the test, one footer or message at a time.
class ChannelReceiverTest : public ::testing::Test {
 protected:
  ChannelReceiverTest() : pair_(TransportKind::kLocal, kOptions, 16) {}

  ChannelReceiver& receiver() { return pair_.receiver(); }

  // What a good sender would put into the slot of message `number`, with an empty payload.
  static SlotFooter GoodFooter(std::uint64_t number) {
    SlotFooter footer;
    footer.message_number = number;
    footer.payload_checksum = PayloadChecksum({});
    footer.ring_token = RingToken(kChannelRunKey, kSource, kDestination);
    footer.lap = LapOf(number, kOptions.credits);
    return footer;
  }

  // Puts a footer into the slot where message `number` is expected.
  void Deliver(std::uint64_t number, SlotFooter footer, bool seal = true) {
    if (seal) footer.footer_checksum = FooterChecksum(footer);
    const std::size_t slot_end = ((number - 1) % kOptions.credits + 1) * kOptions.slot_bytes;
    std::memcpy(pair_.ring().data() + slot_end - kFooterBytes, &footer, sizeof(footer));
    receiver().OnArrival(static_cast<std::uint32_t>((number - 1) % kOptions.credits));
  }

  void ExpectRefused(const std::string& why) {
    ASSERT_TRUE(receiver().Ready());
    const absl::Status status = receiver().TryReceive().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.message(), HasSubstr("from executor 3 to executor 5"));
    EXPECT_THAT(status.message(), HasSubstr(why));
    EXPECT_EQ(receiver().received(), 0U);
  }

  ChannelPair pair_;
};

TEST_F(ChannelReceiverTest, HandsOutMessagesInOrderWithTheirTags) {
  for (const std::uint32_t payload_bytes : {448U, 0U, 1U}) {
    ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), payload_bytes));
  }
  for (const std::size_t payload_bytes : {448U, 0U, 1U}) {
    const Message message = receiver().TryReceive().value().value();
    EXPECT_EQ(message.number, receiver().received());
    EXPECT_EQ(message.payload.size(), payload_bytes);
    EXPECT_EQ(message.tag.As<std::uint64_t>(), message.number);
    EXPECT_TRUE(HasPattern(message.payload, message.number));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload.data()) % 64, 0U);
  }
  EXPECT_FALSE(receiver().Ready());
  EXPECT_EQ(receiver().TryReceive().value(), std::nullopt);
}

TEST_F(ChannelReceiverTest, TakesAWellFormedForgeryAsTheRealThing) {
  Deliver(1, GoodFooter(1));
  EXPECT_EQ(receiver().TryReceive().value()->number, 1U) << "or else the refusals below prove nothing";
}

TEST_F(ChannelReceiverTest, RefusesAWrongMessageNumber) {
  SlotFooter footer = GoodFooter(1);
  footer.message_number = 2;
  Deliver(1, footer);
  ExpectRefused("message 1 is refused: message number 2, expected 1");
}

TEST_F(ChannelReceiverTest, RefusesAnotherRingsToken) {
  SlotFooter footer = GoodFooter(1);
  footer.ring_token = RingToken(kChannelRunKey, kDestination, kSource);
  Deliver(1, footer);
  ExpectRefused("ring token");
}

TEST_F(ChannelReceiverTest, RefusesAPayloadLongerThanItsSlot) {
  SlotFooter footer = GoodFooter(1);
  footer.payload_bytes = 449;
  Deliver(1, footer);
  ExpectRefused("payload of 449 bytes, expected at most 448");
}

TEST_F(ChannelReceiverTest, RefusesALengthThatOverflowsWhenPadded) {
  SlotFooter footer = GoodFooter(1);
  footer.payload_bytes = ~std::uint32_t{0};
  Deliver(1, footer);
  ExpectRefused("payload of 4294967295 bytes");
}

TEST_F(ChannelReceiverTest, RefusesADamagedFooter) {
  SlotFooter footer = GoodFooter(1);
  footer.footer_checksum = FooterChecksum(footer);
  footer.tag.bytes[5] = std::byte{1};
  Deliver(1, footer, /*seal=*/false);
  ExpectRefused("footer checksum");
}

TEST_F(ChannelReceiverTest, RefusesReservedBytesInUse) {
  SlotFooter footer = GoodFooter(1);
  footer.reserved[10] = 1;
  Deliver(1, footer);
  ExpectRefused("reserved bytes are not zero");
}

TEST_F(ChannelReceiverTest, RefusesALapThatIsNeitherThisRoundsNorTheLast) {
  SlotFooter footer = GoodFooter(1);
  footer.lap = 77;
  Deliver(1, footer);
  ExpectRefused("lap 77, expected 1");
}

TEST_F(ChannelReceiverTest, RefusesATruncatedPayload) {
  SlotFooter footer = GoodFooter(1);
  footer.payload_bytes = 100;  // its bytes never arrived
  footer.payload_checksum = 12345;
  Deliver(1, footer);
  ExpectRefused("payload checksum 12345, expected");
}

TEST_F(ChannelReceiverTest, RefusesAPayloadWithoutChecksumWhereOneIsDue) {
  SlotFooter footer = GoodFooter(1);
  footer.payload_checksum = 0;
  Deliver(1, footer);
  ExpectRefused("payload checksum 0, expected");
}

TEST_F(ChannelReceiverTest, RefusesAMessageThatComesTwice) {
  ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 8));
  ASSERT_TRUE(receiver().TryReceive().value().has_value());
  Deliver(2, GoodFooter(1));
  const absl::Status status = receiver().TryReceive().status();
  EXPECT_THAT(status.message(), HasSubstr("message 2 is refused: message number 1, expected 2"));
}

TEST_F(ChannelReceiverTest, RefusesMessagesOutOfOrder) {
  Deliver(1, GoodFooter(3));
  ExpectRefused("message number 3, expected 1");
}

TEST_F(ChannelReceiverTest, RefusesAMessageOfTheRoundBeforeLast) {
  for (std::uint64_t number = 1; number <= 2 * kOptions.credits; ++number) {
    Deliver(number, GoodFooter(number));
    ASSERT_TRUE(receiver().TryReceive().value().has_value());
    receiver().Release();
  }
  Deliver(9, GoodFooter(1));
  EXPECT_THAT(receiver().TryReceive().status().message(), HasSubstr("message number 1, expected 9"));
}

TEST_F(ChannelReceiverTest, RefusesAMessageThatWasSentWithoutCredit) {
  for (std::uint64_t number = 1; number <= kOptions.credits; ++number) {
    Deliver(number, GoodFooter(number));
    ASSERT_TRUE(receiver().TryReceive().value().has_value());
  }
  receiver().Release();  // one slot is free, but the sender does not know yet
  Deliver(5, GoodFooter(5));
  EXPECT_THAT(receiver().TryReceive().status().message(), HasSubstr("sent without credit"));
}

TEST_F(ChannelReceiverTest, RefusesAMessageThatOverwritesAHeldOne) {
  for (std::uint64_t number = 1; number <= kOptions.credits; ++number) {
    Deliver(number, GoodFooter(number));
    ASSERT_TRUE(receiver().TryReceive().value().has_value());
  }
  EXPECT_FALSE(receiver().Ready());
  Deliver(5, GoodFooter(5));
  EXPECT_THAT(receiver().TryReceive().status().message(),
              HasSubstr("sent without credit: 0 slots were given back of 4"));
}

TEST_F(ChannelReceiverTest, StaysFailed) {
  Deliver(1, GoodFooter(2));
  const absl::Status first = receiver().TryReceive().status();
  ASSERT_FALSE(first.ok());
  Deliver(1, GoodFooter(1));
  EXPECT_TRUE(receiver().Ready());
  EXPECT_EQ(receiver().TryReceive().status(), first);
}

TEST_F(ChannelReceiverTest, RefusesAPayloadThatWasStillStaleWhenItsFooterCame) {
  ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 448));
  pair_.ring()[447] ^= std::byte{1};
  EXPECT_THAT(receiver().TryReceive().status().message(), HasSubstr("payload checksum"));
}

TEST_F(ChannelReceiverTest, IsNotReadyWhileAllSlotsAreHeld) {
  for (std::uint32_t i = 0; i < kOptions.credits; ++i) {
    ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 8));
    ASSERT_TRUE(receiver().TryReceive().value().has_value());
  }
  EXPECT_EQ(receiver().held(), kOptions.credits);
  EXPECT_FALSE(receiver().Ready());
  EXPECT_EQ(receiver().TryReceive().value(), std::nullopt);
}

TEST_F(ChannelReceiverTest, WritesCreditsBackAtMostHalfTheRingLate) {
  for (std::uint32_t i = 0; i < kOptions.credits; ++i) {
    ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 8));
    ASSERT_TRUE(receiver().TryReceive().value().has_value());
  }
  receiver().Release();
  EXPECT_EQ(receiver().counters().credit_writes, 0U);
  ASSERT_TRUE(pair_.PollSender().ok());
  EXPECT_FALSE(pair_.sender().HasCredit());
  receiver().Release();
  EXPECT_EQ(receiver().counters().credit_writes, 1U);
  ASSERT_TRUE(pair_.PollSender().ok());
  EXPECT_TRUE(pair_.sender().HasCredit());
  EXPECT_EQ(pair_.sender().credits(), 2U);
}

TEST_F(ChannelReceiverTest, FlushesCreditsWhenAsked) {
  ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 8));
  ASSERT_TRUE(receiver().TryReceive().value().has_value());
  receiver().Release();
  EXPECT_TRUE(receiver().FlushCredits());
  EXPECT_TRUE(receiver().FlushCredits());
  EXPECT_EQ(receiver().counters().credit_writes, 1U);
  ASSERT_TRUE(pair_.PollSender().ok());
  EXPECT_EQ(pair_.sender().consumed(), 1U);
  EXPECT_EQ(pair_.segments().available(), pair_.segments().size());
}

TEST_F(ChannelReceiverTest, KeepsCreditsUntilTheSendQueueHasRoom) {
  CapturingQueuePair queue_pair;
  const SteadyClock clock;
  ChannelReceiver receiver(pair_.options(),
                           ReceiverEndpoint{.self = kDestination,
                                            .peer = kSource,
                                            .queue_pair = &queue_pair,
                                            .ring = pair_.ring(),
                                            .region = {.address = 64, .size_bytes = 64, .key = 0},
                                            .credit_offset = 8,
                                            .ring_token = RingToken(kChannelRunKey, kSource, kDestination),
                                            .channel = 2,
                                            .arrival = Arrival::kChecksum,
                                            .clock = &clock});
  queue_pair.full = true;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(SendPattern(pair_.segments(), pair_.sender(), 8));
    ASSERT_TRUE(receiver.TryReceive().value().has_value());
    receiver.Release();
  }
  EXPECT_FALSE(receiver.FlushCredits());
  queue_pair.full = false;
  EXPECT_TRUE(receiver.FlushCredits());
  ASSERT_EQ(queue_pair.writes.size(), 1U);
  const WriteRequest& request = queue_pair.writes[0].request;
  EXPECT_EQ(request.length, 8U);
  EXPECT_EQ(request.remote_offset, 8U);
  EXPECT_TRUE(request.inline_payload);
  EXPECT_TRUE(request.signaled) << "the next write of credits waits for this one";
  EXPECT_EQ(WriteId::Unpack(request.wr_id), (WriteId{.channel = 2, .number = WriteId::kCredit}));
  std::uint64_t consumed = 0;
  std::memcpy(&consumed, queue_pair.writes[0].bytes.data(), sizeof(consumed));
  EXPECT_EQ(consumed, 3U);
}

using ChannelReceiverDeathTest = ChannelReceiverTest;

TEST_F(ChannelReceiverDeathTest, EndsTheProcessWhenThereIsNothingToRelease) {
  EXPECT_DEATH(receiver().Release(), "all 0 received messages were released");
}

}  // namespace
}  // namespace glaive::rdma
