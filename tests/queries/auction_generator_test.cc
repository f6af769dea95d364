#include "queries/nexmark/auction_generator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::nexmark {
namespace {

constexpr std::uint64_t kAuctions = 50'000;

std::unique_ptr<Generator<Auction>> MakeAuctions(const InputOptions& input) {
  return std::make_unique<AuctionGenerator>(input);
}

TEST(AuctionGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = 1'000, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1}}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<Auction>(AuctionGenerator(input));
}

TEST(AuctionGeneratorTest, SeedsAndExecutorsDrawDifferentAuctions) {
  ExpectSeedsAndExecutorsDrawDifferentRecords<Auction>(MakeAuctions);
}

TEST(AuctionGeneratorTest, EventTimesAreTheTimelines) {
  ExpectEventTimesOfTheTimeline<Auction>(MakeAuctions, AuctionTime{});
}

TEST(AuctionGeneratorTest, SellersFollowTheOptionsKeysAndAreAllOfTheKeySpace) {
  std::array<std::uint64_t, 51> auctions{};
  for (const Auction& auction :
       FirstRecords<Auction>(AuctionGenerator({.keys = {.count = 50, .hot_share = 0.5}}), kAuctions)) {
    ++auctions.at(std::uint64_t{auction.seller});
  }
  EXPECT_EQ(auctions[0], 0U);
  for (std::size_t seller = 1; seller <= 50; ++seller) {
    ExpectShare(auctions.at(seller), kAuctions, 0.5 / 50 + (seller == 1 ? 0.5 : 0), "seller " + std::to_string(seller));
  }
}

TEST(AuctionGeneratorTest, NoTwoAuctionsOfARunHaveTheSameId) {
  const AuctionGenerator generator({.keys = {.count = 10}});
  std::set<std::uint64_t> ids;
  for (const std::uint32_t executor : {0U, 1U, 2U, 159U}) {
    for (const Auction& auction : FirstRecords<Auction>(generator, 1'000, executor)) {
      ids.insert(std::uint64_t{auction.id});
    }
  }
  EXPECT_EQ(ids.size(), 4'000U);
  EXPECT_FALSE(ids.contains(0));
}

TEST(AuctionGeneratorTest, PricesTimesAndCategoriesAreNexmarks) {
  std::array<std::uint64_t, 5> categories{};
  for (const Auction& auction : FirstRecords<Auction>(AuctionGenerator({}), kAuctions)) {
    ASSERT_GT(std::int64_t{auction.expires_ms}, std::int64_t{auction.event_time_ms});
    ASSERT_GE(std::uint64_t{auction.initial_bid}, 100U);
    ASSERT_GE(std::uint64_t{auction.reserve}, auction.initial_bid + 100);
    ++categories.at(auction.category - 10U);
  }
  for (const std::uint64_t auctions : categories) {
    ExpectShare(auctions, kAuctions, 1.0 / 5, "a category");
  }
}

}  // namespace
}  // namespace glaive::queries::nexmark
