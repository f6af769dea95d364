// The hand-written loops over sessions emit what the oracles do: speeds of two right programs are compared.
#include "queries/swa/session_loop.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/common/join_oracle.h"
#include "queries/common/oracle.h"
#include "queries/loops/loop_totals.h"
#include "queries/nb11/generator.h"
#include "queries/nb11/session_join_loop.h"
#include "queries/nexmark/seller_generator.h"
#include "queries/swa/generator.h"
#include "tests/queries/checked_block.h"

namespace glaive::queries {
namespace {

using nb11::BidOffer;
using nb11::SessionJoinLoop;
using nexmark::Bid;
using nexmark::BidTime;
using nexmark::Seller;
using nexmark::SellerTime;
using swa::AirEvent;
using swa::AirEventTime;
using swa::SessionLoop;

constexpr std::int64_t kGapMs = 1'000;
constexpr CheckedWindows kSessions{.size_ms = kGapMs, .slide_ms = 0, .kind = CheckedWindows::Kind::kSession};

struct SessionCase {
  std::uint64_t keys;
  std::uint64_t records;
  std::int64_t gaps;
  std::uint64_t repetitions;
};

/// Keys that come more often than once a gap, about as often, and less often; a second run starts empty.
class SessionLoopTest : public testing::TestWithParam<SessionCase> {
 protected:
  static InputOptions Input(std::uint64_t seed, std::uint64_t records) {
    InputOptions input{.seed = seed, .keys = {.count = GetParam().keys}};
    input.timeline.rate = {.records = records, .span_ms = SpanMs()};
    return input;
  }
  static std::int64_t SpanMs() { return GetParam().gaps * kGapMs; }
  static LoopRepetition Repetition() { return {.repetitions = GetParam().repetitions, .span_ms = SpanMs()}; }
  static LoopRepetition InBatches() {
    LoopRepetition repetition = Repetition();
    repetition.batch_records = 7;
    return repetition;
  }
};

INSTANTIATE_TEST_SUITE_P(Cases, SessionLoopTest,
                         testing::Values(SessionCase{.keys = 1, .records = 1, .gaps = 1, .repetitions = 1},
                                         SessionCase{.keys = 1, .records = 10, .gaps = 40, .repetitions = 3},
                                         SessionCase{.keys = 20, .records = 400, .gaps = 1, .repetitions = 2},
                                         SessionCase{.keys = 300, .records = 3'000, .gaps = 10, .repetitions = 3},
                                         SessionCase{.keys = 5'000, .records = 10'000, .gaps = 10, .repetitions = 2}));

TEST_P(SessionLoopTest, CountsWhatTheOracleExpects) {
  const SessionCase& c = GetParam();
  const swa::AirEventGenerator generator(Input(1, c.records));
  std::vector<AirEvent> block(c.records);
  generator.Fill(0, 0, block);
  const Oracle<AirEvent> oracle("swa", CheckedBlock<AirEvent>(generator, AirEventTime{}, c.records, Repetition()),
                                kSessions);
  const auto check = [&](auto loop, bool by_ad) {
    ASSERT_TRUE(loop.ok()) << loop.status();
    const auto key_of = [&](const AirEvent& event) { return std::optional<std::uint64_t>(by_ad ? event.ad_id : 0); };
    const Totals expected = oracle.Check<CountAccount<AirEvent>>(key_of, {}).expected;
    EXPECT_GE(expected.rows, 1U);
    EXPECT_EQ(CheckTotals("loop", expected, LoopTotals(*loop, block, Repetition())), absl::OkStatus());
    EXPECT_EQ(LoopTotals(*loop, block, InBatches()), expected) << "by ad: " << by_ad;
  };
  check(SessionLoop<engine::AllRecords>::Create({.gap_ms = kGapMs}), false);
  check(SessionLoop<std::uint64_t>::Create({.gap_ms = kGapMs, .ads = c.keys}), true);
}

TEST_P(SessionLoopTest, JoinsWhatTheOracleExpects) {
  const SessionCase& c = GetParam();
  const nb11::BidGenerator bid_generator(Input(1, 4 * c.records));
  const nexmark::SellerGenerator seller_generator(Input(2, c.records));
  std::vector<Bid> bids(4 * c.records);
  std::vector<Seller> sellers(c.records);
  bid_generator.Fill(0, 0, bids);
  seller_generator.Fill(0, 0, sellers);
  const JoinSide<Bid, BidOffer> left{
      CheckedBlock<Bid>(bid_generator, BidTime{}, bids.size(), Repetition()), [](const Bid& bid) { return bid.bidder; },
      [](const Bid& bid) { return BidOffer{.auction = bid.auction, .price = bid.price}; }};
  const JoinSide<Seller, std::int64_t> right{
      CheckedBlock<Seller>(seller_generator, SellerTime{}, sellers.size(), Repetition()),
      [](const Seller& seller) { return seller.id; }, [](const Seller& seller) { return seller.event_time_ms; }};
  const Totals expected = JoinOracle("nb11", JoinKind::kInner, kSessions, left, right).Check({}).expected;
  auto loop = SessionJoinLoop::Create({.gap_ms = kGapMs,
                                       .keys = c.keys,
                                       .bids = bids.size() * c.repetitions,
                                       .sellers = sellers.size() * c.repetitions});
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_EQ(CheckTotals("loop", expected, LoopTotals(*loop, bids, sellers, Repetition())), absl::OkStatus());
  EXPECT_EQ(LoopTotals(*loop, bids, sellers, InBatches()), expected);
}

TEST(SessionTableTest, AnAbsurdNumberOfKeysIsRefused) {
  EXPECT_EQ(SessionLoop<std::uint64_t>::Create({.ads = UINT64_MAX}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SessionJoinLoop::Create({.keys = 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace glaive::queries
