// Joins by Ship and Local: the pairs of a nested loop, whatever moves and however pairs are found.

#include "engine/api/join_shipping.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// The start of a window, a key, and the event times of both records, if there are both.
using ShippedPair = std::tuple<std::int64_t, std::uint64_t, std::optional<std::int64_t>, std::optional<std::int64_t>>;
using ShippedPairs = std::multiset<ShippedPair>;

constexpr std::int64_t kShippedSizeMs = 1'000;
constexpr std::int64_t kShippedStepMs = 500;

class ShippedJoins : public OnEachShape {
 protected:
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 3'000;
    workload.keys = 300;
    return workload;
  }
  /// Of other keys in part, so that some records of either side have no partner.
  Workload right() const {
    Workload right = workload();
    right.seed = 77;
    right.records = 500;
    return right;
  }

  auto LeftStream() const {
    return From(TestSource(workload())).Filter([](const TestRecord& record) { return record.key % 5 != 0; });
  }
  auto RightStream() const {
    return From(TestSource(right())).Filter([](const TestRecord& record) { return record.key % 7 != 0; });
  }

  /// The pairs of the windows that start at multiples of `slide_ms`; 0: of one window that has everything, whose start
  /// is 0 here.
  ShippedPairs Expected(JoinKind kind, std::int64_t slide_ms) const {
    std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::vector<std::int64_t>, 2>> groups;
    const auto add = [&](std::size_t side, const TestRecord& record) {
      if (slide_ms == 0) {
        groups[{0, record.key}][side].push_back(record.event_time_ms);
        return;
      }
      for (std::int64_t start_ms = record.event_time_ms / slide_ms * slide_ms;
           start_ms + kShippedSizeMs > record.event_time_ms; start_ms -= slide_ms) {
        groups[{start_ms, record.key}][side].push_back(record.event_time_ms);
      }
    };
    ForEachTestRecord([&](const TestRecord& record) {
      if (record.key % 5 != 0) add(0, record);
    });
    for (std::uint32_t executor = 0; executor < executors(); ++executor) {
      for (std::uint64_t number = 0; number < right().records; ++number) {
        const TestRecord record = MakeRecord(right(), executor, number);
        if (record.key % 7 != 0) add(1, record);
      }
    }
    ShippedPairs pairs;
    for (const auto& [group, times] : groups) {
      const auto& [start_ms, key] = group;
      const bool has_pairs = kind == JoinKind::kInner || kind == JoinKind::kLeft || kind == JoinKind::kFull;
      for (const std::int64_t left_ms : times[0]) {
        for (const std::int64_t right_ms : times[1]) {
          if (has_pairs) pairs.insert({start_ms, key, left_ms, right_ms});
        }
        const bool alone =
            times[1].empty() ? kind != JoinKind::kInner && kind != JoinKind::kSemi : kind == JoinKind::kSemi;
        if (alone) pairs.insert({start_ms, key, left_ms, std::nullopt});
      }
      for (const std::int64_t right_ms : times[1]) {
        if (times[0].empty() && kind == JoinKind::kFull) pairs.insert({start_ms, key, std::nullopt, right_ms});
      }
    }
    return pairs;
  }

  /// Runs a join whose kept parts are event times, and expects the pairs of the nested loop.
  template <JoinKind kKind, typename Joined>
  ClusterOutcome ExpectPairs(Joined joined, std::int64_t slide_ms) const {
    constexpr bool kOneSide = kKind == JoinKind::kSemi || kKind == JoinKind::kAnti;
    using Left = std::conditional_t<kKind == JoinKind::kFull, std::optional<std::int64_t>, std::int64_t>;
    using Right = std::conditional_t<kKind == JoinKind::kInner, std::int64_t, std::optional<std::int64_t>>;
    using Value = std::conditional_t<kOneSide, std::int64_t, std::tuple<Left, Right>>;
    using Row = WindowResult<std::uint64_t, Value>;
    std::vector<std::vector<Row>> rows(executors());
    ClusterOutcome outcome;
    if constexpr (kOneSide) {
      outcome = Run(*std::move(joined).Keep(&TestRecord::event_time_ms).To(Collect(rows)));
    } else {
      outcome = Run(*std::move(joined).Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms).To(Collect(rows)));
    }
    ShippedPairs found;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) {
        const std::int64_t start_ms = slide_ms == 0 ? 0 : row.window_start_ms;
        EXPECT_EQ(row.window_end_ms, slide_ms == 0 ? kMaxEventTimeMs : row.window_start_ms + kShippedSizeMs);
        if constexpr (kOneSide) {
          found.insert({start_ms, row.key, row.value, std::nullopt});
        } else {
          found.insert({start_ms, row.key, std::get<0>(row.value), std::get<1>(row.value)});
        }
      }
    }
    const ShippedPairs expected = Expected(kKind, slide_ms);
    EXPECT_GT(expected.size(), 200U) << "or this tests little";
    EXPECT_TRUE(SameElements(found, expected));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
    return outcome;
  }

  template <JoinKind kKind>
  auto JoinByKey() const {
    return JoinOfKind<kKind>(LeftStream(), RightStream()).On(&TestRecord::key, &TestRecord::key);
  }
};

Tumbling ShippedTumbling() { return {absl::Milliseconds(kShippedSizeMs)}; }
Sliding ShippedSliding() { return {absl::Milliseconds(kShippedSizeMs), absl::Milliseconds(kShippedStepMs)}; }

TEST_P(ShippedJoins, BothStreamsMoveByKey) {
  const auto outcome = ExpectPairs<JoinKind::kInner>(
      JoinByKey<JoinKind::kInner>().Ship(BothByKey{}).Window(ShippedTumbling()), kShippedSizeMs);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries), 0U) << "nothing is merged late";
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::exchanged_records) > 0, executors() > 1);
}

TEST_P(ShippedJoins, TheRightStreamMovesToAll) {
  const auto outcome = ExpectPairs<JoinKind::kLeft>(
      JoinByKey<JoinKind::kLeft>().Ship(RightToAll{}).Window(ShippedSliding()), kShippedStepMs);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries), 0U) << "the left stream stays where it is";
}

TEST_P(ShippedJoins, BothStreamsMoveByKeyForLeftRecordsAlone) {
  ExpectPairs<JoinKind::kSemi>(JoinByKey<JoinKind::kSemi>().Ship(BothByKey{}).Window(ShippedSliding()), kShippedStepMs);
  ExpectPairs<JoinKind::kAnti>(JoinByKey<JoinKind::kAnti>().Ship(BothByKey{}).Window(ShippedTumbling()),
                               kShippedSizeMs);
}

TEST_P(ShippedJoins, BothStreamsMoveByKeyForRecordsWithoutAPartner) {
  ExpectPairs<JoinKind::kLeft>(JoinByKey<JoinKind::kLeft>().Ship(BothByKey{}).Window(ShippedTumbling()),
                               kShippedSizeMs);
  ExpectPairs<JoinKind::kFull>(JoinByKey<JoinKind::kFull>().Ship(BothByKey{}).Window(ShippedSliding()), kShippedStepMs);
}

TEST_P(ShippedJoins, TheRightStreamMovesToAllForLeftRecordsWithoutAPartner) {
  ExpectPairs<JoinKind::kAnti>(
      JoinByKey<JoinKind::kAnti>().Ship(RightToAll{}).Local(HashJoin{}).Window(ShippedTumbling()), kShippedSizeMs);
}

TEST_P(ShippedJoins, TheRightStreamMovesToAllForPairsAlone) {
  ExpectPairs<JoinKind::kInner>(JoinByKey<JoinKind::kInner>().Ship(RightToAll{}).Window(ShippedTumbling()),
                                kShippedSizeMs);
}

TEST_P(ShippedJoins, TheRightStreamMovesToAllWithoutWindows) {
  ExpectPairs<JoinKind::kSemi>(JoinByKey<JoinKind::kSemi>().Ship(RightToAll{}).Window(Unbounded{}), 0);
}

TEST_P(ShippedJoins, TheRightStreamMovesToAllAndIsSorted) {
  ExpectPairs<JoinKind::kAnti>(
      JoinByKey<JoinKind::kAnti>().Ship(RightToAll{}).Local(SortMerge{}).Window(ShippedTumbling()), kShippedSizeMs);
}

TEST_P(ShippedJoins, LateMergeWithSorting) {
  ExpectPairs<JoinKind::kLeft>(JoinByKey<JoinKind::kLeft>().Local(SortMerge{}).Window(ShippedTumbling()),
                               kShippedSizeMs);
  ExpectPairs<JoinKind::kFull>(JoinByKey<JoinKind::kFull>().Local(SortMerge{}).Window(ShippedSliding()),
                               kShippedStepMs);
}

TEST_P(ShippedJoins, SortingWithoutWindowsHasRowsAtTheEnd) {
  ExpectPairs<JoinKind::kFull>(JoinByKey<JoinKind::kFull>().Ship(BothByKey{}).Local(SortMerge{}).Window(Unbounded{}),
                               0);
}

/// With LateTo whole records move; sessions of a key come together at its leader.
TEST_P(ShippedJoins, WholeRecordsOfSessionsMoveByKey) {
  using Late = LateRecord<TestRecord>;
  using Row = WindowResult<std::uint64_t, std::tuple<std::int64_t, std::int64_t>>;
  std::array<std::vector<std::vector<Late>>, 2> late{std::vector<std::vector<Late>>(executors()),
                                                     std::vector<std::vector<Late>>(executors())};
  const auto run = [&](auto keyed) {
    std::vector<std::vector<Row>> rows(executors());
    Run(*std::move(keyed)
             .Window(Session{absl::Milliseconds(200)})
             .LateTo(Collect(late[0]), Collect(late[1]))
             .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
             .To(Collect(rows)));
    std::multiset<std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::int64_t, std::int64_t>> found;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) {
        found.insert({row.window_start_ms, row.window_end_ms, row.key, std::get<0>(row.value), std::get<1>(row.value)});
      }
    }
    return found;
  };
  const auto merged_late = run(JoinByKey<JoinKind::kInner>());
  EXPECT_GT(merged_late.size(), 100U) << "or this tests little";
  EXPECT_TRUE(SameElements(run(JoinByKey<JoinKind::kInner>().Ship(BothByKey{})), merged_late));
  for (const auto& side : late) {
    for (const auto& of_executor : side) EXPECT_TRUE(of_executor.empty()) << "the records are in order";
  }
}

TEST_P(ShippedJoins, SessionsOfRecordsWithoutAPartnerMoveByKey) {
  using Time = std::optional<std::int64_t>;
  using Row = WindowResult<std::uint64_t, std::tuple<Time, Time>>;
  const auto run = [&](auto keyed) {
    std::vector<std::vector<Row>> rows(executors());
    Run(*std::move(keyed)
             .Window(Session{absl::Milliseconds(200)})
             .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
             .To(Collect(rows)));
    std::multiset<std::tuple<std::int64_t, std::int64_t, std::uint64_t, Time, Time>> found;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) {
        found.insert({row.window_start_ms, row.window_end_ms, row.key, std::get<0>(row.value), std::get<1>(row.value)});
      }
    }
    return found;
  };
  const auto merged_late = run(JoinByKey<JoinKind::kFull>());
  EXPECT_GT(merged_late.size(), 1'000U) << "or this tests little";
  EXPECT_TRUE(SameElements(run(JoinByKey<JoinKind::kFull>().Ship(BothByKey{})), merged_late));
}

/// One key has all records, so that a sorted run is of one key, and no fiber may work on it for long.
TEST_P(ShippedJoins, AHotKeyIsSorted) {
  using Row = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;
  std::vector<std::vector<Row>> rows(executors());
  const auto one = [](const TestRecord&) { return std::uint64_t{7}; };
  Workload few = right();
  few.records = 30;
  Run(*Join(From(TestSource(workload())), From(TestSource(few)))
           .On(one, one)
           .Local(SortMerge{})
           .Window(Unbounded{})
           .Keep(&TestRecord::key, &TestRecord::key)
           .To(Collect(rows)));
  std::uint64_t pairs = 0;
  for (const auto& of_executor : rows) pairs += of_executor.size();
  EXPECT_EQ(pairs, executors() * workload().records * executors() * few.records);
}

GLAIVE_ON_EACH_SHAPE(ShippedJoins);

TEST(ShippedJoin, StateBeyondTheBudgetIsNamed) {
  Workload workload{.records = 60'000, .keys = 60'000, .span_ms = 900, .state_limit_bytes = 4 << 20};
  const auto query = Join(From(TestSource(workload)), From(TestSource(workload)))
                         .On(&TestRecord::key, &TestRecord::key)
                         .Local(SortMerge{})
                         .Window(Tumbling{absl::Seconds(1)})
                         .Keep(&TestRecord::kind, &TestRecord::kind)
                         .To(Discard{});
  ClusterOutcome outcome;
  const absl::Status status = RunNodes(workload, *query, outcome.metrics);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("join"));
}

}  // namespace
}  // namespace glaive::engine
