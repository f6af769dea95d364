// NB7 whole, over several cluster shapes and out of order, checked by the oracle; and wrong results are caught.

#include "queries/nb7/nb7_query.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "queries/nb7/generator.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::nb7 {
namespace {

using nexmark::Bid;
using nexmark::BidTime;

constexpr std::int64_t kWindowMs = 60'000;
constexpr CheckedWindows kWindows{.size_ms = kWindowMs, .slide_ms = kWindowMs};

struct HighestPrice {
  void Add(const Bid& bid) { highest = std::max(highest, bid.price); }
  std::uint64_t value() const { return highest; }

  std::uint64_t highest = 0;
};

std::optional<std::uint64_t> AuctionOf(const Bid& bid) { return bid.auction; }

QueryRun<Bid> RunNb7(const engine::Workload& cluster, const Reading& reading, std::int64_t disorder_ms) {
  InputOptions input{.seed = cluster.seed,
                     .keys = {.count = cluster.keys, .law = {.kind = KeyLaw::Kind::kPareto, .parameter = 1.16}}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = reading.span_ms},
                    .align_ms = kWindowMs,
                    .disorder_ms = disorder_ms};
  return RunQuery<BidTime, Bid>(
      cluster, std::make_shared<BidGenerator>(input), reading, [&](const auto& bids, const auto& sinks) {
        return BuildNb7(bids, absl::Milliseconds(kWindowMs), absl::Milliseconds(reading.allowed_lateness_ms), sinks);
      });
}

absl::Status VerifyNb7(const QueryRun<Bid>& run) { return Verify<HighestPrice>(run, kWindows, AuctionOf); }

class Nb7Cluster : public ::testing::TestWithParam<ClusterShape<>> {};

TEST_P(Nb7Cluster, BidsOutOfOrderCountUnlessTheyAreLate) {
  const auto [nodes, executors] = GetParam();
  const QueryRun<Bid> run = RunNb7(
      {.nodes = nodes,
       .executors = executors,
       .seed = 5,
       .records = 10'000,
       .keys = 2'000,
       .slot_bytes = 4'096,
       .max_lead_ms = 4 * kWindowMs},
      {.repetitions = 2, .span_ms = 10 * kWindowMs, .watermark_every = 100, .allowed_lateness_ms = kWindowMs / 4},
      /*disorder_ms=*/2 * kWindowMs);
  ExpectRight(run, VerifyNb7, [&](const auto& right) { return CountLateRecords(right, kWindows, AuctionOf); });
}

TEST_P(Nb7Cluster, NoBidIsLateWhenTheLatenessAllowedIsTheDisorder) {
  const auto [nodes, executors] = GetParam();
  const QueryRun<Bid> run =
      RunNb7({.nodes = nodes,
              .executors = executors,
              .seed = 6,
              .records = 5'000,
              .keys = 2'000,
              .max_lead_ms = 4 * kWindowMs},
             {.repetitions = 3, .span_ms = 10 * kWindowMs, .watermark_every = 1, .allowed_lateness_ms = 2 * kWindowMs},
             /*disorder_ms=*/2 * kWindowMs);
  ExpectRight(run, VerifyNb7, 0);
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::records_accepted), nodes * executors * 3 * 5'000U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Nb7Cluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U)),
                         [](const auto& shape) { return NameOfShape(shape.param); });

TEST(Nb7WrongResult, IsCaught) {
  ExpectWrongResultsAreCaught(RunNb7({.nodes = 2, .records = 2'000, .keys = 100, .max_lead_ms = 4 * kWindowMs},
                                     {.span_ms = 10 * kWindowMs, .watermark_every = 10}, /*disorder_ms=*/2 * kWindowMs),
                              VerifyNb7);
}

}  // namespace
}  // namespace glaive::queries::nb7
