// Channels whose complete writes may not be in place yet, as over iWARP and with relaxed ordering: a message is copied
// before it is checked, and the last count of credits is written again.

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rdma/arrival_fixture.h"

namespace glaive::rdma {
namespace {

class CopiedArrival : public ChannelArrivalTest {
 protected:
  CopiedArrival() : ChannelArrivalTest(Arrival::kChecksum, /*may_be_late=*/true) {}

  // The receiver has returned the credits of two messages and then those of four, in two writes, both of them complete.
  void ReturnCreditsTwice() {
    Exchange(2);
    receiver_.OnCreditCompletion();
    Exchange(2);
    receiver_.OnCreditCompletion();
    ASSERT_EQ(to_sender_.writes.size(), 2U);
  }

  // The milliseconds, out of so many that go by from now on, in which the receiver writes its last count again.
  std::vector<std::int64_t> RepeatsWithin(std::int64_t milliseconds) {
    std::vector<std::int64_t> repeats;
    for (std::int64_t passed = 1; passed <= milliseconds; ++passed) {
      clock_.Advance(absl::Milliseconds(1));
      const std::size_t before = to_sender_.writes.size();
      receiver_.RepeatCredits(clock_.NowNanos());
      receiver_.OnCreditCompletion();
      if (to_sender_.writes.size() > before) repeats.push_back(passed);
    }
    return repeats;
  }
};

// A segment that iWARP sends again may be placed once more in a slot whose next message was received.
TEST_F(CopiedArrival, LateBytesOfTheSlotsLastUseChangeNothingInAReceivedMessage) {
  std::vector<CapturingQueuePair::Write> writes;
  for (std::uint32_t message = 0; message <= kArrivalOptions.credits; ++message) {
    if (message == kArrivalOptions.credits) {
      ASSERT_TRUE(receiver_.FlushCredits());
      std::memcpy(&credit_word_, to_sender_.writes.back().bytes.data(), sizeof(credit_word_));
      for (std::uint64_t sent = 1; sent <= message; ++sent) sender_.OnCompletion(sent, WriteStatus::kDone);
      ASSERT_TRUE(sender_.Poll().ok());
    }
    writes.push_back(Send());
    PlaceAll(writes.back());
    const std::optional<Message> received = receiver_.TryReceive().value();
    ASSERT_TRUE(received.has_value());
    if (message == kArrivalOptions.credits) {
      ASSERT_EQ(writes.back().request.remote_offset, writes.front().request.remote_offset) << "of the same slot";
      PlaceAll(writes.front());
    }
    EXPECT_TRUE(HasPattern(received->payload, received->number)) << received->number;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(received->payload.data()) % 64, 0U);
    receiver_.Release();
    receiver_.OnCreditCompletion();
  }
}

TEST_F(CopiedArrival, AMessageWhoseBytesAreNotAllThereIsCopiedAgain) {
  const CapturingQueuePair::Write write = Send();
  Place(write, write.bytes.size() - 1);
  ExpectNothing();
  PlaceAll(write);
  ExpectMessage();
}

TEST_F(CopiedArrival, AnOlderCountOfCreditsThatComesLastTakesNothingBack) {
  ReturnCreditsTwice();
  sender_.OnCompletion(4, WriteStatus::kDone);
  PlaceCount(0);
  ASSERT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.consumed(), 4U);
  PlaceCount(1);
  EXPECT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.consumed(), 4U);
  EXPECT_EQ(sender_.credits(), kArrivalOptions.credits);
  EXPECT_TRUE(SendPattern(segments_, sender_, kPayloadBytes));
}

// The sender has not seen the newer count in between, and has no credit to send anything that would bring another one.
TEST_F(CopiedArrival, ACountThatAnOlderOneHasOverwrittenIsWrittenAgain) {
  ReturnCreditsTwice();
  PlaceCount(1);
  ASSERT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.consumed(), 2U);
  EXPECT_TRUE(receiver_.FlushCredits()) << "nothing is held back";
  EXPECT_EQ(to_sender_.writes.size(), 2U);
  clock_.Advance(absl::Nanoseconds(ChannelReceiver::kFirstRepeatNanos - 1));
  receiver_.RepeatCredits(clock_.NowNanos());
  EXPECT_EQ(to_sender_.writes.size(), 2U);
  clock_.Advance(absl::Nanoseconds(1));
  receiver_.RepeatCredits(clock_.NowNanos());
  ASSERT_EQ(to_sender_.writes.size(), 3U);
  EXPECT_TRUE(to_sender_.writes.back().request.signaled) << "the next write of credits waits for this one";
  EXPECT_EQ(receiver_.counters().credit_writes, 3U);
  PlaceCount(0);
  ASSERT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.consumed(), 4U);
}

// Older counts are in place when the last repeat is written. There are few repeats.
TEST_F(CopiedArrival, ACountIsRepeatedEverMoreRarelyForAsLongAsMessagesMayBeLate) {
  constexpr std::int64_t kPatienceMs = ChannelReceiver::kPlacementPatienceNanos / 1'000'000;
  ReturnCreditsTwice();
  EXPECT_THAT(RepeatsWithin(3 * kPatienceMs),
              testing::ElementsAre(10, 20, 40, 80, 160, 320, 640, 1'280, 2'560, 5'120, 10'240));
  EXPECT_GE(10'240, kPatienceMs);
}

TEST_F(CopiedArrival, ANewerCountIsRepeatedInPlaceOfTheOneBefore) {
  Exchange(2);
  receiver_.OnCreditCompletion();
  EXPECT_THAT(RepeatsWithin(50), testing::ElementsAre(10, 20, 40));
  Exchange(2);
  receiver_.OnCreditCompletion();
  EXPECT_THAT(RepeatsWithin(50), testing::ElementsAre(10, 20, 40));
  PlaceCount(0);
  EXPECT_EQ(credit_word_, 4U);
}

TEST_F(CopiedArrival, ARepeatWaitsForTheWriteBeforeAndForRoomInTheSendQueue) {
  Exchange(2);
  clock_.Advance(absl::Seconds(1));
  receiver_.RepeatCredits(clock_.NowNanos());
  EXPECT_EQ(to_sender_.writes.size(), 1U) << "the first write is under way";
  receiver_.OnCreditCompletion();
  to_sender_.full = true;
  receiver_.RepeatCredits(clock_.NowNanos());
  EXPECT_EQ(to_sender_.writes.size(), 1U);
  to_sender_.full = false;
  receiver_.RepeatCredits(clock_.NowNanos());
  EXPECT_EQ(to_sender_.writes.size(), 2U);
}

TEST_F(CopiedArrival, CreditsThatAreHeldBackGoWithARepeat) {
  Exchange(2);
  receiver_.OnCreditCompletion();
  Exchange(1);
  EXPECT_EQ(to_sender_.writes.size(), 1U);
  clock_.Advance(absl::Nanoseconds(ChannelReceiver::kFirstRepeatNanos));
  receiver_.RepeatCredits(clock_.NowNanos());
  ASSERT_EQ(to_sender_.writes.size(), 2U);
  PlaceCount(0);
  EXPECT_EQ(credit_word_, 3U);
  receiver_.OnCreditCompletion();
  EXPECT_THAT(RepeatsWithin(15), testing::ElementsAre(10)) << "a new count";
}

TEST_F(CopiedArrival, OneMessageIsHeldAtATime) {
  PlaceAll(Send());
  PlaceAll(Send());
  ExpectMessage();
  EXPECT_DEATH((void)receiver_.TryReceive(), "the copy of another message is held");
  receiver_.Release();
  ExpectMessage();
}

}  // namespace
}  // namespace glaive::rdma
