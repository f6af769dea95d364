// YSB itself, whole: both profiles over several cluster shapes, each leader's rows checked by the oracle and the totals
// over all of them; and a result that was tampered with is caught.

#include "queries/ysb/ysb_query.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "tests/queries/query_cluster.h"

namespace glaive::queries::ysb {
namespace {

std::int64_t WindowMs(Profile profile) { return profile == Profile::kSlash ? kSlashWindowMs : kYahooWindowMs; }

/// A run over ten windows, and as many for each repetition.
QueryRun<YsbEvent> RunYsb(Profile profile, const engine::Workload& cluster, Reading reading,
                          std::int64_t disorder_ms = 0) {
  const std::int64_t window_ms = WindowMs(profile);
  InputOptions input{.seed = cluster.seed, .keys = {.count = cluster.keys, .hot_share = cluster.hot_share}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = 10 * window_ms},
                    .align_ms = window_ms,
                    .disorder_ms = disorder_ms};
  reading.span_ms = 10 * window_ms;
  engine::Workload shape = cluster;
  shape.max_lead_ms = 4 * window_ms;
  const YsbOptions options{.profile = profile,
                           .window = absl::Milliseconds(window_ms),
                           .allowed_lateness = absl::Milliseconds(reading.allowed_lateness_ms)};
  return RunQuery<YsbEventTime, YsbEvent>(
      shape, std::make_shared<YsbGenerator>(profile, input), reading,
      [&](const auto& events, const auto& sinks) { return BuildYsb(options, events, sinks); });
}

CheckedWindows WindowsOf(Profile profile) { return {.size_ms = WindowMs(profile), .slide_ms = WindowMs(profile)}; }

/// What the benchmark counts an event by.
Oracle<YsbEvent>::KeyOf KeyOf(Profile profile) {
  std::map<std::uint64_t, std::uint64_t> campaigns;
  for (const Ad& ad : AllAds()) {
    campaigns.emplace(ad.id, ad.campaign);
  }
  return [profile, campaigns](const YsbEvent& event) -> std::optional<std::uint64_t> {
    if (event.event_type != EventType::kView) {
      return std::nullopt;
    }
    const std::uint64_t ad_id = event.ad_id;
    return profile == Profile::kSlash ? ad_id : campaigns.at(ad_id);
  };
}

absl::Status VerifyYsb(Profile profile, const QueryRun<YsbEvent>& run) {
  return Verify<CountAccount<YsbEvent>>(run, WindowsOf(profile), KeyOf(profile));
}

class YsbCluster : public ::testing::TestWithParam<ClusterShape<Profile>> {};

TEST_P(YsbCluster, EveryWindowKeyAndCountIsThatOfASequentialRun) {
  const auto [nodes, executors, profile] = GetParam();
  for (const std::uint64_t seed : {1U, 2U}) {
    const QueryRun<YsbEvent> run =
        RunYsb(profile, {.nodes = nodes, .executors = executors, .seed = seed, .records = 20'000, .keys = 3'000},
               {.repetitions = 2});
    ExpectRight(run, [&](const auto& right) { return VerifyYsb(profile, right); }, 0);
  }
}

TEST_P(YsbCluster, EventsOutOfOrderCountUnlessTheyAreLate) {
  const auto [nodes, executors, profile] = GetParam();
  const QueryRun<YsbEvent> run =
      RunYsb(profile, {.nodes = nodes, .executors = executors, .seed = 4, .records = 10'000, .keys = 3'000},
             {.repetitions = 2, .watermark_every = 64, .allowed_lateness_ms = WindowMs(profile) / 4},
             /*disorder_ms=*/2 * WindowMs(profile));
  ExpectRight(
      run, [&](const auto& right) { return VerifyYsb(profile, right); },
      [&](const auto& right) { return CountLateRecords(right, WindowsOf(profile), KeyOf(profile)); });
}

TEST_P(YsbCluster, AHotKeyAndSmallSlotsStayExact) {
  const auto [nodes, executors, profile] = GetParam();
  const QueryRun<YsbEvent> run = RunYsb(profile,
                                        {.nodes = nodes,
                                         .executors = executors,
                                         .seed = 3,
                                         .records = 10'000,
                                         .keys = 100'000,
                                         .hot_share = 0.8,
                                         .slot_bytes = 256,
                                         .credits = 2,
                                         .fragment_bytes = 8192},
                                        {.repetitions = 1});
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyYsb(profile, run), absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(Shapes, YsbCluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U, 4U), ::testing::Values(1U, 2U),
                                            ::testing::Values(Profile::kSlash, Profile::kYahoo)),
                         [](const auto& shape) {
                           const bool slash = std::get<2>(shape.param) == Profile::kSlash;
                           return NameOfShape(shape.param, slash ? "Slash" : "Yahoo");
                         });

class YsbWrongResult : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = RunYsb(Profile::kSlash, {.nodes = 2, .executors = 1, .records = 5'000, .keys = 500}, {.repetitions = 1});
    ASSERT_TRUE(run_.status.ok()) << run_.status;
    ASSERT_EQ(Verdict(), absl::OkStatus());
    ASSERT_GT(run_.rows[0].size(), 10U);
  }

  absl::Status Verdict() const { return VerifyYsb(Profile::kSlash, run_); }

  QueryRun<YsbEvent> run_;
};

TEST_F(YsbWrongResult, ACountThatIsOffByOneIsCaught) {
  ++run_.rows[0][5].value;
  EXPECT_TRUE(absl::IsDataLoss(Verdict()));
}

TEST_F(YsbWrongResult, AMissingRowIsNamed) {
  const ResultRow row = run_.rows[1].back();
  run_.rows[1].pop_back();
  const absl::Status verdict = Verdict();
  EXPECT_TRUE(absl::IsDataLoss(verdict));
  EXPECT_TRUE(
      absl::StrContains(verdict.message(), absl::StrCat("window ", row.window_start_ms, " to ", row.window_end_ms,
                                                        " key ", row.key, " value ", row.value, ": missing")))
      << verdict;
}

TEST_F(YsbWrongResult, ARowThatAnotherLeaderHasToEmitIsNamed) {
  const ResultRow row = run_.rows[1].back();
  run_.rows[1].pop_back();
  run_.rows[0].push_back(row);
  const absl::Status verdict = Verdict();
  EXPECT_TRUE(absl::IsDataLoss(verdict));
  EXPECT_TRUE(absl::StrContains(verdict.message(),
                                absl::StrCat("executor 0 emitted window ", row.window_start_ms, " key ", row.key)))
      << verdict;
  EXPECT_TRUE(absl::StrContains(verdict.message(), "executor 1 leads that key")) << verdict;
}

TEST_F(YsbWrongResult, ARowThatTwoLeadersEmitIsCaughtEvenIfAnotherOfTheSameCountIsMissing) {
  for (std::size_t i = 0; i < run_.rows[1].size(); ++i) {
    if (run_.rows[1][i].value == run_.rows[0][0].value) {
      run_.rows[1][i] = run_.rows[0][0];
      break;
    }
  }
  EXPECT_TRUE(absl::IsDataLoss(Verdict()));
}

TEST_F(YsbWrongResult, ARowInTheWrongWindowIsCaught) {
  run_.rows[0][0].window_start_ms += kSlashWindowMs;
  EXPECT_TRUE(absl::IsDataLoss(Verdict()));
}

}  // namespace
}  // namespace glaive::queries::ysb
