// YSB itself, whole: both profiles over several cluster shapes, each leader's rows checked by the oracle and the totals
// over all of them; and a result that was tampered with is caught.

#include "queries/ysb/ysb_query.h"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/sink/collect.h"
#include "queries/ysb/leader_check.h"
#include "queries/ysb/oracle.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::queries::ysb {
namespace {

using engine::ExecutorMetrics;
using engine::Workload;

/// A run of YSB: what it was and what each leader emitted.
struct YsbRun {
  GeneratorOptions generator;
  engine::BlockSourceOptions block;
  absl::Status status;
  std::vector<std::vector<YsbRow>> rows;  // by leader
  std::vector<ExecutorMetrics> metrics;
};

YsbRun RunYsb(Profile profile, const Workload& cluster, std::uint64_t repetitions) {
  YsbRun run;
  run.generator.profile = profile;
  run.generator.seed = cluster.seed;
  run.generator.keys = cluster.keys;
  run.generator.hot_key_share = cluster.hot_share;
  run.generator.window_ms = profile == Profile::kSlash ? kSlashWindowMs : kYahooWindowMs;
  run.generator.rate = {.records = cluster.records, .span_ms = 10 * run.generator.window_ms};
  run.block = {.block_records = cluster.records,
               .total_records = cluster.records * repetitions,
               .span_ms = run.generator.rate.span_ms};
  run.rows.resize(cluster.executor_count());
  const auto query =
      BuildYsb(run.generator, run.block, engine::AllOf<YsbRow>({engine::Collect(run.rows).Factory<YsbRow>()}));
  Workload shape = cluster;
  shape.max_lead_ms = 4 * run.generator.window_ms;
  run.status = engine::RunNodes(shape, *query, run.metrics);
  return run;
}

/// What --verify does: every leader's rows, then the totals.
absl::Status Verify(const YsbRun& run) {
  OracleOptions options;
  options.generator = run.generator;
  options.block_records = run.block.block_records;
  options.block_span_ms = run.block.span_ms;
  for (const ExecutorMetrics& metrics : run.metrics) {
    options.record_counts.push_back(metrics.records);
  }
  const Oracle oracle(options);
  Totals expected;
  Totals emitted;
  for (std::uint32_t executor = 0; executor < run.rows.size(); ++executor) {
    const Oracle::Verdict verdict = CheckLeaders(oracle, run.rows, std::vector{ExecutorId{executor}});
    if (!verdict.status.ok()) {
      return verdict.status;
    }
    expected = verdict.expected;
    emitted.Merge(verdict.emitted);
  }
  return CheckTotals(expected, emitted);
}

class YsbCluster : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, Profile>> {};

TEST_P(YsbCluster, EveryWindowKeyAndCountIsThatOfASequentialRun) {
  const auto [nodes, executors, profile] = GetParam();
  for (const std::uint64_t seed : {1U, 2U}) {
    const YsbRun run =
        RunYsb(profile, {.nodes = nodes, .executors = executors, .seed = seed, .records = 20'000, .keys = 3'000},
               /*repetitions=*/2);
    ASSERT_TRUE(run.status.ok()) << run.status;
    const absl::Status verdict = Verify(run);
    EXPECT_TRUE(verdict.ok()) << verdict;
  }
}

TEST_P(YsbCluster, AHotKeyAndSmallSlotsStayExact) {
  const auto [nodes, executors, profile] = GetParam();
  const YsbRun run = RunYsb(profile,
                            {.nodes = nodes,
                             .executors = executors,
                             .seed = 3,
                             .records = 10'000,
                             .keys = 100'000,
                             .hot_share = 0.8,
                             .slot_bytes = 256,
                             .credits = 2,
                             .fragment_bytes = 8192},
                            /*repetitions=*/1);
  ASSERT_TRUE(run.status.ok()) << run.status;
  const absl::Status verdict = Verify(run);
  EXPECT_TRUE(verdict.ok()) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Shapes, YsbCluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U, 4U), ::testing::Values(1U, 2U),
                                            ::testing::Values(Profile::kSlash, Profile::kYahoo)),
                         [](const auto& shape) {
                           return "Nodes" + std::to_string(std::get<0>(shape.param)) + "Executors" +
                                  std::to_string(std::get<1>(shape.param)) +
                                  (std::get<2>(shape.param) == Profile::kSlash ? "Slash" : "Yahoo");
                         });

class PlantedWrongResult : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = RunYsb(Profile::kSlash, {.nodes = 2, .executors = 1, .records = 5'000, .keys = 500}, /*repetitions=*/1);
    ASSERT_TRUE(run_.status.ok()) << run_.status;
    ASSERT_TRUE(Verify(run_).ok());
    ASSERT_GT(run_.rows[0].size(), 10U);
  }

  YsbRun run_;
};

TEST_F(PlantedWrongResult, ACountThatIsOffByOneIsCaught) {
  ++run_.rows[0][5].value;
  EXPECT_TRUE(absl::IsDataLoss(Verify(run_)));
}

TEST_F(PlantedWrongResult, AMissingRowIsNamed) {
  const YsbRow row = run_.rows[1].back();
  run_.rows[1].pop_back();
  const absl::Status verdict = Verify(run_);
  EXPECT_TRUE(absl::IsDataLoss(verdict));
  EXPECT_TRUE(absl::StrContains(verdict.message(), absl::StrCat("window ", row.window_start_ms, " key ", row.key,
                                                                " count ", row.value, ": missing")))
      << verdict;
}

TEST_F(PlantedWrongResult, ARowThatAnotherLeaderHasToEmitIsNamed) {
  const YsbRow row = run_.rows[1].back();
  run_.rows[1].pop_back();
  run_.rows[0].push_back(row);
  const absl::Status verdict = Verify(run_);
  EXPECT_TRUE(absl::IsDataLoss(verdict));
  EXPECT_TRUE(absl::StrContains(verdict.message(),
                                absl::StrCat("executor 0 emitted window ", row.window_start_ms, " key ", row.key)))
      << verdict;
  EXPECT_TRUE(absl::StrContains(verdict.message(), "executor 1 leads that key")) << verdict;
}

TEST_F(PlantedWrongResult, ARowThatTwoLeadersEmitIsCaughtEvenIfAnotherOfTheSameCountIsMissing) {
  for (std::size_t i = 0; i < run_.rows[1].size(); ++i) {
    if (run_.rows[1][i].value == run_.rows[0][0].value) {
      run_.rows[1][i] = run_.rows[0][0];
      break;
    }
  }
  EXPECT_TRUE(absl::IsDataLoss(Verify(run_)));
}

TEST_F(PlantedWrongResult, ARowInTheWrongWindowIsCaught) {
  run_.rows[0][0].window_start_ms += run_.generator.window_ms;
  EXPECT_TRUE(absl::IsDataLoss(Verify(run_)));
}

}  // namespace
}  // namespace glaive::queries::ysb
