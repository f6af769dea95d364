// The queries of NEXMark's suite whole, on several cluster shapes, with events out of order, checked by the oracle; and
// wrong results are caught.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/line_check.h"
#include "engine/sink/results.h"
#include "queries/nexmark/suite/event_input.h"
#include "queries/nexmark/suite/queries.h"
#include "tests/engine/cluster_harness.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::nexmark::suite {
namespace {

using Lines = std::vector<std::string>;

const QueryDefinition& QueryOf(std::string_view name) {
  return *std::ranges::find(AllQueries(), name, &QueryDefinition::name);
}

/// Whether events can be late for it.
bool HasWindows(const QueryDefinition& query) {
  static constexpr std::array kWithWindows = {"q5", "q7", "q8", "q11", "q15", "q16", "q17"};
  return std::ranges::find(kWithWindows, query.name) != kWithWindows.end();
}

/// Events in a scattered order, made into memory or live; of them only the texts that the query reads, with a small
/// extra, so that q14 has no c at times. Many auctions end, and no seller has most of them.
EventInput InputOf(const QueryDefinition& query, Generate generate, events::Rules rules = events::Rules::kFlink) {
  const bool reads_few = query.name == "q2" || (query.emitter == Emitter::kLeader && !HasWindows(query));
  return {.events = {.rules = rules,
                     .texts = query.texts,
                     .event_rate = 1'000,
                     .disorder_group = 300,
                     .bid_bytes = 50,
                     .hot_seller_ratio = 1},
          .generate = generate,
          .records = reads_few ? 10'000U : 2'000U};
}

/// Rows of a query, held in memory for so many executors.
std::shared_ptr<engine::RetainedLines> RetainFor(std::uint32_t executor_count,
                                                 std::int64_t most_bytes = std::int64_t{1} << 30) {
  auto retained = std::make_shared<engine::RetainedLines>(most_bytes);
  retained->by_executor.resize(executor_count);
  return retained;
}

absl::Status Compare(Lines emitted, Lines expected) {
  return engine::CompareLines(expected, emitted, /*all_are_here=*/true);
}

/// A run's lines and what they should be: by executor, or of queries with leaders together.
struct LinesOfRun {
  absl::Status status;
  std::uint64_t late_records = 0;
  std::vector<Lines> emitted;
  std::vector<Lines> expected;
};

LinesOfRun RunSuite(const QueryDefinition& query, const EventInput& input, std::uint32_t nodes, std::uint32_t executors,
                    SuiteOptions options = {}) {
  const engine::Workload cluster{
      .nodes = nodes, .executors = executors, .records = input.records, .max_lead_ms = 60'000};
  const auto generator = std::make_shared<const events::EventGenerator>(input.events, cluster.executor_count());
  const auto retained = RetainFor(cluster.executor_count());
  options.allowed_lateness = input.lateness();
  options.processing_time_window = absl::Milliseconds(5);
  options.read_times = std::make_shared<ReadTimes>(input.records * cluster.executor_count(), ExecutorId{0});
  LinesOfRun run;
  std::vector<engine::ExecutorMetrics> metrics;
  run.status = engine::RunNodes(
      cluster, *query.build(SourceOf(input, generator), options, engine::Results("", retained)), metrics);
  EventFlows flows{.generator = generator.get(),
                   .records_read = {},
                   .watermark_every = input.events.disorder_group == 1 ? 1 : input.watermark_every,
                   .allowed_lateness_ms = absl::ToInt64Milliseconds(input.lateness())};
  for (const engine::ExecutorMetrics& executor : metrics) {
    flows.records_read.push_back(executor.records);
    run.late_records += executor.late_records;
    EXPECT_EQ(executor.records, input.records);
  }
  const auto recompute = [&](const EventFlows& of, Lines& lines) {
    run.status.Update(query.recompute(of, options, [&](std::string line) { lines.push_back(std::move(line)); }));
  };
  run.emitted.emplace_back();
  for (std::uint32_t executor = 0; executor < cluster.executor_count(); ++executor) {
    if (query.emitter == Emitter::kLeader) {
      std::ranges::move(retained->by_executor[executor], std::back_inserter(run.emitted[0]));
      continue;
    }
    run.emitted.resize(executor + 1);
    run.expected.resize(executor + 1);
    run.emitted[executor] = std::move(retained->by_executor[executor]);
    recompute(flows.Of(executor), run.expected[executor]);
  }
  if (query.emitter == Emitter::kLeader) {
    recompute(flows, run.expected.emplace_back());
  }
  return run;
}

/// The same at an event rate so low that there are many windows, of the length that queries have by default.
EventInput InputOfWindows(const QueryDefinition& query, Generate generate) {
  const bool is_by_day = query.name == "q15" || query.name == "q16" || query.name == "q17";
  EventInput input = InputOf(query, generate);
  input.events.event_rate = is_by_day ? 1 : 20;
  input.records = query.name == "q15" ? 200'000 : is_by_day ? 90'000 : 4'000;  // days, so that there are three rows
  input.events.disorder_group = is_by_day ? 10'000 : 700;
  input.events.active_people = 10;  // so that many sell in the window in which they register
  return input;
}

class NexmarkSuite : public ::testing::TestWithParam<ClusterShape<std::string>> {};

TEST_P(NexmarkSuite, RowsAreThoseOfASequentialProgram) {
  const auto& [nodes, executors, name] = GetParam();
  const QueryDefinition& query = QueryOf(name);
  for (const Generate generate : {Generate::kMemory, Generate::kLive}) {
    const EventInput input = HasWindows(query) ? InputOfWindows(query, generate) : InputOf(query, generate);
    const LinesOfRun run = RunSuite(query, input, nodes, executors);
    EXPECT_EQ(run.late_records, 0U);
    ASSERT_EQ(run.status, absl::OkStatus());
    for (std::size_t executor = 0; executor < run.emitted.size(); ++executor) {
      EXPECT_GE(run.emitted[executor].size(), 3U);
      EXPECT_EQ(Compare(run.emitted[executor], run.expected[executor]), absl::OkStatus());
    }
  }
}

class NexmarkWindows : public NexmarkSuite {};

TEST_P(NexmarkWindows, LateEventsDoNotCount) {
  const auto& [nodes, executors, name] = GetParam();
  const QueryDefinition& query = QueryOf(name);
  EventInput input = InputOfWindows(query, Generate::kMemory);
  input.allowed_lateness = absl::Seconds(1);
  input.watermark_every = 50;
  const LinesOfRun run = RunSuite(query, input, nodes, executors);
  ASSERT_EQ(run.status, absl::OkStatus());
  EXPECT_GT(run.late_records, 0U);
  EXPECT_EQ(Compare(run.emitted[0], run.expected[0]), absl::OkStatus());
}

/// Those queries on all shapes.
std::vector<ClusterShape<std::string>> ShapesOf(const std::function<bool(const QueryDefinition&)>& is_wanted) {
  std::vector<ClusterShape<std::string>> shapes;
  for (const QueryDefinition& query : AllQueries()) {
    if (is_wanted(query)) {
      for (const auto& [nodes, executors] : {std::pair(1, 1), std::pair(1, 2), std::pair(2, 1), std::pair(3, 1)}) {
        shapes.emplace_back(nodes, executors, std::string(query.name));
      }
    }
  }
  return shapes;
}

std::string NameOfCase(const ::testing::TestParamInfo<ClusterShape<std::string>>& shape) {
  return NameOfShape(shape.param, std::get<2>(shape.param));
}

INSTANTIATE_TEST_SUITE_P(Queries, NexmarkSuite,
                         ::testing::ValuesIn(ShapesOf([](const QueryDefinition&) { return true; })), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Queries, NexmarkWindows, ::testing::ValuesIn(ShapesOf(&HasWindows)), NameOfCase);

TEST(NexmarkSuiteTest, WrongResultsOfEachQueryAreCaught) {
  for (const QueryDefinition& query : AllQueries()) {
    const EventInput input =
        HasWindows(query) ? InputOfWindows(query, Generate::kMemory) : InputOf(query, Generate::kMemory);
    const LinesOfRun run = RunSuite(query, input, 1, 1);
    const Lines& right = run.emitted[0];
    ASSERT_GE(right.size(), 3U);
    const std::vector<std::pair<std::string, std::function<void(Lines&)>>> wrongs = {
        {"a last digit", [](Lines& lines) { lines[2].back() ^= 1; }},
        {"a first digit", [](Lines& lines) { lines[1].front() ^= 1; }},
        {"a missing row", [](Lines& lines) { lines.pop_back(); }},
        {"a row emitted twice", [](Lines& lines) { lines.push_back(lines[0]); }},
        {"a row in another's place", [](Lines& lines) { lines[0] = lines[1] + "x"; }}};
    for (const auto& [what, plant] : wrongs) {
      Lines wrong = right;
      plant(wrong);
      EXPECT_TRUE(absl::IsDataLoss(Compare(wrong, run.expected[0]))) << what;
    }
  }
}

/// The lines of the first executor's bids, in their order.
Lines LinesOf(std::string_view name, events::Rules rules = events::Rules::kFlink) {
  const QueryDefinition& query = QueryOf(name);
  EventInput input = InputOf(query, Generate::kMemory, rules);
  input.events.disorder_group = 1;
  input.events.event_rate = 10'000;
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

TEST(NexmarkSuiteTest, OneHotItemIsTheFirstOfThoseThatTie) {
  const QueryDefinition& query = QueryOf("q5");
  const EventInput input = InputOfWindows(query, Generate::kMemory);
  const LinesOfRun all = RunSuite(query, input, 1, 2);
  const LinesOfRun one = RunSuite(query, input, 1, 2, {.one_hot_item = true});
  ASSERT_EQ(one.status, absl::OkStatus());
  EXPECT_EQ(Compare(one.emitted[0], one.expected[0]), absl::OkStatus());
  EXPECT_LT(one.emitted[0].size(), all.emitted[0].size());
  EXPECT_THAT(all.emitted[0], testing::IsSupersetOf(one.emitted[0]));
}

TEST(NexmarkSuiteTest, BidsWithoutARowOfTheSideInputHaveNone) {
  const QueryDefinition& query = QueryOf("q13");
  const EventInput input = InputOf(query, Generate::kMemory);
  const auto table = std::make_shared<const SideInput>(SideInput{{1'000, "a, \"b\""}, {1'001, ""}, {1'003, "c"}});
  const LinesOfRun all = RunSuite(query, input, 1, 2);
  const LinesOfRun some = RunSuite(query, input, 1, 2, {.side_input = table});
  ASSERT_EQ(some.status, absl::OkStatus());
  for (std::size_t executor = 0; executor < 2; ++executor) {
    EXPECT_EQ(Compare(some.emitted[executor], some.expected[executor]), absl::OkStatus());
    EXPECT_GT(some.emitted[executor].size(), 0U);
    EXPECT_LT(some.emitted[executor].size(), all.emitted[executor].size());
  }
  EXPECT_THAT(some.emitted[0], testing::Contains(testing::EndsWith(",\"a, \"\"b\"\"\"")));
}

TEST(NexmarkSuiteTest, TimesOfReadingAreThoseOfTheBidsThatWereRead) {
  const QueryDefinition& query = QueryOf("q12");
  const EventInput input = InputOf(query, Generate::kMemory);
  const auto generator = std::make_shared<const events::EventGenerator>(input.events, 1);
  const EventFlows flows{.generator = generator.get(), .records_read = {50}};
  SuiteOptions options{.read_times = std::make_shared<ReadTimes>(90, ExecutorId{0})};
  std::vector<ReadBid> bids;
  ASSERT_EQ(flows.ForEach([&](const events::Event& event, std::int64_t) {
    if (event.kind == events::Kind::kBid) {
      bids.push_back({event.numbers[1], 25'000});
    }
  }),
            absl::OkStatus());
  ASSERT_EQ(bids.size(), 46U);
  const auto recompute = [&] {
    Lines lines;
    const absl::Status status =
        query.recompute(flows, options, [&](std::string line) { lines.push_back(std::move(line)); });
    return std::pair(status, lines.size());
  };
  ASSERT_EQ(options.read_times->Add(std::span(bids).first(45)), absl::OkStatus());
  EXPECT_THAT(recompute().first.message(), testing::HasSubstr("1 more bids were read than have a time of reading"));
  ASSERT_EQ(options.read_times->Add(std::span(bids).last(1)), absl::OkStatus());
  EXPECT_EQ(recompute().first, absl::OkStatus());
  EXPECT_GT(recompute().second, 1U);
  ASSERT_EQ(options.read_times->Add(std::span(bids).last(1)), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(recompute().first)) << "a bid has two times";
  EXPECT_TRUE(absl::IsResourceExhausted(options.read_times->Add(bids))) << "more bids than were planned";
}

TEST(NexmarkSuiteTest, RowsBeyondWhatWasPlannedEndTheRun) {
  const QueryDefinition& query = QueryOf("q0");
  const EventInput input = InputOf(query, Generate::kMemory);
  const engine::Workload cluster{.records = input.records};
  const auto generator = std::make_shared<const events::EventGenerator>(input.events, 1);
  const engine::Results results("", RetainFor(1, /*most_bytes=*/10'240));
  std::vector<engine::ExecutorMetrics> metrics;
  const absl::Status status = engine::RunNodes(cluster, *query.build(SourceOf(input, generator), {}, results), metrics);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr("--verify holds up to 10KiB of results"));
}

}  // namespace
}  // namespace glaive::queries::nexmark::suite
