// Channels over transports that place bytes in any order: messages are noticed by immediate values or by checksums, and
// credits come back in order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rdma/transport/immediate.h"
#include "tests/rdma/arrival_fixture.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

class ImmediateArrival : public ChannelArrivalTest {
 protected:
  ImmediateArrival() : ChannelArrivalTest(Arrival::kImmediate) {}
};

TEST_F(ImmediateArrival, AMessageIsSentWithItsSlot) {
  for (const std::uint32_t slot : {0U, 1U, 2U, 3U}) {
    EXPECT_EQ(Send().request.immediate, Immediate::OfMessage(kSource, slot).Pack());
  }
}

TEST_F(ImmediateArrival, AMessageIsNotSeenBeforeItsImmediateValue) {
  const CapturingQueuePair::Write write = Send();
  PlaceAll(write);
  EXPECT_FALSE(receiver_.Ready());
  ExpectNothing();
  receiver_.OnArrival(0);
  EXPECT_TRUE(receiver_.Ready());
  ExpectMessage();
  EXPECT_FALSE(receiver_.Ready());
}

TEST_F(ImmediateArrival, ASlotThatIsNotTheNextIsRefusedForEver) {
  PlaceAll(Send());
  receiver_.OnArrival(1);
  const absl::Status status = receiver_.TryReceive().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("message 1 is refused: slot 1, expected 0"));
  receiver_.OnArrival(0);
  EXPECT_EQ(receiver_.TryReceive().status(), status);
}

TEST_F(ImmediateArrival, AnImmediateValueWithoutCreditIsRefusedAtOnce) {
  for (std::uint32_t slot = 0; slot < kArrivalOptions.credits; ++slot) receiver_.OnArrival(slot);
  receiver_.OnArrival(0);
  EXPECT_THAT(receiver_.TryReceive().status().message(),
              HasSubstr("message 5 is refused: it was sent without credit: 0 slots were given back of 4"));
}

TEST_F(ImmediateArrival, AnImmediateValueWithoutAMessageIsRefused) {
  receiver_.OnArrival(0);
  EXPECT_THAT(receiver_.TryReceive().status().message(), HasSubstr("footer checksum"));
}

TEST_F(ImmediateArrival, CreditsAreImmediateValuesWithoutBytes) {
  for (std::uint32_t slot = 0; slot < kArrivalOptions.credits; ++slot) {
    PlaceAll(Send());
    receiver_.OnArrival(slot);
    ExpectMessage();
  }
  EXPECT_FALSE(sender_.HasCredit());
  receiver_.Release();
  receiver_.Release();
  ASSERT_EQ(to_sender_.writes.size(), 1U);
  EXPECT_EQ(to_sender_.writes[0].request.length, 0U);
  EXPECT_EQ(to_sender_.writes[0].request.immediate, Immediate::OfCredit(kDestination, 2).Pack());
  sender_.OnCredit(2);
  EXPECT_EQ(sender_.credits(), 2U);
  EXPECT_TRUE(sender_.Poll().ok());
}

TEST_F(ImmediateArrival, TheCreditWordIsNotRead) {
  (void)Send();
  credit_word_ = 1;
  EXPECT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.consumed(), 0U);
}

TEST_F(ImmediateArrival, CreditsForMessagesThatWereNeverSentAreRefused) {
  (void)Send();
  sender_.OnCredit(3);
  EXPECT_THAT(sender_.Poll().message(), HasSubstr("3 messages were consumed; expected 0 to 1 (I1)"));
  sender_.OnCredit(1);
  EXPECT_EQ(sender_.consumed(), 0U) << "it stays failed";
}

TEST_F(ImmediateArrival, CountsGoOnPastTheBitsOfAnImmediateValue) {
  constexpr std::uint64_t kMessages = 5'000;
  for (std::uint64_t number = 1; number <= kMessages; ++number) {
    PlaceAll(Send());
    receiver_.OnArrival(static_cast<std::uint32_t>((number - 1) % kArrivalOptions.credits));
    ExpectMessage();
    receiver_.Release();
    ASSERT_TRUE(receiver_.FlushCredits());
    sender_.OnCredit(Immediate::Unpack(*to_sender_.writes.back().request.immediate).number);
    ASSERT_EQ(sender_.consumed(), number);
  }
  EXPECT_TRUE(sender_.Poll().ok());
}

class ChecksumArrival : public ChannelArrivalTest {
 protected:
  ChecksumArrival() : ChannelArrivalTest(Arrival::kChecksum) {}

  // The receiver's write of credits takes effect, and is complete.
  void ReturnCredits() {
    receiver_.Release();
    ASSERT_TRUE(receiver_.FlushCredits());
    std::memcpy(&credit_word_, to_sender_.writes.back().bytes.data(), sizeof(credit_word_));
    receiver_.OnCreditCompletion();
    sender_.OnCompletion(sender_.sent(), WriteStatus::kDone);
    ASSERT_TRUE(sender_.Poll().ok());
  }
};

TEST_F(ChecksumArrival, AMessageIsSeenWhenAllItsBytesAreThereInWhateverOrderTheyCame) {
  std::mt19937 random(31);
  std::vector<std::size_t> order(kArrivalOptions.slot_bytes);
  std::iota(order.begin(), order.end(), 0);
  std::uint64_t waits = 0;
  for (std::uint32_t message = 0; message < 3 * kArrivalOptions.credits; ++message) {
    const CapturingQueuePair::Write write = Send();
    ASSERT_EQ(write.request.immediate, std::nullopt);
    std::ranges::shuffle(order, random);
    std::size_t placed = 0;
    for (const std::size_t byte : order) {
      // A byte may be the same as the one that it replaces. So the last bytes decide nothing, but nothing is wrong.
      const std::optional<Message> early = receiver_.TryReceive().value();
      if (early.has_value()) {
        ASSERT_TRUE(HasPattern(early->payload, early->number)) << placed << " bytes placed";
        break;
      }
      Place(write, byte);
      ++placed;
    }
    PlaceAll(write);
    if (receiver_.received() == message) ExpectMessage();
    waits += placed < kArrivalOptions.slot_bytes ? 0 : 1;
    ReturnCredits();
  }
  EXPECT_GT(waits, 0U);
  EXPECT_GT(receiver_.counters().placement_waits, kArrivalOptions.credits)
      << "the last byte mostly comes before others";
  EXPECT_LE(receiver_.counters().placement_waits, 3 * kArrivalOptions.credits) << "once a message";
}

TEST_F(ChecksumArrival, AMessageThatStaysDamagedIsRefusedAfterAWhile) {
  const CapturingQueuePair::Write write = Send();
  PlaceAll(write);
  ring_.bytes[write.request.remote_offset] ^= std::byte{1};
  ExpectNothing();
  clock_.Advance(absl::Nanoseconds(ChannelReceiver::kPlacementPatienceNanos - 1));
  EXPECT_TRUE(receiver_.Ready());
  ExpectNothing();
  clock_.Advance(absl::Nanoseconds(1));
  const absl::Status status = receiver_.TryReceive().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("payload checksum"));
  EXPECT_THAT(status.message(), HasSubstr("10 s after its last byte"));
  EXPECT_THAT(status.message(), HasSubstr("--arrival=imm"));
}

TEST_F(ChecksumArrival, EachMessageHasPatienceOfItsOwn) {
  for (std::uint32_t message = 0; message < 2; ++message) {
    const CapturingQueuePair::Write write = Send();
    Place(write, write.bytes.size() - 1);
    ExpectNothing();
    clock_.Advance(absl::Nanoseconds(ChannelReceiver::kPlacementPatienceNanos - 1));
    PlaceAll(write);
    ExpectMessage();
    ReturnCredits();
  }
}

// Two writes of one word could be placed in the other order, and the older count would stay.
TEST_F(ChecksumArrival, OneWriteOfCreditsIsUnderWayAtATime) {
  for (std::uint32_t message = 0; message < kArrivalOptions.credits; ++message) {
    PlaceAll(Send());
    ExpectMessage();
  }
  receiver_.Release();
  receiver_.Release();
  ASSERT_EQ(to_sender_.writes.size(), 1U);
  EXPECT_TRUE(to_sender_.writes[0].request.signaled);
  receiver_.Release();
  receiver_.Release();
  EXPECT_FALSE(receiver_.FlushCredits());
  EXPECT_EQ(to_sender_.writes.size(), 1U);
  receiver_.OnCreditCompletion();
  EXPECT_TRUE(receiver_.FlushCredits());
  ASSERT_EQ(to_sender_.writes.size(), 2U);
  std::uint64_t consumed = 0;
  std::memcpy(&consumed, to_sender_.writes[1].bytes.data(), sizeof(consumed));
  EXPECT_EQ(consumed, 4U);
}

TEST_F(ChecksumArrival, NoCountIsRepeatedWhereACompleteWriteIsInPlace) {
  Exchange(2);
  receiver_.OnCreditCompletion();
  clock_.Advance(absl::Seconds(1));
  receiver_.RepeatCredits(clock_.NowNanos());
  EXPECT_EQ(to_sender_.writes.size(), 1U);
}

}  // namespace
}  // namespace glaive::rdma
