// The queries of NEXMark's suite whole, on several cluster shapes, with events out of order, checked by the oracle; and
// wrong results are caught.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/nexmark/suite/event_input.h"
#include "queries/nexmark/suite/line_check.h"
#include "queries/nexmark/suite/queries.h"
#include "tests/engine/cluster_harness.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::nexmark::suite {
namespace {

using Lines = std::vector<std::string>;

const QueryDefinition& QueryOf(std::string_view name) {
  return *std::ranges::find(AllQueries(), name, &QueryDefinition::name);
}

/// Events in a scattered order, made into memory or live; of them only the texts that the query reads, with a small
/// extra, so that q14 has no c at times.
EventInput InputOf(const QueryDefinition& query, Generate generate, events::Rules rules = events::Rules::kFlink) {
  return {.events = {.rules = rules, .texts = query.texts, .disorder_group = 300, .bid_bytes = 50},
          .generate = generate,
          .records = query.name == "q2" ? 10'000U : 2'000U};
}

/// A run's lines by executor, and what they should be.
struct LinesOfRun {
  absl::Status status;
  std::vector<Lines> emitted;
  std::vector<Lines> expected;
};

LinesOfRun RunSuite(const QueryDefinition& query, const EventInput& input, std::uint32_t nodes,
                    std::uint32_t executors) {
  const engine::Workload cluster{.nodes = nodes, .executors = executors, .records = input.records};
  const auto generator = std::make_shared<const events::EventGenerator>(input.events, cluster.executor_count());
  const RowSinks sinks({.output = "", .retain = true, .most_bytes = 1 << 30}, cluster.executor_count());
  LinesOfRun run;
  std::vector<engine::ExecutorMetrics> metrics;
  run.status = engine::RunNodes(cluster, *query.build(SourceOf(input, generator), sinks), metrics);
  EventFlows flows{.generator = generator.get(), .records_read = {}};
  for (const engine::ExecutorMetrics& executor : metrics) {
    flows.records_read.push_back(executor.records);
  }
  for (std::uint32_t executor = 0; executor < cluster.executor_count(); ++executor) {
    run.emitted.push_back(sinks.TakeLines(executor));
    EXPECT_EQ(flows.records_read[executor], input.records);
    run.expected.emplace_back();
    run.status.Update(
        query.recompute(flows.Of(executor), [&](std::string line) { run.expected.back().push_back(std::move(line)); }));
  }
  return run;
}

class NexmarkSuite : public ::testing::TestWithParam<ClusterShape<std::string>> {};

TEST_P(NexmarkSuite, RowsAreThoseOfASequentialProgram) {
  const auto& [nodes, executors, name] = GetParam();
  const QueryDefinition& query = QueryOf(name);
  for (const Generate generate : {Generate::kMemory, Generate::kLive}) {
    const LinesOfRun run = RunSuite(query, InputOf(query, generate), nodes, executors);
    ASSERT_EQ(run.status, absl::OkStatus());
    for (std::size_t executor = 0; executor < run.emitted.size(); ++executor) {
      EXPECT_GT(run.emitted[executor].size(), 3U);
      EXPECT_EQ(CompareLines(name, run.emitted[executor], run.expected[executor]), absl::OkStatus());
    }
  }
}

std::vector<std::string> NamesOfSuite() {
  std::vector<std::string> names;
  for (const QueryDefinition& query : AllQueries()) {
    names.emplace_back(query.name);
  }
  return names;
}

/// Every query on all shapes.
std::vector<ClusterShape<std::string>> ShapesOfSuite() {
  std::vector<ClusterShape<std::string>> shapes;
  for (const std::string& name : NamesOfSuite()) {
    for (const auto& [nodes, executors] :
         {std::pair(1U, 1U), std::pair(1U, 2U), std::pair(2U, 1U), std::pair(3U, 1U)}) {
      shapes.emplace_back(nodes, executors, name);
    }
  }
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Queries, NexmarkSuite, ::testing::ValuesIn(ShapesOfSuite()),
                         [](const auto& shape) { return NameOfShape(shape.param, std::get<2>(shape.param)); });

TEST(NexmarkSuiteTest, WrongResultsOfEachQueryAreCaught) {
  for (const QueryDefinition& query : AllQueries()) {
    const LinesOfRun run = RunSuite(query, InputOf(query, Generate::kMemory), 1, 1);
    const Lines& right = run.emitted[0];
    ASSERT_GT(right.size(), 3U);
    const std::vector<std::pair<std::string, std::function<void(Lines&)>>> wrongs = {
        {"a last digit", [](Lines& lines) { lines[2].back() ^= 1; }},
        {"a first digit", [](Lines& lines) { lines[1].front() ^= 1; }},
        {"a missing row", [](Lines& lines) { lines.pop_back(); }},
        {"a row emitted twice", [](Lines& lines) { lines.push_back(lines[0]); }},
        {"a row in another's place", [](Lines& lines) { lines[0] = lines[1] + "x"; }}};
    for (const auto& [what, plant] : wrongs) {
      Lines wrong = right;
      plant(wrong);
      EXPECT_TRUE(absl::IsDataLoss(CompareLines(std::string(query.name), wrong, run.expected[0]))) << what;
    }
  }
}

/// The lines of the first executor's bids, in their order.
Lines LinesOf(std::string_view name, events::Rules rules = events::Rules::kFlink) {
  const QueryDefinition& query = QueryOf(name);
  EventInput input = InputOf(query, Generate::kMemory, rules);
  input.events.disorder_group = 1;
  return RunSuite(query, input, 1, 1).emitted[0];
}

TEST(NexmarkSuiteTest, RowsOfTheFirstBidAreAsByHand) {
  // Bid 4 of the stream: auction 1000, bidder 1001, price 32,530,001, channel Google.
  EXPECT_THAT(LinesOf("q0")[0], testing::StartsWith("1000,1001,32530001,1436918400000,"));
  EXPECT_THAT(LinesOf("q1")[0], testing::StartsWith("1000,1001,29537240.908,1436918400000,"));
  EXPECT_THAT(LinesOf("q14")[0], testing::StartsWith("1000,1001,29537240.908,nightTime,1436918400000,"));
  EXPECT_EQ(LinesOf("q21")[0], "1000,1001,32530001,Google,1");
  EXPECT_THAT(LinesOf("q22")[0], testing::StartsWith("1000,1001,32530001,Google,"));
  EXPECT_EQ(LinesOf("q21", events::Rules::kRenoir)[0], "1000,1001,73134520,channel-7568,163053568");
  EXPECT_EQ(LinesOf("q22", events::Rules::kRenoir)[0], "1000,1001,73134520,channel-7568,rswp,bsu,_gzj");
  for (const std::string& line : LinesOf("q2")) {
    EXPECT_THAT(line, testing::StartsWith("1"));
  }
}

TEST(NexmarkSuiteTest, ComparedLinesAreNamed) {
  EXPECT_EQ(CompareLines("q", {"a", "b", "b"}, {"b", "a", "b"}), absl::OkStatus());
  EXPECT_EQ(
      CompareLines("q9", {"a", "b", "b"}, {"a", "b", "c"}),
      absl::DataLossError("q9 results are wrong; 1 wrong, unexpected or emitted again, the first: \"b\"; 1 missing, "
                          "the first: \"c\""));
  EXPECT_EQ(CompareLines("q9", {"a"}, {"a", "a"}),
            absl::DataLossError("q9 results are wrong; 1 missing, the first: \"a\""));
}

TEST(NexmarkSuiteTest, RowsBeyondWhatWasPlannedEndTheRun) {
  const QueryDefinition& query = QueryOf("q0");
  const EventInput input = InputOf(query, Generate::kMemory);
  const engine::Workload cluster{.records = input.records};
  const auto generator = std::make_shared<const events::EventGenerator>(input.events, 1);
  const RowSinks sinks({.output = "", .retain = true, .most_bytes = 10'000}, 1);
  std::vector<engine::ExecutorMetrics> metrics;
  const absl::Status status = engine::RunNodes(cluster, *query.build(SourceOf(input, generator), sinks), metrics);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

}  // namespace
}  // namespace glaive::queries::nexmark::suite
