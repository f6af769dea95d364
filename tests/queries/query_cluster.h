// A query over generated input on a whole cluster in one process, and what --verify makes of its results. For tests of
// the queries; the cluster is tests/engine/cluster_harness.h's.
//
//   const QueryRun<Bid> run = RunQuery<BidTime>(cluster, std::make_shared<BidGenerator>(input), reading,
//                                               [](const auto& bids, const auto& sinks) { return BuildNb7(...); });
//   EXPECT_EQ(Verify<HighestPrice>(run, {.size_ms = 1000, .slide_ms = 1000}, key_of), absl::OkStatus());
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "queries/common/leader_rows.h"
#include "queries/common/oracle.h"
#include "queries/common/result_sinks.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::queries {

/// How the executors read their input.
struct Reading {
  std::uint64_t repetitions = 1;
  std::int64_t span_ms = 0;           // that a repetition moves event time on by
  std::uint64_t watermark_every = 0;  // 0: the input is in order
  std::int64_t allowed_lateness_ms = 0;
};

/// A run: what was read, and what each leader emitted.
template <typename R>
struct QueryRun {
  engine::Workload cluster;
  std::shared_ptr<const Generator<R>> generator;
  CheckedInput<R> input;
  absl::Status status;
  std::vector<std::vector<ResultRow>> rows = {};  // by leader
  std::vector<engine::ExecutorMetrics> metrics = {};

  std::uint64_t Total(std::uint64_t engine::ExecutorMetrics::* counter) const {
    return std::accumulate(metrics.begin(), metrics.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, const auto& executor) { return sum + executor.*counter; });
  }
};

/// Runs `build(events, sinks)` on the cluster; each executor reads `cluster.records` records, or repeats them.
template <typename EventTime, typename R, typename Build>
QueryRun<R> RunQuery(const engine::Workload& cluster, std::shared_ptr<const Generator<R>> generator,
                     const Reading& reading, const Build& build) {
  const engine::BlockSourceOptions block{.block_records = cluster.records,
                                         .total_records = cluster.records * reading.repetitions,
                                         .span_ms = reading.span_ms,
                                         .batch_records = cluster.batch_records,
                                         .watermark_every = reading.watermark_every};
  const auto open = [&](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<R> records) {
      generator->Fill(Value(context.executor), first, records);
    };
    return engine::BlockSource<R, EventTime>::Create(block, *context.clock, generate, EventTime{});
  };
  const engine::SourceSpec<R, EventTime> events{.open = open, .event_time_ms = {}};
  const ResultSinks sinks({.output = "", .retain = true, .max_rows = UINT64_MAX}, cluster.executor_count());
  QueryRun<R> run{.cluster = cluster,
                  .generator = generator,
                  .input = {.generator = generator.get(),
                            .event_time_ms = EventTime{},
                            .block_records = cluster.records,
                            .block_span_ms = reading.span_ms,
                            .watermark_every = std::max<std::uint64_t>(1, reading.watermark_every),
                            .allowed_lateness_ms = reading.allowed_lateness_ms},
                  .status = {}};
  run.status = engine::RunNodes(cluster, *build(events, sinks), run.metrics);
  run.rows = sinks.retained();
  for (const engine::ExecutorMetrics& metrics : run.metrics) {
    if (cluster.roles().Reads(ExecutorId{metrics.executor})) {
      run.input.record_counts.push_back(metrics.records);
    }
  }
  return run;
}

/// What --verify does: every node checks the rows of its leaders, by `check(rows, leads)`, and one of them the totals
/// of all. `keys`: whether the leader of a row's key has to have it.
template <typename Check>
absl::Status VerifyNodes(const engine::Workload& cluster, const std::vector<std::vector<ResultRow>>& rows_by_leader,
                         const Check& check, Keys keys = Keys::kLed) {
  std::vector<std::string> nodes;
  for (std::uint32_t node = 0; node < cluster.nodes; ++node) {
    engine::RunFacts facts{.roles = cluster.roles(),
                           .records_read = {},
                           .executors = {},
                           .key_hash = state::KeyHash(engine::RunTokenOf(cluster))};
    for (std::uint32_t i = 0; i < cluster.executors; ++i) {
      facts.executors.push_back(ExecutorId{node * cluster.executors + i});
    }
    const absl::StatusOr<LeaderRows> rows = RowsOfLeaders("query", rows_by_leader, facts, keys);
    if (!rows.ok()) {
      return rows.status();
    }
    const Verdict verdict = check(rows->rows, rows->leads);
    if (!verdict.status.ok()) {
      return verdict.status;
    }
    nodes.push_back(EncodeTotals(verdict));
  }
  return CheckAllTotals("query", nodes);
}
template <typename Account, typename R>
absl::Status Verify(const QueryRun<R>& run, const CheckedWindows& windows, const typename Oracle<R>::KeyOf& key_of,
                    Keys keys = Keys::kLed) {
  const Oracle<R> oracle("query", run.input, windows);
  return VerifyNodes(
      run.cluster, run.rows,
      [&](const std::vector<ResultRow>& rows, const RowCheck::Leads& leads) {
        return oracle.template Check<Account>(key_of, rows, leads);
      },
      keys);
}

/// What holds of a run whose rows `verify(run)` finds right, and of whose records so many were late.
template <typename Run, typename Verify>
void ExpectRight(const Run& run, const Verify& verify, std::uint64_t late) {
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(verify(run), absl::OkStatus());
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records), late);
}
/// Likewise; some were late, and `late(run)` counts them.
template <typename Run, typename Verify, typename CountLate>
  requires std::invocable<const CountLate&, const Run&>
void ExpectRight(const Run& run, const Verify& verify, const CountLate& count_late) {
  const std::uint64_t late = count_late(run);
  EXPECT_GT(late, 0U);
  ExpectRight(run, verify, late);
}

/// How many records had a key, and came when all of their windows had closed. Windows overlap or follow each other.
template <typename R>
std::uint64_t CountLateRecords(const QueryRun<R>& run, const CheckedWindows& windows,
                               const typename Oracle<R>::KeyOf& key_of) {
  std::uint64_t late = 0;
  for (std::uint32_t executor = 0; executor < run.cluster.executor_count(); ++executor) {
    for (FlowReader<R> flow(run.input, executor); !flow.done(); flow.Advance()) {
      const std::int64_t last_start_ms = flow.event_time_ms() - flow.event_time_ms() % windows.slide_ms;
      late += key_of(flow.record()) && last_start_ms + windows.size_ms <= flow.watermark_ms() ? 1 : 0;
    }
  }
  return late;
}

/// Plants wrong results in a run that is right, and expects `verify(run)` to find each of them.
template <typename Run, typename Verify>
void ExpectWrongResultsAreCaught(const Run& run, const Verify& verify) {
  using Rows = std::vector<std::vector<ResultRow>>;
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_EQ(verify(run), absl::OkStatus());
  ASSERT_GT(run.rows.size(), 1U);
  ASSERT_GT(run.rows[0].size(), 3U);
  ASSERT_GT(run.rows[1].size(), 3U);
  const std::vector<std::pair<std::string, std::function<void(Rows&)>>> wrongs = {
      {"a value off by its last bit", [](Rows& rows) { rows[0][2].value ^= 1; }},
      {"a missing row", [](Rows& rows) { rows[1].pop_back(); }},
      {"a row emitted twice", [](Rows& rows) { rows[1].push_back(rows[1][0]); }},
      {"a row of another leader", [](Rows& rows) { rows[0].push_back(rows[1][0]); }},
      {"a window that starts elsewhere", [](Rows& rows) { rows[0][1].window_start_ms += 1'000; }},
      {"a window that ends elsewhere", [](Rows& rows) { rows[0][1].window_end_ms -= 1'000; }}};
  for (const auto& [what, plant] : wrongs) {
    Run wrong = run;
    plant(wrong.rows);
    EXPECT_NE(wrong.rows, run.rows) << what;
    EXPECT_TRUE(absl::IsDataLoss(verify(wrong))) << what;
  }
}

/// {nodes, executors of a node, ...}, for INSTANTIATE_TEST_SUITE_P.
template <typename... Query>
using ClusterShape = std::tuple<std::uint32_t, std::uint32_t, Query...>;

template <typename... Query>
std::string NameOfShape(const ClusterShape<Query...>& shape, const std::string& query = "") {
  return absl::StrCat("Nodes", std::get<0>(shape), "Executors", std::get<1>(shape), query);
}

}  // namespace glaive::queries
