// YSB* whole, over several cluster shapes and out of order, checked by the oracle; and wrong results are caught.

#include "queries/ysb_star/ysb_star_query.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "queries/ysb/campaigns.h"
#include "queries/ysb/generator.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::ysb_star {
namespace {

using ysb::EventType;
using ysb::YsbEvent;

constexpr std::int64_t kWindowMs = 10'000;
constexpr CheckedWindows kWindows{.size_ms = kWindowMs, .slide_ms = kWindowMs};

struct ClickRatio {
  void Add(const YsbEvent& event) { ++of_type[event.event_type]; }
  std::optional<double> value() const {
    if (!of_type.contains(EventType::kClick) || !of_type.contains(EventType::kView)) {
      return std::nullopt;
    }
    return of_type.at(EventType::kClick) / of_type.at(EventType::kView);
  }

  std::map<EventType, double> of_type;
};

absl::Status VerifyYsbStar(const QueryRun<YsbEvent>& run) {
  std::map<std::uint64_t, std::uint64_t> campaigns;
  for (const ysb::Ad& ad : ysb::AllAds()) {
    campaigns.emplace(ad.id, ad.campaign);
  }
  return Verify<ClickRatio>(run, kWindows, [&](const YsbEvent& event) {
    return event.event_type == EventType::kPurchase ? std::nullopt
                                                    : std::optional(campaigns.at(std::uint64_t{event.ad_id}));
  });
}

/// So skewed that some campaigns have clicks without views, or views without clicks.
QueryRun<YsbEvent> RunYsbStar(engine::Workload cluster, const Reading& reading, std::int64_t disorder_ms) {
  cluster.records = 3'000;
  cluster.max_lead_ms = 4 * kWindowMs;
  InputOptions input{.seed = cluster.seed, .keys = {.law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1.2}}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = reading.span_ms},
                    .align_ms = kWindowMs,
                    .disorder_ms = disorder_ms};
  return RunQuery<ysb::YsbEventTime, YsbEvent>(
      cluster, std::make_shared<ysb::YsbGenerator>(ysb::Profile::kYahoo, input), reading,
      [&](const auto& events, const auto& sinks) {
        return BuildYsbStar(events, absl::Milliseconds(kWindowMs), absl::Milliseconds(reading.allowed_lateness_ms),
                            sinks);
      });
}

class YsbStarCluster : public ::testing::TestWithParam<ClusterShape<>> {};

TEST_P(YsbStarCluster, RatiosAreOfAllEventsInOrder) {
  const auto [nodes, executors] = GetParam();
  const QueryRun<YsbEvent> run = RunYsbStar({.nodes = nodes, .executors = executors, .seed = 3},
                                            {.repetitions = 2, .span_ms = 10 * kWindowMs}, /*disorder_ms=*/0);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyYsbStar(run), absl::OkStatus());
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::records), nodes * executors * 6'000U) << "each is read once";
}

TEST_P(YsbStarCluster, EventsOutOfOrderCountUnlessTheyAreLate) {
  const auto [nodes, executors] = GetParam();
  const QueryRun<YsbEvent> run =
      RunYsbStar({.nodes = nodes, .executors = executors, .seed = 4},
                 {.span_ms = 10 * kWindowMs, .watermark_every = 50, .allowed_lateness_ms = kWindowMs / 4},
                 /*disorder_ms=*/2 * kWindowMs);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyYsbStar(run), absl::OkStatus());
  const std::uint64_t late = CountLateRecords(run, kWindows, [](const YsbEvent& event) {
    return event.event_type == EventType::kPurchase ? std::nullopt : std::optional(std::uint64_t{event.ad_id});
  });
  EXPECT_GT(late, 0U);
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records), late);
}

INSTANTIATE_TEST_SUITE_P(Shapes, YsbStarCluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U)),
                         [](const auto& shape) { return NameOfShape(shape.param); });

TEST(YsbStarWrongResult, IsCaught) {
  ExpectWrongResultsAreCaught(RunYsbStar({.nodes = 2}, {.span_ms = 10 * kWindowMs}, /*disorder_ms=*/0), VerifyYsbStar);
}

}  // namespace
}  // namespace glaive::queries::ysb_star
