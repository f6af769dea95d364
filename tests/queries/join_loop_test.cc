// The hand-written loop of a windowed join emits what the oracle does.
#include "queries/nb8/join_loop.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "queries/common/join_oracle.h"
#include "queries/loops/loop_totals.h"
#include "queries/nexmark/auction_generator.h"
#include "queries/nexmark/seller_generator.h"
#include "tests/queries/checked_block.h"

namespace glaive::queries::nb8 {
namespace {

using nexmark::Auction;
using nexmark::AuctionTime;
using nexmark::Seller;
using nexmark::SellerTime;

constexpr std::int64_t kJoinedWindowMs = 10'000;

struct JoinCase {
  std::uint64_t keys;
  std::uint64_t auctions;
  std::uint64_t sellers;
  std::int64_t windows;
  std::uint64_t repetitions;
};

class JoinLoopTest : public testing::TestWithParam<JoinCase> {
 protected:
  static std::int64_t SpanMs() { return GetParam().windows * kJoinedWindowMs; }

  static InputOptions Input(std::uint64_t seed, std::uint64_t records) {
    InputOptions input{.seed = seed, .keys = {.count = GetParam().keys}};
    input.timeline = {.rate = {.records = records, .span_ms = SpanMs()}, .align_ms = kJoinedWindowMs};
    return input;
  }
};

// In the second case windows lie between two records of an input, in the fourth all sellers register in one window.
INSTANTIATE_TEST_SUITE_P(
    Cases, JoinLoopTest,
    testing::Values(JoinCase{.keys = 10, .auctions = 40, .sellers = 10, .windows = 1, .repetitions = 1},
                    JoinCase{.keys = 2, .auctions = 9, .sellers = 5, .windows = 40, .repetitions = 3},
                    JoinCase{.keys = 300, .auctions = 8'000, .sellers = 2'000, .windows = 7, .repetitions = 2},
                    JoinCase{.keys = 100, .auctions = 8'000, .sellers = 1, .windows = 3, .repetitions = 2},
                    JoinCase{.keys = 5'000, .auctions = 20'000, .sellers = 5'000, .windows = 1, .repetitions = 3}));

TEST_P(JoinLoopTest, EmitsWhatTheOracleExpects) {
  const JoinCase& c = GetParam();
  const nexmark::AuctionGenerator auction_generator(Input(1, c.auctions));
  const nexmark::SellerGenerator seller_generator(Input(2, c.sellers));
  std::vector<Auction> auctions(c.auctions);
  std::vector<Seller> sellers(c.sellers);
  auction_generator.Fill(0, 0, auctions);
  seller_generator.Fill(0, 0, sellers);
  LoopRepetition repetition{.repetitions = c.repetitions, .span_ms = SpanMs()};
  const JoinSide<Auction, std::uint64_t> left{
      CheckedBlock<Auction>(auction_generator, AuctionTime{}, c.auctions, repetition),
      [](const Auction& auction) { return std::uint64_t{auction.seller}; },
      [](const Auction& auction) { return std::uint64_t{auction.id}; }};
  const JoinSide<Seller, std::int64_t> right{
      CheckedBlock<Seller>(seller_generator, SellerTime{}, c.sellers, repetition),
      [](const Seller& seller) { return std::uint64_t{seller.id}; },
      [](const Seller& seller) { return std::int64_t{seller.event_time_ms}; }};
  const CheckedWindows windows{.size_ms = kJoinedWindowMs, .slide_ms = kJoinedWindowMs};
  const Totals expected = JoinOracle("nb8", JoinKind::kInner, windows, left, right).Check({}).expected;
  JoinLoop loop({.window_ms = kJoinedWindowMs, .auctions = c.auctions, .sellers = c.sellers});
  EXPECT_EQ(CheckTotals("loop", expected, LoopTotals(loop, auctions, sellers, repetition)), absl::OkStatus());
  repetition.batch_records = 7;
  EXPECT_EQ(LoopTotals(loop, auctions, sellers, repetition), expected) << "a second run starts empty";
}

TEST(JoinLoopDeathTest, MoreRecordsThanItWasMadeForEndTheProcess) {
  JoinLoop loop({.window_ms = kJoinedWindowMs, .auctions = 2, .sellers = 2});
  const std::vector<Auction> auctions(3);
  EXPECT_DEATH(LoopTotals(loop, auctions, {}, {}), "more records than the loop was made for");
}

}  // namespace
}  // namespace glaive::queries::nb8
