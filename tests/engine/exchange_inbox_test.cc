// ExchangeInbox and ExchangeSender: what they keep, when they wait, and what they refuse of a peer.

#include "engine/exchange/exchange_inbox.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/exchange/exchange_sender.h"
#include "engine/fiber/scheduler.h"
#include "rdma/base/steady_clock.h"
#include "rdma/mesh/executor_mesh.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

constexpr ExecutorId kSelf{0};
constexpr ExecutorId kPeer{1};
constexpr std::uint32_t kCredits = 4;
constexpr std::uint32_t kInput = 3;

using TimedNumber = TimedRecord<std::uint64_t>;

/// A message of records as a channel hands it out.
class RecordsMessage {
 public:
  explicit RecordsMessage(const std::vector<std::uint64_t>& numbers) {
    header.executor = Value(kPeer);
    tag = {.kind = ExchangeKind::kRecords, .record_count = static_cast<std::uint32_t>(numbers.size()), .input = kInput};
    for (const std::uint64_t number : numbers) records.push_back({.event_time_ms = 0, .record = number});
  }

  rdma::Message Make() {
    payload.resize(sizeof(header) + records.size() * sizeof(TimedNumber));
    std::memcpy(payload.data(), &header, sizeof(header));
    std::ranges::copy(std::as_bytes(std::span(records)), payload.begin() + sizeof(header));
    return {.payload = payload, .tag = rdma::MessageTag::Of(tag), .number = 1};
  }

  ExchangeHeader header;
  ExchangeTag tag;
  std::vector<TimedNumber> records;
  std::vector<std::byte> payload;
};

rdma::Message Grant(ExchangeKind kind, std::uint32_t granted) {
  return {.payload = {},
          .tag = rdma::MessageTag::Of(ExchangeTag{.kind = kind, .granted = granted, .input = kInput}),
          .number = 1};
}

/// Both ends of an exchange on executor 0 of 2. What it sends goes over `local`, and nobody takes it.
class ExchangeEnds : public ::testing::Test {
 protected:
  ExchangeEnds() {
    std::vector<rdma::MeshDescriptor> descriptors;
    for (std::uint32_t self = 0; self < 2; ++self) {
      meshes_.push_back(rdma::ExecutorMesh::Prepare({.self = ExecutorId{self},
                                                     .executors_per_node = 2,
                                                     .executor_count = 2,
                                                     .channel = {.slot_bytes = 256, .credits = 8},
                                                     .run_token = 1},
                                                    16)
                            .value());
      descriptors.push_back(meshes_.back()->descriptor());
    }
    for (const auto& mesh : meshes_) EXPECT_TRUE(mesh->Connect(descriptors).ok());
    context_.self = kSelf;
    context_.executor_count = 2;
    context_.roles = Roles(2);
    context_.exchange_credits = kCredits;
    context_.clock = &clock_;
    context_.mesh = meshes_[0].get();
    shipper_.emplace(context_, 1);
    inbox_.emplace(context_, *shipper_, Options());
    sender_.emplace(context_, *shipper_, *inbox_, Options());
  }

  static ExchangeInbox::Options Options() { return {.input = kInput, .record_bytes = sizeof(TimedNumber)}; }

  std::string Refused(RecordsMessage& message) { return std::string(inbox_->Receive(kPeer, message.Make()).message()); }
  /// Runs a fiber for some rounds; whether it has ended.
  bool Ends(const std::function<void(Fiber&)>& body) {
    EXPECT_TRUE(scheduler_.Spawn("exchange", FiberKind::kCompute, body).ok());
    for (int round = 0; round < 10 && !scheduler_.done(); ++round) scheduler_.RunRound();
    return scheduler_.done();
  }
  std::vector<std::uint64_t> Front(ExecutorId sender) const {
    const ExchangeMessage message = inbox_->Front(sender);
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < message.records.size(); i += sizeof(TimedNumber)) {
      TimedNumber number;
      std::memcpy(&number, message.records.data() + i, sizeof(number));
      numbers.push_back(number.record);
    }
    return numbers;
  }

  SteadyClock clock_;
  std::vector<std::unique_ptr<rdma::ExecutorMesh>> meshes_;
  TaskContext context_;
  std::optional<Shipper> shipper_;
  std::optional<ExchangeInbox> inbox_;
  std::optional<ExchangeSender> sender_;
  Scheduler scheduler_{SchedulerOptions{}};
};

TEST_F(ExchangeEnds, KeepMessagesOfASenderInOrder) {
  for (const std::uint64_t number : {7, 8, 9}) {
    RecordsMessage message({number, number + 100});
    ASSERT_EQ(Refused(message), "");
  }
  EXPECT_EQ(inbox_->messages(), 3U);
  EXPECT_FALSE(inbox_->HasMessage(kSelf));
  EXPECT_TRUE(Ends([&](Fiber& fiber) {
    for (const std::uint64_t number : {7, 8, 9}) {
      EXPECT_EQ(Front(kPeer), (std::vector<std::uint64_t>{number, number + 100}));
      inbox_->Pop(fiber, kPeer);
    }
  }));
  EXPECT_FALSE(inbox_->HasMessage(kPeer));
}

TEST_F(ExchangeEnds, GiveCreditBackAfterHalfOfIt) {
  for (std::uint64_t number = 0; number < kCredits; ++number) {
    RecordsMessage message({number});
    ASSERT_EQ(Refused(message), "");
  }
  EXPECT_TRUE(Ends([&](Fiber& fiber) { inbox_->Pop(fiber, kPeer); }));
  EXPECT_EQ(shipper_->outbox().pending(), 0U);
  EXPECT_TRUE(Ends([&](Fiber& fiber) { inbox_->Pop(fiber, kPeer); }));
  EXPECT_EQ(shipper_->outbox().pending(), 1U);
}

TEST_F(ExchangeEnds, TellASenderThatItsEndWasTaken) {
  RecordsMessage message({});
  message.header.state = FlowState::kEnded;
  ASSERT_EQ(Refused(message), "");
  EXPECT_TRUE(inbox_->has_ended(kPeer));
  EXPECT_TRUE(Ends([&](Fiber& fiber) { inbox_->Pop(fiber, kPeer); }));
  EXPECT_EQ(shipper_->outbox().pending(), 1U);
}

TEST_F(ExchangeEnds, RefuseMoreThanTheyGaveCreditFor) {
  for (std::uint64_t number = 0; number < kCredits; ++number) {
    RecordsMessage message({number});
    ASSERT_EQ(Refused(message), "");
  }
  RecordsMessage message({9});
  EXPECT_EQ(Refused(message),
            "executor 0 refuses records of executor 1 for exchange 3: it has sent 5 messages, and may send 4");
  // A place that is free again is the sender's only once it has been told.
  EXPECT_TRUE(Ends([&](Fiber& fiber) { inbox_->Pop(fiber, kPeer); }));
  EXPECT_THAT(Refused(message), HasSubstr("it has sent 5 messages, and may send 4"));
}

TEST_F(ExchangeEnds, RefuseMessagesThatContradictThemselves) {
  RecordsMessage short_one({1, 2});
  short_one.records.pop_back();
  EXPECT_THAT(Refused(short_one), HasSubstr("a payload of 80 bytes does not match 2 records of 16 bytes"));
  RecordsMessage foreign({1});
  foreign.header.executor = 7;
  EXPECT_THAT(Refused(foreign), HasSubstr("its header speaks of executor 7"));
  RecordsMessage unordered({1});
  unordered.header.in_order = 2;
  EXPECT_THAT(Refused(unordered), HasSubstr("order 2"));
  RecordsMessage strange({1});
  strange.header.state = FlowState{3};
  EXPECT_THAT(Refused(strange), HasSubstr("state 3"));
  RecordsMessage endless({1});
  endless.header.watermark_ms = kMaxEventTimeMs;
  EXPECT_THAT(Refused(endless), HasSubstr("a watermark of the end of the stream"));
  RecordsMessage shifted({1});
  shifted.header.event_time_shift_ms = 5;
  EXPECT_THAT(Refused(shifted), HasSubstr("event times that are to be shifted by 5 ms"));
  RecordsMessage later_version({1});
  later_version.header.more_reserved[1] = 1;
  EXPECT_THAT(Refused(later_version), HasSubstr("reserved bytes that are not zero"));
  EXPECT_EQ(inbox_->messages(), 0U);
}

TEST_F(ExchangeEnds, RefuseRecordsBehindTheEnd) {
  RecordsMessage message({});
  message.header.state = FlowState::kEnded;
  ASSERT_EQ(Refused(message), "");
  EXPECT_THAT(Refused(message), HasSubstr("its stream has ended"));
}

TEST_F(ExchangeEnds, WaitForCreditWhenAllOfItIsUsed) {
  // 240 - 64 - 64 bytes of a slot are room for 8 records or less.
  EXPECT_FALSE(Ends([&](Fiber& fiber) {
    for (std::uint64_t number = 0; number < 1'000; ++number) {
      sender_->Append(fiber, kPeer, /*event_time_ms=*/0, number);
    }
  }));
  EXPECT_EQ(shipper_->outbox().pending(), kCredits);
  EXPECT_EQ(sender_->waits(), 1U);
  EXPECT_TRUE(sender_->OnGrant(kPeer, Grant(ExchangeKind::kGrant, 3)).ok());
  for (int round = 0; round < 10; ++round) scheduler_.RunRound();
  EXPECT_EQ(shipper_->outbox().pending(), kCredits + 3);
  scheduler_.Cancel();
}

TEST_F(ExchangeEnds, WaitForTheirOwnConsumerAsForAnother) {
  std::vector<std::uint64_t> taken;
  EXPECT_FALSE(Ends([&](Fiber& fiber) {
    for (std::uint64_t number = 0; number < 200; ++number) {
      sender_->Append(fiber, kSelf, /*event_time_ms=*/0, number);
    }
    sender_->End(fiber);
  }));
  EXPECT_EQ(inbox_->messages(), kCredits);
  ASSERT_TRUE(scheduler_
                  .Spawn("reader", FiberKind::kCompute,
                         [&](Fiber& fiber) {
                           while (!inbox_->has_ended(kSelf) || inbox_->HasMessage(kSelf)) {
                             fiber.WaitUntil([&] { return inbox_->HasMessage(kSelf); });
                             const std::vector<std::uint64_t> some = Front(kSelf);
                             taken.insert(taken.end(), some.begin(), some.end());
                             inbox_->Pop(fiber, kSelf);
                           }
                         })
                  .ok());
  for (int round = 0; round < 1'000 && !scheduler_.done(); ++round) scheduler_.RunRound();
  EXPECT_TRUE(scheduler_.done());
  ASSERT_EQ(taken.size(), 200U);
  for (std::uint64_t number = 0; number < 200; ++number) EXPECT_EQ(taken[number], number);
}

TEST_F(ExchangeEnds, SayWhetherTheRecordsOfAMessageAreInOrder) {
  const auto in_order = [&](const std::vector<std::int64_t>& times_ms) {
    bool result = false;
    EXPECT_TRUE(Ends([&](Fiber& fiber) {
      for (const std::int64_t time_ms : times_ms) sender_->Append(fiber, kSelf, time_ms, std::uint64_t{7});
      sender_->Attend(clock_.NowNanos());
      const ExchangeMessage message = inbox_->Front(kSelf);
      EXPECT_EQ(message.records.size(), times_ms.size() * sizeof(TimedNumber));
      result = message.header.in_order == 1;
      inbox_->Pop(fiber, kSelf);
    }));
    return result;
  };
  EXPECT_TRUE(in_order({1, 3, 3}));
  EXPECT_FALSE(in_order({5, 4}));
  EXPECT_TRUE(in_order({2, 6}));  // it begins before the last message's end
  EXPECT_FALSE(in_order({6, 5, 7}));
}

TEST_F(ExchangeEnds, SendWholeRecordsWithWhatIsToBeAddedToTheirTimes) {
  std::vector<TimedNumber> records;
  for (std::uint64_t number = 0; number < 20; ++number) records.push_back({.event_time_ms = 0, .record = number});
  std::vector<std::uint64_t> taken;
  std::vector<bool> in_order;
  const auto send = [&](Fiber& fiber, std::size_t count, const ExchangeSender::Order& order) {
    sender_->AppendAll(fiber, kSelf, std::span<const TimedNumber>(records).first(count), order);
  };
  const auto take = [&](Fiber& fiber) {
    for (sender_->Cut(fiber, kSelf); inbox_->HasMessage(kSelf); inbox_->Pop(fiber, kSelf)) {
      const ExchangeMessage message = inbox_->Front(kSelf);
      EXPECT_EQ(message.header.event_time_shift_ms, 100);
      EXPECT_EQ(message.header.read_ns, 5);
      in_order.push_back(message.header.in_order == 1);
      const std::vector<std::uint64_t> some = Front(kSelf);
      taken.insert(taken.end(), some.begin(), some.end());
    }
  };
  EXPECT_TRUE(Ends([&](Fiber& fiber) {
    sender_->BeginBatch(/*read_ns=*/5, /*event_time_shift_ms=*/100);
    send(fiber, 2, {.in_order = true, .goes_on = true});
    send(fiber, 1, {.in_order = true, .goes_on = true});
    take(fiber);
    EXPECT_EQ(taken, (std::vector<std::uint64_t>{0, 1, 0}));
    EXPECT_EQ(in_order, (std::vector<bool>{true}));
    send(fiber, 1, {.in_order = true, .goes_on = true});
    send(fiber, 1, {.in_order = true, .goes_on = false});
    take(fiber);
    EXPECT_EQ(in_order, (std::vector<bool>{true, false})) << "the second batch begins before the first one's end";
    taken.clear();
    in_order.clear();
    send(fiber, 20, {.in_order = false, .goes_on = false});
    take(fiber);
    EXPECT_EQ(taken.size(), 20U);
    EXPECT_EQ(in_order, (std::vector<bool>{false, false, false})) << "of each message, although only one batch fell";
    send(fiber, 1, {.in_order = true, .goes_on = false});
    take(fiber);
    EXPECT_TRUE(in_order.back());
  }));
  for (std::uint64_t number = 0; number < 20; ++number) EXPECT_EQ(taken[number], number);
}

TEST_F(ExchangeEnds, TellTheWatermarkBeforeOtherRecordsIfAsked) {
  ExchangeSender sender(context_, *shipper_, Options(), kPeer);
  EXPECT_TRUE(Ends([&](Fiber& fiber) {
    sender.OnWatermark({.time_ms = 50, .read_ns = 1});
    EXPECT_FALSE(sender.has_told_watermark(kPeer));
    sender.Cut(fiber, kPeer);
    EXPECT_EQ(shipper_->outbox().pending(), 0U) << "there are no records";
    sender.Tell(fiber, kPeer);
    sender.Tell(fiber, kPeer);
  }));
  EXPECT_TRUE(sender.has_told_watermark(kPeer));
  EXPECT_EQ(shipper_->outbox().pending(), 1U);
}

TEST_F(ExchangeEnds, SendToOneExecutorAlone) {
  ExchangeSender sender(context_, *shipper_, Options(), kPeer);
  EXPECT_TRUE(sender.is_done(kSelf));
  const std::vector<TimedNumber> records(3);
  EXPECT_TRUE(Ends([&](Fiber& fiber) {
    sender.AppendAll(fiber, kPeer, std::span(records), {.in_order = true, .goes_on = true});
    sender.OnWatermark({.time_ms = 50, .read_ns = 1});
    sender.End(fiber);
  }));
  EXPECT_EQ(shipper_->outbox().pending(), 1U);
  EXPECT_EQ(sender.sent_records(), 3U);
  EXPECT_FALSE(sender.is_done(kPeer));
  EXPECT_TRUE(sender.OnGrant(kPeer, Grant(ExchangeKind::kLastGrant, 1)).ok());
  EXPECT_TRUE(sender.is_done(kPeer));
  EXPECT_THAT(sender.OnGrant(kPeer, Grant(ExchangeKind::kRecords, 0)).message(), HasSubstr("refuses a grant"));
}

TEST_F(ExchangeEnds, TellTheWatermarkOnceWhenItIsDue) {
  sender_->OnWatermark({.time_ms = 50, .read_ns = 1});
  EXPECT_TRUE(sender_->WantsTurn(1));
  sender_->Attend(1);
  EXPECT_EQ(shipper_->outbox().pending(), 1U);
  EXPECT_EQ(inbox_->Front(kSelf).header.watermark_ms, 50);
  EXPECT_FALSE(sender_->WantsTurn(1'000'000'000)) << "nothing is new";
  sender_->OnWatermark({.time_ms = 60, .read_ns = 2});
  EXPECT_FALSE(sender_->WantsTurn(2)) << "not due";
  sender_->Hurry();
  EXPECT_TRUE(sender_->WantsTurn(2));
}

TEST_F(ExchangeEnds, RefuseGrantsOfWhatWasNotSent) {
  EXPECT_THAT(sender_->OnGrant(kPeer, Grant(ExchangeKind::kGrant, 1)).message(),
              HasSubstr("executor 0 refuses a grant of executor 1 for exchange 3: 1 messages of 0"));
  EXPECT_THAT(sender_->OnGrant(kPeer, Grant(ExchangeKind::kLastGrant, 0)).message(),
              HasSubstr("0 messages of 0 at the end"));
}

}  // namespace
}  // namespace glaive::engine
