// NB11 whole, over several cluster shapes and out of order, checked by the oracle; and wrong results are caught.

#include "queries/nb11/nb11_query.h"

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "queries/nb11/bid_offer.h"
#include "queries/nb11/generator.h"
#include "queries/nexmark/seller_generator.h"
#include "tests/queries/join_cluster.h"

namespace glaive::queries::nb11 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;
using nexmark::Seller;
using nexmark::SellerTime;
using Nb11Run = JoinRun<Bid, Seller>;

constexpr absl::Duration kGap = absl::Seconds(2);
constexpr CheckedWindows kSessions{.size_ms = 2'000, .slide_ms = 0, .kind = CheckedWindows::Kind::kSession};

/// Each of 400 keys has a record about every 5 s of an executor's input.
InputFlags InOrder() { return {.records = 5'000, .keys = 400, .event_rate = 80}; }

/// The same, so far out of order that some are late.
InputFlags OutOfOrder() {
  InputFlags flags = InOrder();
  flags.seed = 2;
  flags.disorder = 2 * kGap;
  flags.allowed_lateness = kGap / 4;
  flags.watermark_every = 50;
  return flags;
}

Nb11Run RunNb11(engine::Workload cluster, const InputFlags& flags) {
  cluster.slot_bytes = 4'096;
  cluster.max_lead_ms = 4 * kSessions.size_ms;
  return RunJoin<Bid, BidTime, Seller, SellerTime>(
      cluster, flags, kSessions.size_ms,
      [](const InputOptions& input) { return std::make_shared<BidGenerator>(input); },
      [](const InputOptions& input) { return std::make_shared<nexmark::SellerGenerator>(input); },
      [&](const auto& bids, const auto& sellers, const ResultSinks& sinks) {
        return BuildNb11(bids, sellers, kGap, absl::Milliseconds(flags.allowed_lateness_ms()), sinks);
      });
}

absl::Status VerifyNb11(const Nb11Run& run) {
  const JoinSide<Bid, BidOffer> bids{
      run.left, [](const Bid& bid) { return bid.bidder; },
      [](const Bid& bid) { return BidOffer{.auction = bid.auction, .price = bid.price}; }};
  const JoinSide<Seller, std::int64_t> sellers{run.right, [](const Seller& seller) { return seller.id; },
                                               [](const Seller& seller) { return seller.event_time_ms; }};
  return VerifyJoin(run, JoinOracle("query", JoinKind::kInner, kSessions, bids, sellers));
}

class Nb11Cluster : public ::testing::TestWithParam<ClusterShape<>> {};

TEST_P(Nb11Cluster, JoinsSessionsThatBothSidesMake) {
  const auto [nodes, executors] = GetParam();
  const Nb11Run run = RunNb11({.nodes = nodes, .executors = executors, .seed = 11}, InOrder());
  ExpectRight(run, VerifyNb11, 0);
}

TEST_P(Nb11Cluster, RecordsOutOfOrderCountUnlessTheyAreLateInTheirOwnFlow) {
  const auto [nodes, executors] = GetParam();
  const Nb11Run run = RunNb11({.nodes = nodes, .executors = executors, .seed = 12}, OutOfOrder());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyNb11(run), absl::OkStatus());
  const std::uint64_t late_bids = CountLateRecords(run.left, kSessions);
  const std::uint64_t late_sellers = CountLateRecords(run.right, kSessions);
  EXPECT_GT(late_bids, 0U);
  EXPECT_GT(late_sellers, 0U);
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records), late_bids + late_sellers);
}

/// Where one executor leads all keys, the bids' tables are split by their keys' hashes and the sellers' are not.
TEST_P(Nb11Cluster, JoinsSlicesThatExceedTheCache) {
  const auto [nodes, executors] = GetParam();
  const std::uint64_t all = std::uint64_t{nodes} * executors;
  InputFlags flags{.records = 300'000 / all, .keys = 60'000, .event_rate = 40'000 / all};
  flags.disorder = kGap;
  const Nb11Run run = RunNb11({.nodes = nodes, .executors = executors, .seed = 13}, flags);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyNb11(run), absl::OkStatus());
  EXPECT_GT(run.Total(&engine::ExecutorMetrics::slice_merges), 10'000U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Nb11Cluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U)),
                         [](const auto& shape) { return NameOfShape(shape.param); });

TEST(Nb11WrongResult, IsCaught) { ExpectWrongResultsAreCaught(RunNb11({.nodes = 2}, OutOfOrder()), VerifyNb11); }

}  // namespace
}  // namespace glaive::queries::nb11
