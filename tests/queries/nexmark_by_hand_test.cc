// Queries of NEXMark's suite over a few events whose rows are worked out by hand: what no generated stream shows, such
// as prices that tie and bids at the very end of a window.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/sink/results.h"
#include "engine/source/block_source.h"
#include "queries/nexmark/suite/queries.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Auction;
using events::Bid;
using events::Event;
using testing::ElementsAre;

/// By executor, in the order of their times.
using Flows = std::vector<std::vector<Event>>;

Event BidAt(std::int64_t time_ms, std::uint64_t auction, std::uint64_t bidder, std::uint64_t price) {
  return ToEvent(Bid{.auction = auction,
                     .bidder = bidder,
                     .price = price,
                     .channel = "Google",
                     .url = "https://x.de/a",
                     .date_time = time_ms,
                     .extra = "e"});
}

Event AuctionAt(std::int64_t time_ms, std::uint64_t id, std::int64_t expires, std::uint64_t reserve) {
  return ToEvent(Auction{.id = id,
                         .item_name = "item",
                         .description = "d",
                         .initial_bid = 1,
                         .reserve = reserve,
                         .date_time = time_ms,
                         .expires = expires,
                         .seller = 7,
                         .category = 10,
                         .extra = "e"});
}

Events SourceOf(const Flows& flows) {
  const auto open = [flows](const engine::SourceContext& context) {
    const std::vector<Event>& flow = flows[Value(context.executor)];
    const auto generate = [&](std::uint64_t first, std::span<Event> events) {
      std::ranges::copy(std::span(flow).subspan(first, events.size()), events.begin());
    };
    return engine::BlockSource<Event, events::EventTime>::Create(
        {.block_records = flow.size(), .total_records = flow.size()}, *context.clock, generate, events::EventTime{});
  };
  return {.open = open, .event_time_ms = {}, .memory_bytes = std::uint64_t{1} << 20};
}

/// In the order of their bytes.
std::vector<std::string> RowsOf(std::string_view name, const Flows& flows, const SuiteOptions& options = {}) {
  const QueryDefinition& query = *std::ranges::find(AllQueries(), name, &QueryDefinition::name);
  const engine::Workload cluster{.executors = static_cast<std::uint32_t>(flows.size()), .max_lead_ms = 600'000};
  const auto retained = std::make_shared<engine::RetainedLines>(std::int64_t{1} << 20);
  retained->by_executor.resize(flows.size());
  std::vector<engine::ExecutorMetrics> metrics;
  EXPECT_EQ(engine::RunNodes(cluster, *query.build(SourceOf(flows), options, engine::Results("", retained)), metrics),
            absl::OkStatus());
  std::vector<std::string> rows;
  for (const std::vector<std::string>& lines : retained->by_executor)
    rows.insert(rows.end(), lines.begin(), lines.end());
  std::ranges::sort(rows);
  return rows;
}

TEST(NexmarkByHand, AllBidsOfTheHighestPriceAreRowsAndTheEndOfAWindowBelongsToTheNextOne) {
  const Flows flows = {{BidAt(1'000, 1, 1, 50), BidAt(2'000, 2, 2, 70), BidAt(3'000, 3, 3, 60), BidAt(9'999, 4, 4, 70)},
                       {BidAt(0, 5, 5, 70), BidAt(10'000, 6, 6, 10), BidAt(20'000, 7, 7, 5), BidAt(29'999, 8, 8, 5)}};
  EXPECT_THAT(RowsOf("q7", flows), ElementsAre("2,2,70,2000,e", "4,4,70,9999,e", "5,5,70,0,e", "6,6,10,10000,e",
                                               "7,7,5,20000,e", "8,8,5,29999,e"));
}

TEST(NexmarkByHand, MoreWindowsThanAnExecutorRemembersHaveTheirHighestBids) {
  Flows flows(1);
  std::vector<std::string> rows;
  for (std::int64_t window = 0; window < 12; ++window) {
    const auto id = static_cast<std::uint64_t>(window) + 100;
    flows[0].push_back(BidAt(window * 10'000, id, 1, 3));
    flows[0].push_back(BidAt(window * 10'000 + 1, id, 2, 4));
    flows[0].push_back(BidAt(window * 10'000 + 2, id, 3, 2));
    rows.push_back(std::to_string(id) + ",2,4," + std::to_string(window * 10'000 + 1) + ",e");
  }
  EXPECT_THAT(RowsOf("q7", flows), testing::ElementsAreArray(rows));
}

TEST(NexmarkByHand, AnAuctionGetsBidsFromItsDateUntilBeforeItsEndThatReachItsReserve) {
  const Flows flows = {{AuctionAt(100, 1, 500, 30)},
                       {BidAt(99, 1, 1, 90), BidAt(100, 1, 2, 40), BidAt(499, 1, 3, 29), BidAt(500, 1, 4, 95)}};
  EXPECT_THAT(RowsOf("q4", flows), ElementsAre("10,40"));
  EXPECT_THAT(RowsOf("q6", flows), ElementsAre("7,40"));
  EXPECT_THAT(RowsOf("q9", flows), ElementsAre("1,item,d,1,30,100,500,7,10,e,1,2,40,100,e"));
  const SuiteOptions flink{.any_price_until_the_end_wins = true};
  EXPECT_THAT(RowsOf("q4", flows, flink), ElementsAre("10,95"));
  EXPECT_THAT(RowsOf("q9", flows, flink), ElementsAre("1,item,d,1,30,100,500,7,10,e,1,4,95,500,e"));
}

TEST(NexmarkByHand, OfBidsOfOnePriceTheFirstWinsAndThenTheOneOfTheLeastBidder) {
  const Flows flows = {{AuctionAt(0, 1, 500, 0), BidAt(50, 1, 9, 10), BidAt(50, 1, 8, 10)}, {BidAt(100, 1, 2, 10)}};
  EXPECT_THAT(RowsOf("q9", flows), ElementsAre("1,item,d,1,0,0,500,7,10,e,1,8,10,50,e"));
}

TEST(NexmarkByHand, TheLastTenAuctionsOfASellerAreThoseThatEndLast) {
  Flows flows(2);
  for (std::uint64_t id = 1; id <= 12; ++id) {  // auction 1 ends last
    flows[0].push_back(AuctionAt(0, id, 1'000 - static_cast<std::int64_t>(id), 0));
    flows[1].push_back(BidAt(10, id, 1, id * 100));
  }
  EXPECT_THAT(RowsOf("q6", flows), ElementsAre("7,550")) << "the mean of 100 to 1000";
}

TEST(NexmarkByHand, OfBidsOfOnePriceTheLaterHasTheBetterRank) {
  const Flows flows = {{BidAt(1, 1, 5, 10), BidAt(2, 1, 6, 10)}, {BidAt(2, 1, 7, 10), BidAt(3, 1, 8, 9)}};
  EXPECT_THAT(RowsOf("q19", flows),
              ElementsAre("1,5,10,Google,https://x.de/a,1,e,3", "1,6,10,Google,https://x.de/a,2,e,2",
                          "1,7,10,Google,https://x.de/a,2,e,1", "1,8,9,Google,https://x.de/a,3,e,4"));
}

TEST(NexmarkByHand, OfBidsAtOneTimeTheLastIsThatOfTheGreatestPrice) {
  const Flows flows = {{BidAt(5, 1, 1, 20), BidAt(5, 1, 1, 10)}, {BidAt(4, 1, 1, 90)}};
  EXPECT_THAT(RowsOf("q18", flows), ElementsAre("1,1,20,Google,https://x.de/a,5,e"));
}

TEST(NexmarkByHand, APauseAsLongAsTheGapEndsASession) {
  const Flows flows = {{BidAt(0, 1, 1, 1), BidAt(9'999, 1, 1, 1), BidAt(19'999, 1, 1, 1)}};
  EXPECT_THAT(RowsOf("q11", flows), ElementsAre("1,1,19999,29999", "1,2,0,19999"));
}

TEST(NexmarkByHand, ABidIsInAllSlidingWindowsButThoseThatEndAtItsTime) {
  const SuiteOptions options{.hot_items_window = absl::Seconds(4), .hot_items_slide = absl::Seconds(2)};
  const Flows flows = {{BidAt(2'000, 1, 1, 1), BidAt(4'000, 1, 1, 1)}, {BidAt(4'000, 2, 1, 1)}};
  EXPECT_THAT(RowsOf("q5", flows, options),
              ElementsAre("1,1,0,4000", "1,1,4000,8000", "1,2,2000,6000", "2,1,4000,8000"));
}

TEST(NexmarkByHand, AUrlOfOneFolderHasNoFurtherOnes) {
  EXPECT_THAT(RowsOf("q22", {{BidAt(1, 1, 2, 3)}}), ElementsAre("1,2,3,Google,a,,"));
}

}  // namespace
}  // namespace glaive::queries::nexmark::suite
