// Interval joins of every kind, with and without keys, in order and out of order, against nested loops.

#include "engine/api/interval_join.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/text_words.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// Window, key, and the event times of both, or nothing for the one that is missing.
using IntervalRow =
    std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::optional<std::int64_t>, std::optional<std::int64_t>>;
using IntervalRows = std::multiset<IntervalRow>;

/// Bounds of Within, ms: around the left record, behind it, before it, a single millisecond.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> kBounds = {{{-30, 50}, {40, 90}, {-200, -120}, {7, 7}}};

/// All records come before the watermark passes them.
constexpr Disorder kAllowedFor{.range_ms = 400, .bound_ms = 400};

class IntervalJoins : public OnEachShape {
 protected:
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 3'000;
    workload.keys = 40;
    workload.span_ms = 10'000;
    return workload;
  }
  Workload right_workload() const {
    Workload right = workload();
    right.seed = 99;
    right.records /= 3;
    return right;
  }

  /// What a nested loop makes of both streams. Without keys, all have key 0.
  IntervalRows Expected(JoinKind kind, const Disorder& disorder, std::pair<std::int64_t, std::int64_t> bounds,
                        bool by_key) const {
    std::map<std::uint64_t, std::array<std::vector<std::int64_t>, 2>> times;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      ForEachRecord(side == 0 ? workload() : right_workload(), disorder, [&](const TestRecord& record, std::int64_t) {
        times[by_key ? record.key : 0][side].push_back(record.event_time_ms);
      });
    }
    IntervalRows rows;
    for (const auto& [key, sides] : times) {
      std::vector<bool> right_has_met(sides[1].size());
      for (const std::int64_t left : sides[0]) {
        bool has_met = false;
        for (std::size_t i = 0; i < sides[1].size(); ++i) {
          const std::int64_t right = sides[1][i];
          if (right - left < bounds.first || right - left > bounds.second) continue;
          has_met = true;
          right_has_met[i] = true;
          if (kind == JoinKind::kInner || kind == JoinKind::kLeft || kind == JoinKind::kFull) {
            rows.insert({std::min(left, right), std::max(left, right) + 1, key, left, right});
          }
        }
        const bool alone = has_met ? kind == JoinKind::kSemi : kind != JoinKind::kInner && kind != JoinKind::kSemi;
        if (alone) rows.insert({left, left + 1, key, left, std::nullopt});
      }
      for (std::size_t i = 0; i < sides[1].size(); ++i) {
        if (kind == JoinKind::kFull && !right_has_met[i]) {
          rows.insert({sides[1][i], sides[1][i] + 1, key, std::nullopt, sides[1][i]});
        }
      }
    }
    return rows;
  }

  template <JoinKind kKind, bool kByKey>
  void ExpectExact() const {
    for (const Disorder& disorder : {Disorder{}, kAllowedFor}) {
      for (const auto& bounds : kBounds) {
        SCOPED_TRACE(absl::StrCat("from ", bounds.first, " to ", bounds.second, " ms, disorder ", disorder.range_ms));
        const IntervalRows expected = Expected(kKind, disorder, bounds, kByKey);
        EXPECT_GT(expected.size(), bounds.first == bounds.second ? 2U : 50U) << "or this tests little";
        EXPECT_TRUE(SameElements((Found<kKind, kByKey>(disorder, bounds)), expected));
      }
    }
  }

 private:
  template <JoinKind kKind, bool kByKey>
  IntervalRows Found(const Disorder& disorder, std::pair<std::int64_t, std::int64_t> bounds) const {
    constexpr bool kOneSide = kKind == JoinKind::kSemi || kKind == JoinKind::kAnti;
    auto joined = JoinOfKind<kKind>(From(DisorderedRecords(workload(), disorder)),
                                    From(DisorderedRecords(right_workload(), disorder)));
    auto within = [&] {
      const absl::Duration lower = absl::Milliseconds(bounds.first);
      const absl::Duration upper = absl::Milliseconds(bounds.second);
      if constexpr (kByKey) {
        return std::move(joined).On(&TestRecord::key, &TestRecord::key).Within(lower, upper);
      } else {
        return std::move(joined).Within(lower, upper);
      }
    }();
    auto rows_of = [&] {
      if constexpr (kOneSide) {
        return std::move(within).Keep(&TestRecord::event_time_ms);
      } else {
        return std::move(within).Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms);
      }
    }();
    using Row = typename decltype(rows_of)::Record;
    std::vector<std::vector<Row>> rows(executors());
    const ClusterOutcome outcome = Run(*std::move(rows_of).To(Collect(rows)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
    const std::uint64_t read = executors() * (workload().records + right_workload().records);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::records_accepted), read);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::kept_tuples), 0U);
    if (disorder.range_ms == 0 && executors() == 1) {
      EXPECT_LT(Total(outcome, &ExecutorMetrics::kept_tuples), read / 4)
          << "tuples that meet nothing any more are dropped";
    }
    IntervalRows found;
    for (const auto& leader : rows) {
      for (const Row& row : leader) {
        std::uint64_t key = 0;
        if constexpr (kByKey) key = row.key;
        if constexpr (kOneSide) {
          found.insert({row.window_start_ms, row.window_end_ms, key, row.value, std::nullopt});
        } else {
          found.insert({row.window_start_ms, row.window_end_ms, key, std::get<0>(row.value), std::get<1>(row.value)});
        }
      }
    }
    return found;
  }
};

TEST_P(IntervalJoins, FindPairsByKey) { ExpectExact<JoinKind::kInner, /*kByKey=*/true>(); }
TEST_P(IntervalJoins, FindPairsAndLeftRecordsWithoutAPartnerByKey) { ExpectExact<JoinKind::kLeft, /*kByKey=*/true>(); }
TEST_P(IntervalJoins, FindPairsAndRecordsWithoutAPartnerByKey) { ExpectExact<JoinKind::kFull, /*kByKey=*/true>(); }
TEST_P(IntervalJoins, FindLeftRecordsWithAPartnerByKey) { ExpectExact<JoinKind::kSemi, /*kByKey=*/true>(); }
TEST_P(IntervalJoins, FindLeftRecordsWithoutAPartnerByKey) { ExpectExact<JoinKind::kAnti, /*kByKey=*/true>(); }

/// Fewer records, since each meets all others within reach.
class UnkeyedIntervalJoins : public IntervalJoins {
 protected:
  Workload workload() const override {
    Workload workload = IntervalJoins::workload();
    workload.records = 600;
    return workload;
  }
};

TEST_P(UnkeyedIntervalJoins, FindPairsAndLeftRecordsWithoutAPartner) {
  ExpectExact<JoinKind::kLeft, /*kByKey=*/false>();
}
TEST_P(UnkeyedIntervalJoins, FindPairsAndRecordsWithoutAPartner) { ExpectExact<JoinKind::kFull, /*kByKey=*/false>(); }
GLAIVE_ON_EACH_SHAPE(UnkeyedIntervalJoins);

TEST_P(IntervalJoins, CopyTheTextsOfKeysAndOfWhatTheyKeep) {
  constexpr std::int64_t kReachMs = 700;
  using Row = WindowResult<Text, std::tuple<Word, Text>>;
  std::vector<std::vector<Row>> rows(executors());
  CollectedTexts texts(executors());
  Run(*Join(Words(workload()), Words(right_workload()))
           .On(&Word::text, &Word::text)
           .Within(-absl::Milliseconds(kReachMs), absl::Milliseconds(kReachMs))
           .Keep([](const Word& word) { return word; }, &Word::text)
           .To(Collect(rows, texts)));
  using Shown = std::tuple<std::int64_t, std::string, std::string, std::string>;
  std::multiset<Shown> found;
  for (const auto& leader : rows) {
    for (const Row& row : leader) {
      const auto& [left, right] = row.value;
      found.insert(
          {left.time_ms, std::string(row.key.view()), std::string(left.text.view()), std::string(right.view())});
    }
  }
  std::multiset<Shown> expected;
  std::map<std::string, std::vector<std::int64_t>> right_times;
  for (const Word& word : AllWords(right_workload()))
    right_times[std::string(word.text.view())].push_back(word.time_ms);
  for (const Word& word : AllWords(workload())) {
    const std::string text(word.text.view());
    for (const std::int64_t right_ms : right_times[text]) {
      if (std::abs(right_ms - word.time_ms) <= kReachMs) expected.insert({word.time_ms, text, text, text});
    }
  }
  EXPECT_GT(expected.size(), 50U) << "or this tests little";
  EXPECT_TRUE(SameElements(found, expected));
}

GLAIVE_ON_EACH_SHAPE(IntervalJoins);

/// Enough for several batches.
constexpr std::uint64_t kIntervalNumbers = 100'000;

/// Numbers whose event times are themselves, but for one that comes far too late.
auto WithOneLate() {
  return FromRange(0, kIntervalNumbers)
      .Map([](std::uint64_t number) { return number == kIntervalNumbers - 1 ? std::uint64_t{5} : number; })
      .WithEventTime([](std::uint64_t number) { return static_cast<std::int64_t>(number); });
}

TEST(IntervalJoinTest, ARecordBehindTheWatermarkIsCountedAsLate) {
  std::vector<std::vector<WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>>> rows(1);
  ClusterOutcome outcome;
  const auto query = Join(WithOneLate(), WithOneLate().Filter([](std::uint64_t number) { return number != 5; }))
                         .On([](std::uint64_t number) { return number; }, [](std::uint64_t number) { return number; })
                         .Within(absl::ZeroDuration(), absl::ZeroDuration())
                         .To(Collect(rows));
  ASSERT_TRUE(RunNodes(Workload{}, *query, outcome.metrics).ok());
  EXPECT_EQ(rows[0].size(), kIntervalNumbers - 2) << "all but 5 and the last one";
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 1U);
}

TEST(IntervalJoinTest, AStateBeyondItsBudgetEndsTheRunWithItsSizes) {
  Workload workload{.records = 200'000, .keys = 100'000, .span_ms = 10'000};
  workload.state_limit_bytes = 4 << 20;
  ClusterOutcome outcome;
  const auto query = Join(From(DisorderedRecords(workload, {})), From(DisorderedRecords(workload, {})))
                         .On(&TestRecord::key, &TestRecord::key)
                         .Within(absl::Hours(-1), absl::Hours(1))
                         .To(Discard{});
  const absl::Status status = RunNodes(workload, *query, outcome.metrics);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the interval join keeps "));
}

TEST(IntervalJoinDeathTest, BoundsThatMakeNoSenseEndTheProcess) {
  const auto within = [](absl::Duration lower, absl::Duration upper) {
    static_cast<void>(Join(WithOneLate(), WithOneLate()).Within(lower, upper));
  };
  EXPECT_DEATH(within(absl::Seconds(2), absl::Seconds(1)), "the first bound is greater than the second one");
  EXPECT_DEATH(within(absl::Microseconds(1), absl::Seconds(1)), "must be whole milliseconds");
}

}  // namespace
}  // namespace glaive::engine
