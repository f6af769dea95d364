// Joins over a cluster, of every kind and window, with records out of order and late ones, against nested loops.

#include "engine/api/join.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

enum class JoinWindow : std::uint8_t { kTumbling, kSliding, kSession, kNone };

struct JoinShape {
  JoinWindow window = JoinWindow::kTumbling;
  std::int64_t size_ms = 1000;
  std::int64_t slide_ms = 1000;
  JoinKind kind = JoinKind::kInner;
  Disorder disorder = {};
  std::int64_t lateness_ms = 0;  // allowed
  double hot_share = 0;
  bool over_verbs = false;
};

/// A pair: window, key, and the event times of both, or nothing for the one that is missing.
using Pair =
    std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::optional<std::int64_t>, std::optional<std::int64_t>>;
using Pairs = std::multiset<Pair>;

/// The other stream: fewer records of the same time.
Workload RightOf(const Workload& left) {
  Workload right = left;
  right.seed = left.seed + 1000;
  right.records = left.records / 4;
  right.hot_share = 0;
  return right;
}

bool IsOfKindZero(const TestRecord& record) { return record.kind == 0; }
/// In an anti join a third of the keys have no right record at all, or without windows it would have no result.
bool IsInRightOfAntiJoin(const TestRecord& record) { return record.kind == 0 && record.key % 3 != 0; }

/// Which records are joined.
auto FilterOf(JoinKind kind, std::size_t side) {
  return kind == JoinKind::kAnti && side == 1 ? &IsInRightOfAntiJoin : &IsOfKindZero;
}

struct Tuple {
  std::int64_t time_ms;
  std::int64_t watermark_ms;
};
using TuplesOfKeys = std::map<std::uint64_t, std::array<std::vector<Tuple>, 2>>;

TuplesOfKeys TuplesOf(const Workload& workload, const JoinShape& shape) {
  TuplesOfKeys tuples;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ForEachRecord(
        side == 0 ? workload : RightOf(workload), shape.disorder,
        [&](const TestRecord& record, std::int64_t watermark_ms) {
          if (!FilterOf(shape.kind, side)(record)) return;
          tuples[record.key][side].push_back(
              {.time_ms = record.event_time_ms, .watermark_ms = AfterLateness(watermark_ms, shape.lateness_ms)});
        });
  }
  return tuples;
}

using Times = std::array<std::vector<std::int64_t>, 2>;

/// The join of one window or session of one key.
void AddPairs(std::int64_t start_ms, std::int64_t end_ms, std::uint64_t key, const Times& times, JoinKind kind,
              Pairs& pairs) {
  const bool one_side = kind == JoinKind::kSemi || kind == JoinKind::kAnti;
  for (const std::int64_t left : times[0]) {
    for (const std::int64_t right : times[1]) {
      if (!one_side) pairs.insert({start_ms, end_ms, key, left, right});
    }
    const bool alone = times[1].empty() ? kind != JoinKind::kInner && kind != JoinKind::kSemi : kind == JoinKind::kSemi;
    if (alone) pairs.insert({start_ms, end_ms, key, left, std::nullopt});
  }
  for (const std::int64_t right : times[1]) {
    if (times[0].empty() && kind == JoinKind::kFull) pairs.insert({start_ms, end_ms, key, std::nullopt, right});
  }
}

/// A multiple of all slides, so that times before 1970 are rounded down.
constexpr std::int64_t kFarBackMs = 3'000'000;

void AddWindows(std::uint64_t key, const std::array<std::vector<Tuple>, 2>& tuples, const JoinShape& shape,
                Pairs& pairs) {
  std::map<std::int64_t, Times> windows;  // by start
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    for (const Tuple& tuple : tuples[side]) {
      for (std::int64_t start_ms = (tuple.time_ms + kFarBackMs) / shape.slide_ms * shape.slide_ms - kFarBackMs;
           start_ms + shape.size_ms > tuple.time_ms; start_ms -= shape.slide_ms) {
        if (start_ms + shape.size_ms > tuple.watermark_ms) windows[start_ms][side].push_back(tuple.time_ms);
      }
    }
  }
  for (const auto& [start_ms, times] : windows) {
    AddPairs(start_ms, start_ms + shape.size_ms, key, times, shape.kind, pairs);
  }
}

void AddSessions(std::uint64_t key, const std::array<std::vector<Tuple>, 2>& tuples, const JoinShape& shape,
                 Pairs& pairs) {
  std::vector<std::pair<std::int64_t, std::size_t>> all;  // times and sides
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    for (const Tuple& tuple : tuples[side]) {
      if (tuple.time_ms >= tuple.watermark_ms) all.emplace_back(tuple.time_ms, side);
    }
  }
  std::sort(all.begin(), all.end());
  for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
    Times times;
    for (next = first; next < all.size() && (next == first || all[next].first - all[next - 1].first < shape.size_ms);
         ++next) {
      times[all[next].second].push_back(all[next].first);
    }
    AddPairs(all[first].first, all[next - 1].first + shape.size_ms, key, times, shape.kind, pairs);
  }
}

Pairs Sequential(const Workload& workload, const JoinShape& shape) {
  Pairs pairs;
  for (const auto& [key, tuples] : TuplesOf(workload, shape)) {
    if (shape.window == JoinWindow::kSession) {
      AddSessions(key, tuples, shape, pairs);
    } else if (shape.window == JoinWindow::kNone) {
      Times times;
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        for (const Tuple& tuple : tuples[side]) times[side].push_back(tuple.time_ms);
      }
      AddPairs(kMinEventTimeMs, kMaxEventTimeMs, key, times, shape.kind, pairs);
    } else {
      AddWindows(key, tuples, shape, pairs);
    }
  }
  return pairs;
}

using RunQuery = absl::FunctionRef<void(const Query&)>;

/// Runs the shape's join with a function that runs a query, and returns the pairs.
template <JoinKind kKind, typename W>
Pairs PairsOf(const Workload& workload, const JoinShape& shape, const W& window, RunQuery run) {
  auto left = From(DisorderedRecords(workload, shape.disorder)).Filter(FilterOf(kKind, 0));
  auto right = From(DisorderedRecords(RightOf(workload), shape.disorder)).Filter(FilterOf(kKind, 1));
  constexpr bool kOneSide = kKind == JoinKind::kSemi || kKind == JoinKind::kAnti;
  using LeftColumn = std::conditional_t<kKind == JoinKind::kFull, std::optional<std::int64_t>, std::int64_t>;
  using RightColumn = std::conditional_t<kKind == JoinKind::kInner, std::int64_t, std::optional<std::int64_t>>;
  using Value = std::conditional_t<kOneSide, std::int64_t, std::tuple<LeftColumn, RightColumn>>;
  using Row = WindowResult<std::uint64_t, Value>;
  std::vector<std::vector<Row>> rows(workload.executor_count());
  auto windowed = JoinOfKind<kKind>(std::move(left), std::move(right))
                      .On(&TestRecord::key, &TestRecord::key)
                      .Window(window)
                      .AllowedLateness(absl::Milliseconds(shape.lateness_ms));
  if constexpr (kOneSide) {
    run(*std::move(windowed).Keep(&TestRecord::event_time_ms).To(Collect(rows)));
  } else {
    run(*std::move(windowed).Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms).To(Collect(rows)));
  }
  Pairs pairs;
  for (const auto& leader : rows) {
    for (const Row& row : leader) {
      if constexpr (kOneSide) {
        pairs.insert({row.window_start_ms, row.window_end_ms, row.key, row.value, std::nullopt});
      } else {
        pairs.insert({row.window_start_ms, row.window_end_ms, row.key, std::get<0>(row.value), std::get<1>(row.value)});
      }
    }
  }
  return pairs;
}

template <JoinKind kKind>
Pairs PairsOf(const Workload& workload, const JoinShape& shape, RunQuery run) {
  const absl::Duration size = absl::Milliseconds(shape.size_ms);
  switch (shape.window) {
    case JoinWindow::kTumbling:
      return PairsOf<kKind>(workload, shape, Tumbling{size}, run);
    case JoinWindow::kSliding:
      return PairsOf<kKind>(workload, shape, Sliding{size, absl::Milliseconds(shape.slide_ms)}, run);
    case JoinWindow::kSession:
      return PairsOf<kKind>(workload, shape, Session{size}, run);
    case JoinWindow::kNone:
      return PairsOf<kKind>(workload, shape, Unbounded{}, run);
  }
  return {};
}

Pairs PairsOf(const Workload& workload, const JoinShape& shape, RunQuery run) {
  switch (shape.kind) {
    case JoinKind::kInner:
      return PairsOf<JoinKind::kInner>(workload, shape, run);
    case JoinKind::kLeft:
      return PairsOf<JoinKind::kLeft>(workload, shape, run);
    case JoinKind::kFull:
      return PairsOf<JoinKind::kFull>(workload, shape, run);
    case JoinKind::kSemi:
      return PairsOf<JoinKind::kSemi>(workload, shape, run);
    case JoinKind::kAnti:
      return PairsOf<JoinKind::kAnti>(workload, shape, run);
  }
  return {};
}

class JoinCluster : public ::testing::TestWithParam<JoinShape> {};

TEST_P(JoinCluster, FindsExactlyThePairsOnEveryNumberOfNodes) {
  const JoinShape& shape = GetParam();
  for (Workload workload : DisorderedWorkloads(30)) {
    workload.hot_share = shape.hot_share;
    workload.over_verbs = shape.over_verbs && workload.executor_count() > 1;
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    const Pairs expected = Sequential(workload, shape);
    ClusterOutcome outcome;
    const Pairs found = PairsOf(
        workload, shape, [&](const Query& query) { outcome.status = RunNodes(workload, query, outcome.metrics); });
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(found, expected));
    EXPECT_GT(expected.size(), 200U) << "or this tests little";
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), workload.executor_count() * workload.records * 5 / 4);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::results), found.size());
    EXPECT_GT(Total(outcome, &ExecutorMetrics::kept_tuples), 0U);
  }
}

TEST_P(JoinCluster, FindsThemInAnyOrderOfWork) {
  const JoinShape& shape = GetParam();
  Workload workload{.executors = 3,
                    .records = 1'000,
                    .keys = 60,
                    .hot_share = shape.hot_share,
                    .span_ms = 5'000,
                    .slot_bytes = 512,
                    .credits = 2,
                    .fragment_bytes = 1024};
  workload.epochs = {.epoch_bytes = 1000, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
  const Pairs expected = Sequential(workload, shape);
  for (std::uint64_t seed = 1; seed <= kOrders; ++seed) {
    ClusterOutcome outcome;
    const Pairs found = PairsOf(workload, shape, [&](const Query& query) {
      outcome.status = RunExecutors(workload, query, seed, outcome.metrics);
    });
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(found, expected));
  }
}

std::ostream& operator<<(std::ostream& out, const JoinShape& shape) { return out << shape.size_ms << " ms"; }

std::string NameOfJoin(const ::testing::TestParamInfo<JoinShape>& info) {
  constexpr std::array<const char*, 4> kWindows = {"Tumbling", "Sliding", "Session", "Unwindowed"};
  constexpr std::array<const char*, 5> kKinds = {"Inner", "Left", "Full", "Semi", "Anti"};
  const JoinShape& shape = info.param;
  return absl::StrCat(kKinds[static_cast<std::size_t>(shape.kind)], kWindows[static_cast<std::size_t>(shape.window)],
                      shape.size_ms, "Every", shape.slide_ms, "Disorder", shape.disorder.range_ms, "Bound",
                      shape.disorder.bound_ms, shape.hot_share > 0 ? "Hot" : "");
}

/// With a sanitizer those out of order alone, which do all that the others do.
std::vector<JoinShape> AllJoins() {
  std::vector<JoinShape> shapes;
  std::vector<Disorder> disorders = {Disorder{2000, 500}};
  if (!kSanitized) disorders.emplace_back();
  for (const JoinKind kind : {JoinKind::kInner, JoinKind::kLeft, JoinKind::kFull, JoinKind::kSemi, JoinKind::kAnti}) {
    for (const Disorder& disorder : disorders) {
      const std::int64_t lateness_ms = disorder.range_ms / 4;
      shapes.push_back({JoinWindow::kTumbling, 1000, 1000, kind, disorder, lateness_ms});
      shapes.push_back({JoinWindow::kSliding, 1000, 300, kind, disorder, lateness_ms});
      shapes.push_back({JoinWindow::kSession, 300, 300, kind, disorder, lateness_ms});
      shapes.push_back({JoinWindow::kNone, 1000, 1000, kind, disorder, 0});
    }
  }
  shapes.push_back({JoinWindow::kTumbling, 1000, 1000, JoinKind::kInner, {}, 0, /*hot_share=*/0.5});
  shapes.push_back({JoinWindow::kSliding, 1000, 500, JoinKind::kFull, {}, 0, /*hot_share=*/0.5});
  shapes.push_back({JoinWindow::kSession, 100, 100, JoinKind::kInner, {}, 0, /*hot_share=*/0.5});
  shapes.push_back({JoinWindow::kNone, 1000, 1000, JoinKind::kSemi, {}, 0, /*hot_share=*/0.5});
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, JoinCluster, ::testing::ValuesIn(AllJoins()), NameOfJoin);
INSTANTIATE_TEST_SUITE_P(
    OverVerbs, JoinCluster,
    ::testing::Values(JoinShape{.kind = JoinKind::kFull, .disorder = {2000, 500}, .over_verbs = true},
                      JoinShape{.window = JoinWindow::kSession, .size_ms = 300, .slide_ms = 300, .over_verbs = true},
                      JoinShape{.window = JoinWindow::kNone, .kind = JoinKind::kLeft, .over_verbs = true}),
    NameOfJoin);

/// A tuple that makes a window's tables larger than an unsplit table may be.
struct Wide {
  std::int64_t time_ms;
  std::array<char, 120> more;
};

/// Joins 80,000 wide tuples, whose tables are split, with `right_records` a node, and counts the pairs.
void ExpectExactWhenSplit(std::uint64_t right_records, std::int64_t slide_ms) {
  const Workload left{.nodes = 2, .records = 40'000, .keys = 5'000, .span_ms = 2'000, .window_ms = 1'000};
  Workload right = left;
  right.seed = 77;
  right.records = right_records;
  const auto wide = [](const TestRecord& record) { return Wide{.time_ms = record.event_time_ms, .more = {}}; };
  std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::uint64_t, 2>> counts;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Workload& workload = side == 0 ? left : right;
    for (std::uint64_t i = 0; i < 2 * workload.records; ++i) {
      const TestRecord record = MakeRecord(workload, static_cast<std::uint32_t>(i % 2), i / 2);
      for (std::int64_t start_ms = record.event_time_ms / slide_ms * slide_ms; start_ms + 1000 > record.event_time_ms;
           start_ms -= slide_ms) {
        ++counts[{start_ms, record.key}][side];
      }
    }
  }
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> expected;  // pairs by window and key
  for (const auto& [window, sides] : counts) {
    if (sides[0] * sides[1] > 0) expected[window] = sides[0] * sides[1];
  }
  using Row = WindowResult<std::uint64_t, std::uint64_t>;
  std::vector<std::vector<Row>> rows(2);
  const auto query = Join(From(TestSource(left)), From(TestSource(right)))
                         .On(&TestRecord::key, &TestRecord::key)
                         .Window(Sliding{absl::Seconds(1), absl::Milliseconds(slide_ms)})
                         .Keep(wide, wide)
                         .Map([](const auto& pair) {
                           const auto& [left_tuple, right_tuple] = pair.value;
                           const auto [first_ms, last_ms] = std::minmax(left_tuple.time_ms, right_tuple.time_ms);
                           const bool inside = first_ms >= pair.window_start_ms && last_ms < pair.window_end_ms;
                           return Row{pair.window_start_ms, pair.window_end_ms, pair.key, inside ? 1U : 0U};
                         })
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(left, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> found;
  std::uint64_t outside = 0;
  for (const auto& leader : rows) {
    for (const Row& row : leader) {
      ++found[{row.window_start_ms, row.key}];
      outside += 1 - row.value;
    }
  }
  EXPECT_GT(expected.size(), 500U);
  EXPECT_TRUE(SameElements(found, expected));
  EXPECT_EQ(outside, 0U) << "tuples of other windows";
}

TEST(Join, TablesLargerThanTheCacheAreSplitAndStillExact) { ExpectExactWhenSplit(10'000, 1000); }

TEST(Join, SplitTablesAreJoinedWithSmallOnes) {
  ExpectExactWhenSplit(500, 1000);
  ExpectExactWhenSplit(500, 250);
}

TEST(Join, LateRecordsOfBothStreamsGoToTheirSinks) {
  const JoinShape shape{.disorder = {2000, 500}, .lateness_ms = 200};
  for (const Workload& left : DisorderedWorkloads(30)) {
    const Workload right = RightOf(left);
    using Late = LateRecord<TestRecord>;
    using Row = WindowResult<std::uint64_t, std::tuple<std::int64_t, std::int64_t>>;
    std::array<std::vector<std::vector<Late>>, 2> late;
    late.fill(std::vector<std::vector<Late>>(left.executor_count()));
    std::vector<std::vector<Row>> rows(left.executor_count());
    const auto query =
        Join(From(DisorderedRecords(left, shape.disorder)), From(DisorderedRecords(right, shape.disorder)))
            .On(&TestRecord::key, &TestRecord::key)
            .Window(Tumbling{absl::Seconds(1)})
            .AllowedLateness(absl::Milliseconds(shape.lateness_ms))
            .LateTo(Collect(late[0]), Collect(late[1]))
            .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
            .To(Collect(rows));
    ClusterOutcome outcome;
    outcome.status = RunNodes(left, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      std::multiset<std::pair<std::int64_t, std::int64_t>> expected;
      ForEachRecord(side == 0 ? left : right, shape.disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
        const std::int64_t end_ms = (record.event_time_ms + kFarBackMs) / 1000 * 1000 - kFarBackMs + 1000;
        const std::int64_t judged_by_ms = AfterLateness(watermark_ms, shape.lateness_ms);
        if (end_ms <= judged_by_ms) expected.emplace(record.event_time_ms, judged_by_ms);
      });
      std::multiset<std::pair<std::int64_t, std::int64_t>> found;
      for (const auto& reader : late[side]) {
        for (const Late& record : reader) found.emplace(record.event_time_ms, record.watermark_ms);
      }
      EXPECT_GT(expected.size(), 0U);
      EXPECT_TRUE(SameElements(found, expected));
    }
  }
}

TEST(Join, MoreStateThanAllowedNamesTheJoinAndItsSizes) {
  Workload workload{.records = 100'000, .keys = 100'000, .span_ms = 900, .state_limit_bytes = 2 << 20};
  const auto query = Join(From(TestSource(workload)), From(TestSource(RightOf(workload))))
                         .On(&TestRecord::key, &TestRecord::key)
                         .Window(Tumbling{absl::Seconds(1)})
                         .To(Discard{});
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  EXPECT_TRUE(absl::IsResourceExhausted(outcome.status)) << outcome.status;
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("the tumbling join keeps"));
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("tuples of 32 bytes of its left stream"));
}

}  // namespace
}  // namespace glaive::engine
