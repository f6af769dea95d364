#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "queries/nb11/generator.h"
#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::nb11 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;

constexpr std::uint64_t kBids = 50'000;

std::unique_ptr<Generator<Bid>> MakeBids(const InputOptions& input) { return std::make_unique<BidGenerator>(input); }

TEST(BidderGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = 1'000}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<Bid>(BidGenerator(input));
}

TEST(BidderGeneratorTest, SeedsAndExecutorsDrawDifferentBids) {
  ExpectSeedsAndExecutorsDrawDifferentRecords<Bid>(MakeBids);
}

TEST(BidderGeneratorTest, EventTimesAreTheTimelines) { ExpectEventTimesOfTheTimeline<Bid>(MakeBids, BidTime{}); }

TEST(BidderGeneratorTest, BiddersFollowTheOptionsKeysAndAreAllOfTheKeySpace) {
  std::array<std::uint64_t, 51> bids{};
  for (const Bid& bid : FirstRecords<Bid>(BidGenerator({.keys = {.count = 50, .hot_share = 0.5}}), kBids)) {
    ASSERT_GE(bid.auction, 1U);
    ASSERT_LE(bid.auction, 1'000'000U);
    ASSERT_GE(bid.price, 100U);
    ++bids.at(bid.bidder);
  }
  EXPECT_EQ(bids[0], 0U);
  for (std::size_t bidder = 1; bidder <= 50; ++bidder) {
    ExpectShare(bids.at(bidder), kBids, 0.5 / 50 + (bidder == 1 ? 0.5 : 0), "bidder " + std::to_string(bidder));
  }
}

}  // namespace
}  // namespace glaive::queries::nb11
