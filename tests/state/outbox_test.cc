#include "state/epoch/outbox.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/state/delta_wire.h"

namespace glaive::state {
namespace {

constexpr std::uint32_t kSlotBytes = 256;

/// Pushes a segment that carries `number`.
void Push(Outbox& outbox, DeltaWire& wire, ExecutorId leader, std::uint64_t number) {
  const auto segment = wire.pool().TryAcquire();
  ASSERT_TRUE(segment.has_value());
  std::memcpy(wire.pool().Data(*segment), &number, sizeof(number));
  outbox.Push(leader, *segment, sizeof(number),
              rdma::MessageTag::Of(DeltaTag{.epoch = number, .input = Value(leader)}));
}

TEST(Outbox, HasNothingToSendAtFirst) {
  DeltaWire wire(kSlotBytes, 4);
  Outbox outbox(3, wire.pool());
  EXPECT_EQ(outbox.pending(), 0U);
  EXPECT_FALSE(outbox.HasPending(ExecutorId{2}));
  EXPECT_FALSE(outbox.TrySend(ExecutorId{2}, wire.sender()));
}

TEST(Outbox, SendsPayloadAndTagAsTheyWerePushed) {
  DeltaWire wire(kSlotBytes, 4);
  Outbox outbox(3, wire.pool());
  Push(outbox, wire, ExecutorId{2}, 77);
  ASSERT_TRUE(outbox.TrySend(ExecutorId{2}, wire.sender()));
  const auto received = wire.Receive();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->tag.epoch, 77U);
  EXPECT_EQ(received->tag.input, 2U);
  EXPECT_EQ(received->payload.size(), 8U);
  EXPECT_EQ(wire.pool().available(), 4U) << "the segment is back";
}

TEST(Outbox, ASlowLeaderHoldsBackOnlyItself) {
  DeltaWire wire(kSlotBytes, 16, /*credits=*/2);
  Outbox outbox(3, wire.pool());
  for (std::uint64_t number = 1; number <= 4; ++number) {
    Push(outbox, wire, ExecutorId{1}, number);
  }
  Push(outbox, wire, ExecutorId{2}, 9);
  EXPECT_TRUE(outbox.TrySend(ExecutorId{1}, wire.sender()));
  EXPECT_TRUE(outbox.TrySend(ExecutorId{1}, wire.sender()));
  EXPECT_FALSE(outbox.TrySend(ExecutorId{1}, wire.sender())) << "no credit";
  EXPECT_EQ(outbox.pending(), 3U);
  EXPECT_TRUE(outbox.HasPending(ExecutorId{1}));
  EXPECT_TRUE(outbox.HasPending(ExecutorId{2}));
  EXPECT_EQ(wire.Receive()->tag.epoch, 1U);
  EXPECT_TRUE(outbox.TrySend(ExecutorId{2}, wire.sender()));
  EXPECT_FALSE(outbox.HasPending(ExecutorId{2}));
}

TEST(Outbox, KeepsTheOrderOfEveryLeaderUnderRandomUse) {
  constexpr std::uint32_t kLeaders = 5;
  constexpr std::uint32_t kSegments = 20;
  std::mt19937_64 random(1);
  DeltaWire wire(kSlotBytes, kSegments, /*credits=*/3);
  Outbox outbox(kLeaders, wire.pool());
  std::vector<std::deque<std::uint64_t>> queued(kLeaders);
  std::deque<std::pair<std::uint32_t, std::uint64_t>> sent;
  std::size_t pending = 0;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const auto leader = static_cast<std::uint32_t>(random() % kLeaders);
    switch (random() % 3) {
      case 0:
        if (wire.pool().available() > 0) {
          Push(outbox, wire, ExecutorId{leader}, step);
          queued[leader].push_back(step);
          ++pending;
        }
        break;
      case 1:
        if (outbox.TrySend(ExecutorId{leader}, wire.sender())) {
          ASSERT_FALSE(queued[leader].empty());
          sent.emplace_back(leader, queued[leader].front());
          queued[leader].pop_front();
          --pending;
        }
        break;
      default:
        if (const auto received = wire.Receive()) {
          ASSERT_FALSE(sent.empty());
          ASSERT_EQ(received->tag.input, sent.front().first);
          ASSERT_EQ(received->tag.epoch, sent.front().second);
          sent.pop_front();
        }
    }
    ASSERT_EQ(outbox.pending(), pending);
    ASSERT_EQ(outbox.HasPending(ExecutorId{leader}), !queued[leader].empty());
  }
}

}  // namespace
}  // namespace glaive::state
