#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "queries/nb7/generator.h"
#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::nb7 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;

constexpr std::uint64_t kBids = 100'000;

std::unique_ptr<Generator<Bid>> MakeBids(const InputOptions& input) { return std::make_unique<BidGenerator>(input); }

TEST(BidGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = 1'000, .law = {.kind = KeyLaw::Kind::kPareto, .parameter = 1.16}}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<Bid>(BidGenerator(input));
}

TEST(BidGeneratorTest, SeedsAndExecutorsDrawDifferentBids) {
  ExpectSeedsAndExecutorsDrawDifferentRecords<Bid>(MakeBids);
}

TEST(BidGeneratorTest, EventTimesAreTheTimelines) { ExpectEventTimesOfTheTimeline<Bid>(MakeBids, BidTime{}); }

TEST(BidGeneratorTest, AuctionsFollowTheOptionsKeys) {
  const KeyOptions keys{.count = 50, .law = {.kind = KeyLaw::Kind::kPareto, .parameter = 1.16}, .hot_share = 0.1};
  std::array<std::uint64_t, 51> bids{};
  for (const Bid& bid : FirstRecords<Bid>(BidGenerator({.keys = keys}), kBids)) {
    ++bids.at(bid.auction);
  }
  EXPECT_EQ(bids[0], 0U);
  const double all = 1 - std::pow(51, -1.16);
  for (std::size_t auction = 1; auction <= 50; ++auction) {
    const auto k = static_cast<double>(auction);
    const double share = (std::pow(k, -1.16) - std::pow(k + 1, -1.16)) / all;
    ExpectShare(bids[auction], kBids, 0.9 * share + (auction == 1 ? 0.1 : 0), "auction " + std::to_string(auction));
  }
}

TEST(BidGeneratorTest, BiddersAreUniformAmongAMillion) {
  std::array<std::uint64_t, 10> tenths{};
  for (const Bid& bid : FirstRecords<Bid>(BidGenerator({}), kBids)) {
    ASSERT_GE(bid.bidder, 1U);
    ASSERT_LE(bid.bidder, 1'000'000U);
    ++tenths[(bid.bidder - 1) / 100'000];
  }
  for (const std::uint64_t bids : tenths) {
    ExpectShare(bids, kBids, 0.1, "a tenth of the bidders");
  }
}

TEST(BidGeneratorTest, EveryOrderOfMagnitudeOfPricesIsAsFrequentFromADollarToAMillion) {
  std::array<std::uint64_t, 6> magnitudes{};
  for (const Bid& bid : FirstRecords<Bid>(BidGenerator({}), kBids)) {
    ASSERT_GE(bid.price, 100U);
    ASSERT_LE(bid.price, 100'000'000U);
    std::size_t magnitude = 0;
    for (std::uint64_t dollars = bid.price / 100; dollars >= 10 && magnitude < 5; dollars /= 10) {
      ++magnitude;
    }
    ++magnitudes[magnitude];
  }
  for (const std::uint64_t bids : magnitudes) {
    ExpectShare(bids, kBids, 1.0 / 6, "an order of magnitude");
  }
}

TEST(BidGeneratorTest, FieldsAreDrawnIndependently) {
  std::array<std::uint64_t, 8> bids{};  // by the halves of auctions, bidders and prices
  for (const Bid& bid : FirstRecords<Bid>(BidGenerator({.keys = {.count = 2}}), kBids)) {
    ++bids.at((bid.auction - 1) * 4 + (bid.bidder > 500'000 ? 2 : 0) + (bid.price >= 100'000 ? 1 : 0));
  }
  for (const std::uint64_t count : bids) {
    ExpectShare(count, kBids, 1.0 / 8, "a half of each");
  }
}

}  // namespace
}  // namespace glaive::queries::nb7
