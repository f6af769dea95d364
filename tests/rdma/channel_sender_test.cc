#include "rdma/channel/channel_sender.h"

#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/channel/slot_footer.h"
#include "tests/rdma/channel_pair.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

// A sender whose writes are kept, into a region that does not exist.
class ChannelSenderTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSlotBytes = 512;
  static constexpr std::uint32_t kCredits = 4;
  static constexpr std::uint64_t kRingOffset = 4096;

  explicit ChannelSenderTest(std::uint32_t signal_interval = 2)
      : segments_(SegmentPool::Create(kSlotBytes, 8).value()), sender_(Options(signal_interval), Endpoint()) {}

  static ChannelOptions Options(std::uint32_t signal_interval) {
    return {
        .slot_bytes = kSlotBytes, .credits = kCredits, .checksum_payload = true, .signal_interval = signal_interval};
  }

  SenderEndpoint Endpoint() {
    return {.self = kSource,
            .peer = kDestination,
            .queue_pair = &queue_pair_,
            .segments = &segments_,
            .segments_key = LocalKey{17},
            .region = {.address = 64, .size_bytes = 65536, .key = 9},
            .ring_offset = kRingOffset,
            .credit_word = reinterpret_cast<const std::byte*>(&credit_word_),
            .ring_token = 0xabcd,
            .channel = 6,
            .arrival = Arrival::kChecksum};
  }

  bool Send(std::uint32_t payload_bytes) { return SendPattern(segments_, sender_, payload_bytes); }

  CapturingQueuePair queue_pair_;
  alignas(64) std::uint64_t credit_word_ = 0;
  SegmentPool segments_;
  ChannelSender sender_;
};

TEST_F(ChannelSenderTest, WritesAMessageToTheEndOfItsSlot) {
  for (const std::uint32_t payload_bytes : {448U, 0U, 1U, 64U}) ASSERT_TRUE(Send(payload_bytes));
  const std::vector<std::uint32_t> lengths = {512, 64, 128, 128};
  ASSERT_EQ(queue_pair_.writes.size(), lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const WriteRequest& request = queue_pair_.writes[i].request;
    EXPECT_EQ(request.length, lengths[i]);
    EXPECT_EQ(request.remote_offset + request.length, kRingOffset + (i + 1) * kSlotBytes);
    EXPECT_EQ(request.local_key, LocalKey{17});
    EXPECT_EQ(request.remote.key, 9U);
    EXPECT_EQ(WriteId::Unpack(request.wr_id), (WriteId{.channel = 6, .number = i + 1}));
  }
}

TEST_F(ChannelSenderTest, PutsTheFooterRightBehindThePaddedPayload) {
  ASSERT_TRUE(Send(70));
  const CapturingQueuePair::Write& write = queue_pair_.writes.front();
  ASSERT_EQ(write.bytes.size(), 192U);
  EXPECT_TRUE(HasPattern(std::span(write.bytes).first(70), 1));
  SlotFooter footer;
  std::memcpy(&footer, write.bytes.data() + 128, sizeof(footer));
  EXPECT_EQ(footer.message_number, 1U);
  EXPECT_EQ(footer.payload_bytes, 70U);
  EXPECT_EQ(footer.ring_token, 0xabcdU);
  EXPECT_EQ(footer.tag, MessageTag::Of(std::uint64_t{1}));
  EXPECT_EQ(footer.lap, 1);
  EXPECT_EQ(footer.footer_checksum, FooterChecksum(footer));
  EXPECT_EQ(footer.payload_checksum, PayloadChecksum(std::span(write.bytes).first(70)));
}

TEST_F(ChannelSenderTest, SendsNoCopyButTheSegmentItself) {
  const SegmentId segment = segments_.TryAcquire().value();
  ASSERT_TRUE(sender_.TrySend(segment, 10, {}));
  EXPECT_EQ(queue_pair_.writes.front().request.local, segments_.Data(segment));
}

TEST_F(ChannelSenderTest, StopsWhenItsCreditsAreUsedUp) {
  for (std::uint32_t i = 0; i < kCredits; ++i) {
    EXPECT_EQ(sender_.credits(), kCredits - i);
    ASSERT_TRUE(Send(8));
  }
  EXPECT_EQ(sender_.credits(), 0U);
  EXPECT_FALSE(Send(8));
  EXPECT_FALSE(sender_.HasCredit());
  EXPECT_EQ(queue_pair_.writes.size(), kCredits);
  sender_.OnCompletion(4, WriteStatus::kDone);
  credit_word_ = 1;
  EXPECT_TRUE(sender_.HasCredit());
  EXPECT_TRUE(Send(8));
  EXPECT_FALSE(Send(8));
}

// A late byte of the write before may equal the one that lies there, so that its message counts as whole.
TEST_F(ChannelSenderTest, ASlotIsNotWrittenAgainBeforeItsLastWriteIsComplete) {
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(Send(8));
  credit_word_ = 2;
  ASSERT_TRUE(sender_.Poll().ok());
  EXPECT_EQ(sender_.credits(), 2U);
  EXPECT_EQ(sender_.in_flight(), kCredits) << "the device may send from the segments once more";
  EXPECT_FALSE(Send(8));
  sender_.OnCompletion(2, WriteStatus::kDone);
  EXPECT_EQ(sender_.in_flight(), 2U);
  EXPECT_TRUE(Send(8));
  EXPECT_TRUE(Send(8));
  EXPECT_FALSE(Send(8));
}

TEST_F(ChannelSenderTest, WhereACompletionSaysNothingOfThePeersMemoryConsumptionIsEnough) {
  SenderEndpoint endpoint = Endpoint();
  endpoint.completion_frees_segment = false;
  ChannelSender sender(Options(2), endpoint);
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(SendPattern(segments_, sender, 8));
  sender.OnCompletion(4, WriteStatus::kDone);
  EXPECT_EQ(sender.in_flight(), kCredits);
  credit_word_ = 2;
  EXPECT_TRUE(SendPattern(segments_, sender, 8));
  EXPECT_EQ(sender.in_flight(), 3U);
}

TEST_F(ChannelSenderTest, CountsStallsAndNotTheAttemptsOfAStall) {
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(Send(8));
  EXPECT_EQ(sender_.counters().credit_stalls, 0U);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Send(8));
  EXPECT_EQ(sender_.counters().credit_stalls, 1U);
  sender_.OnCompletion(4, WriteStatus::kDone);
  credit_word_ = 1;
  ASSERT_TRUE(Send(8));
  EXPECT_FALSE(Send(8));
  EXPECT_EQ(sender_.counters().credit_stalls, 2U);
  EXPECT_EQ(sender_.counters().messages, kCredits + 1);
  EXPECT_EQ(sender_.counters().payload_bytes, 8 * (kCredits + 1));
}

TEST_F(ChannelSenderTest, LeavesTheSegmentToTheCallerWhenTheSendQueueIsFull) {
  queue_pair_.full = true;
  const SegmentId segment = segments_.TryAcquire().value();
  EXPECT_FALSE(sender_.TrySend(segment, 10, {}));
  EXPECT_EQ(sender_.sent(), 0U);
  EXPECT_EQ(sender_.counters().queue_stalls, 1U);
  queue_pair_.full = false;
  EXPECT_TRUE(sender_.TrySend(segment, 10, {}));
  SlotFooter footer;
  std::memcpy(&footer, queue_pair_.writes.front().bytes.data() + 64, sizeof(footer));
  EXPECT_EQ(footer.message_number, 1U);
}

TEST_F(ChannelSenderTest, AsksForACompletionOfEachMessageThatIsPolled) {
  for (std::uint32_t i = 0; i < kCredits; ++i) {
    ASSERT_TRUE(Send(8));
    EXPECT_TRUE(queue_pair_.writes[i].request.signaled) << "or else its segment would never return";
  }
}

TEST_F(ChannelSenderTest, AsksForACompletionEverySoManyMessages) {
  SenderEndpoint endpoint = Endpoint();
  endpoint.arrival = Arrival::kImmediate;
  ChannelSender sender(Options(2), endpoint);
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(SendPattern(segments_, sender, 8));
  const std::vector<bool> signaled = {false, true, false, true};
  for (std::size_t i = 0; i < signaled.size(); ++i) {
    EXPECT_EQ(queue_pair_.writes[i].request.signaled, signaled[i]) << i;
  }
}

TEST_F(ChannelSenderTest, ACompletionReturnsTheSegmentsOfAllMessagesUpToIt) {
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(Send(8));
  EXPECT_EQ(segments_.available(), 5U);
  EXPECT_EQ(sender_.in_flight(), 3U);
  sender_.OnCompletion(2, WriteStatus::kDone);
  EXPECT_EQ(segments_.available(), 7U);
  EXPECT_EQ(sender_.in_flight(), 1U);
  EXPECT_EQ(sender_.credits(), 1U) << "a completion is no credit";
}

TEST_F(ChannelSenderTest, ConsumptionReturnsSegmentsWhoseCompletionWasNotAskedFor) {
  SenderEndpoint endpoint = Endpoint();
  endpoint.arrival = Arrival::kImmediate;
  ChannelSender sender(Options(2), endpoint);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(SendPattern(segments_, sender, 8));
  sender.OnCredit(3);
  ASSERT_TRUE(sender.Poll().ok());
  EXPECT_EQ(segments_.available(), 8U);
  EXPECT_EQ(sender.in_flight(), 0U);
  sender.OnCompletion(2, WriteStatus::kDone);
  EXPECT_EQ(segments_.available(), 8U) << "nothing comes back twice";
}

TEST_F(ChannelSenderTest, RefusesCreditsForMessagesItNeverSent) {
  ASSERT_TRUE(Send(8));
  credit_word_ = 2;
  const absl::Status status = sender_.Poll();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("from executor 3 to executor 5"));
  EXPECT_THAT(status.message(), HasSubstr("2 messages were consumed; expected 0 to 1 (I1)"));
  EXPECT_EQ(sender_.consumed(), 0U);
}

TEST_F(ChannelSenderTest, RefusesCreditsThatGoBack) {
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(Send(8));
  credit_word_ = 3;
  ASSERT_TRUE(sender_.Poll().ok());
  credit_word_ = 2;
  EXPECT_THAT(sender_.Poll().message(), HasSubstr("2 messages were consumed; expected 3 to 3 (I1)"));
}

TEST_F(ChannelSenderTest, WhereCreditsMayBeLateACountThatGoesBackIsPassedOverAndAnImpossibleOneRefused) {
  SenderEndpoint endpoint = Endpoint();
  endpoint.credits_may_be_late = true;
  ChannelSender sender(Options(2), endpoint);
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(SendPattern(segments_, sender, 8));
  sender.OnCompletion(kCredits, WriteStatus::kDone);
  credit_word_ = 3;
  ASSERT_TRUE(sender.Poll().ok());
  credit_word_ = 2;
  EXPECT_TRUE(sender.Poll().ok());
  EXPECT_EQ(sender.consumed(), 3U);
  EXPECT_EQ(sender.credits(), 3U);
  credit_word_ = kCredits + 1;
  EXPECT_THAT(sender.Poll().message(), HasSubstr("5 messages were consumed; expected 3 to 4 (I1)"));
}

TEST_F(ChannelSenderTest, StaysFailedAndSendsNothingMore) {
  for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(Send(8));
  credit_word_ = ~std::uint64_t{0};
  EXPECT_FALSE(Send(8));
  credit_word_ = 4;
  EXPECT_FALSE(sender_.Poll().ok());
  EXPECT_FALSE(Send(8));
  EXPECT_EQ(sender_.credits(), 0U);
}

TEST_F(ChannelSenderTest, FailsWhenAWriteFails) {
  for (std::uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(Send(8));
  sender_.OnCompletion(2, WriteStatus::kPeerUnreachable);
  const absl::Status status = sender_.Poll();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("executor 5: message 2: peer unreachable"));
  EXPECT_FALSE(Send(8));
}

TEST_F(ChannelSenderTest, FailsWhenAWriteOfCreditsToItsPeerFails) {
  sender_.OnCompletion(WriteId::kCredit, WriteStatus::kRefused);
  EXPECT_THAT(sender_.Poll().message(), HasSubstr("executor 5: credits: refused by the peer"));
}

TEST_F(ChannelSenderTest, SendsNoChecksumWhereItIsOff) {
  ChannelOptions options = Options(1);
  options.checksum_payload = false;
  ChannelSender sender(options, Endpoint());
  ASSERT_TRUE(SendPattern(segments_, sender, 100));
  SlotFooter footer;
  std::memcpy(&footer, queue_pair_.writes.front().bytes.data() + 128, sizeof(footer));
  EXPECT_EQ(footer.payload_checksum, 0U);
}

using ChannelSenderDeathTest = ChannelSenderTest;

TEST_F(ChannelSenderDeathTest, EndsTheProcessOnAPayloadThatNoSlotHolds) {
  const SegmentId segment = segments_.TryAcquire().value();
  EXPECT_DEATH(static_cast<void>(sender_.TrySend(segment, 449, {})), "message of 449 bytes to executor 5");
}

TEST_F(ChannelSenderDeathTest, EndsTheProcessOnACompletionOfAMessageItNeverSent) {
  EXPECT_DEATH(sender_.OnCompletion(1, WriteStatus::kDone), "completion of message 1 to executor 5 of 0");
}

}  // namespace
}  // namespace glaive::rdma
