// NB8 whole, of every kind, over several cluster shapes and out of order, checked by the oracle; and wrong results are
// caught.

#include "queries/nb8/nb8_query.h"

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "queries/nexmark/auction_generator.h"
#include "queries/nexmark/seller_generator.h"
#include "tests/queries/join_cluster.h"

namespace glaive::queries::nb8 {
namespace {

using nexmark::Auction;
using nexmark::AuctionTime;
using nexmark::Seller;
using nexmark::SellerTime;
using Nb8Run = JoinRun<Auction, Seller>;

constexpr absl::Duration kWindow = absl::Minutes(1);

/// Ten windows of auctions and sellers.
InputFlags InOrder() { return {.records = 5'000, .keys = 200}; }

/// The same, so far out of order that some are late.
InputFlags OutOfOrder() {
  InputFlags flags = InOrder();
  flags.seed = 2;
  flags.disorder = 2 * kWindow;
  flags.allowed_lateness = kWindow / 4;
  flags.watermark_every = 50;
  return flags;
}

CheckedWindows WindowsOf(const Nb8Options& options) {
  const bool sliding = options.windows == WindowKind::kSliding;
  return {.size_ms = absl::ToInt64Milliseconds(options.window),
          .slide_ms = absl::ToInt64Milliseconds(sliding ? options.slide : options.window)};
}

Nb8Run RunNb8(engine::Workload cluster, const InputFlags& flags, Nb8Options options) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.window);
  cluster.slot_bytes = 4'096;
  cluster.max_lead_ms = 4 * window_ms;
  options.allowed_lateness = absl::Milliseconds(flags.allowed_lateness_ms());
  return RunJoin<Auction, AuctionTime, Seller, SellerTime>(
      cluster, flags, window_ms,
      [](const InputOptions& input) { return std::make_shared<nexmark::AuctionGenerator>(input); },
      [](const InputOptions& input) { return std::make_shared<nexmark::SellerGenerator>(input); },
      [&](const auto& auctions, const auto& sellers, const ResultSinks& sinks) {
        return BuildNb8(options, auctions, sellers, sinks);
      });
}

absl::Status VerifyNb8(const Nb8Run& run, const Nb8Options& options) {
  const JoinSide<Auction, std::uint64_t> auctions{run.left, [](const Auction& auction) { return auction.seller; },
                                                  [](const Auction& auction) { return auction.id; }};
  const JoinSide<Seller, std::int64_t> sellers{run.right, [](const Seller& seller) { return seller.id; },
                                               [](const Seller& seller) { return seller.event_time_ms; }};
  return VerifyJoin(run, JoinOracle("query", options.join, WindowsOf(options), auctions, sellers));
}

class Nb8Cluster : public ::testing::TestWithParam<ClusterShape<JoinKind, WindowKind>> {
 protected:
  Nb8Options options() const {
    return {.join = std::get<2>(GetParam()),
            .windows = std::get<3>(GetParam()),
            .window = kWindow,
            .slide = absl::Seconds(25)};
  }
  engine::Workload cluster() const {
    return {.nodes = std::get<0>(GetParam()), .executors = std::get<1>(GetParam()), .seed = 8};
  }
};

TEST_P(Nb8Cluster, JoinsAllInOrder) {
  const Nb8Run run = RunNb8(cluster(), InOrder(), options());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyNb8(run, options()), absl::OkStatus());
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::records), cluster().executor_count() * 5'000U);
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records), 0U);
}

TEST_P(Nb8Cluster, RecordsOutOfOrderCountUnlessTheyAreLateInTheirOwnFlow) {
  InputFlags flags = OutOfOrder();
  flags.hot_key_share = 0.2;
  const Nb8Run run = RunNb8(cluster(), flags, options());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyNb8(run, options()), absl::OkStatus());
  const std::uint64_t late_auctions = CountLateRecords(run.left, WindowsOf(options()));
  const std::uint64_t late_sellers = CountLateRecords(run.right, WindowsOf(options()));
  EXPECT_GT(late_auctions, 0U);
  EXPECT_GT(late_sellers, 0U);
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records), late_auctions + late_sellers);
}

std::string NameOf(const testing::TestParamInfo<ClusterShape<JoinKind, WindowKind>>& shape) {
  const std::string windows = std::get<3>(shape.param) == WindowKind::kSliding ? "Sliding" : "Tumbling";
  switch (std::get<2>(shape.param)) {
    case JoinKind::kLeft:
      return NameOfShape(shape.param, "Left" + windows);
    case JoinKind::kFull:
      return NameOfShape(shape.param, "Full" + windows);
    case JoinKind::kInner:
      break;
  }
  return NameOfShape(shape.param, "Inner" + windows);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Nb8Cluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U),
                                            ::testing::Values(JoinKind::kInner, JoinKind::kLeft, JoinKind::kFull),
                                            ::testing::Values(WindowKind::kTumbling, WindowKind::kSliding)),
                         NameOf);

TEST(Nb8WrongResult, IsCaught) {
  for (const JoinKind join : {JoinKind::kInner, JoinKind::kLeft, JoinKind::kFull}) {
    const Nb8Options options{.join = join, .window = kWindow};
    ExpectWrongResultsAreCaught(RunNb8({.nodes = 2}, OutOfOrder(), options),
                                [&](const Nb8Run& run) { return VerifyNb8(run, options); });
  }
}

}  // namespace
}  // namespace glaive::queries::nb8
