#include "queries/common/join_oracle.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/tick.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr CheckedWindows kTumbling{.size_ms = 10, .slide_ms = 10};
constexpr CheckedWindows kSliding{.size_ms = 10, .slide_ms = 5};
constexpr CheckedWindows kSessions{.size_ms = 10, .slide_ms = 0, .kind = CheckedWindows::Kind::kSession};

/// The ticks of each executor, as listed; a tick is named by its price.
class GivenTicks final : public Generator<Tick> {
 public:
  explicit GivenTicks(std::vector<std::vector<Tick>> ticks) : ticks_(std::move(ticks)) {}

  void Fill(std::uint32_t executor, std::uint64_t first, std::span<Tick> ticks) const override {
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      ticks[i] = ticks_.at(executor).at(first + i);
    }
  }
  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> counts;
    for (const std::vector<Tick>& of_executor : ticks_) {
      counts.push_back(of_executor.size());
    }
    return counts;
  }

 private:
  std::vector<std::vector<Tick>> ticks_;
};

using Side = JoinSide<Tick, std::int64_t>;
using TickJoin = JoinOracle<Tick, std::int64_t, Tick, std::int64_t>;

Side SideOf(const GivenTicks& ticks, std::int64_t lateness_ms = 1'000) {
  return {.input = {.generator = &ticks,
                    .event_time_ms = TickTime,
                    .record_counts = ticks.counts(),
                    .allowed_lateness_ms = lateness_ms},
          .key_of = [](const Tick& tick) { return tick.key; },
          .keep = [](const Tick& tick) { return static_cast<std::int64_t>(tick.price); }};
}

using Name = std::optional<std::int64_t>;

ResultRow Row(std::int64_t start_ms, std::int64_t end_ms, std::uint64_t key, Name left, Name right) {
  return {
      .window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = ValueBits(std::tuple(left, right))};
}

bool LeadsAll(std::uint64_t /*key*/) { return true; }

absl::Status Check(JoinKind kind, const CheckedWindows& windows, const GivenTicks& left, const GivenTicks& right,
                   const std::vector<ResultRow>& rows, std::int64_t lateness_ms = 1'000) {
  return TickJoin("q", kind, windows, SideOf(left, lateness_ms), SideOf(right, lateness_ms))
      .Check(rows, LeadsAll)
      .status;
}

TEST(JoinOracleTest, PairsAllOfBothSidesWithAKeyInAWindow) {
  const GivenTicks left({{{1, 0, 10}, {1, 9, 11}, {2, 5, 12}, {1, 10, 13}}});
  const GivenTicks right({{{1, 3, 20}, {1, 9, 21}, {3, 5, 22}, {2, 15, 23}}});
  const std::vector<ResultRow> rows = {Row(0, 10, 1, 10, 20), Row(0, 10, 1, 11, 20), Row(0, 10, 1, 10, 21),
                                       Row(0, 10, 1, 11, 21)};
  EXPECT_EQ(Check(JoinKind::kInner, kTumbling, left, right, rows), absl::OkStatus());
}

TEST(JoinOracleTest, ALeftJoinKeepsTheLeftRecordsWithoutAPartnerAFullOneAllOfThem) {
  const GivenTicks left({{{1, 0, 10}, {2, 5, 12}, {1, 10, 13}}});
  const GivenTicks right({{{1, 3, 20}, {3, 5, 22}, {2, 15, 23}}});
  std::vector<ResultRow> rows = {Row(0, 10, 1, 10, 20), Row(0, 10, 2, 12, {}), Row(10, 20, 1, 13, {})};
  EXPECT_EQ(Check(JoinKind::kLeft, kTumbling, left, right, rows), absl::OkStatus());
  rows.push_back(Row(0, 10, 3, {}, 22));
  rows.push_back(Row(10, 20, 2, {}, 23));
  EXPECT_EQ(Check(JoinKind::kFull, kTumbling, left, right, rows), absl::OkStatus());
}

TEST(JoinOracleTest, APairIsInEveryWindowThatBothAreIn) {
  const GivenTicks left({{{1, 6, 10}}});
  const GivenTicks right({{{1, 9, 20}, {1, 12, 21}}});
  EXPECT_EQ(Check(JoinKind::kInner, kSliding, left, right,
                  {Row(0, 10, 1, 10, 20), Row(5, 15, 1, 10, 20), Row(5, 15, 1, 10, 21)}),
            absl::OkStatus());
  EXPECT_EQ(Check(JoinKind::kFull, kSliding, left, right,
                  {Row(0, 10, 1, 10, 20), Row(5, 15, 1, 10, 20), Row(5, 15, 1, 10, 21), Row(10, 20, 1, {}, 21)}),
            absl::OkStatus());
}

TEST(JoinOracleTest, EqualRowsCount) {
  const GivenTicks left({{{1, 0, 10}}, {{1, 0, 10}}});
  const GivenTicks right({{{1, 3, 20}}, {}});
  EXPECT_EQ(Check(JoinKind::kInner, kTumbling, left, right, {Row(0, 10, 1, 10, 20), Row(0, 10, 1, 10, 20)}),
            absl::OkStatus());
  EXPECT_THAT(Check(JoinKind::kInner, kTumbling, left, right, {Row(0, 10, 1, 10, 20)}).ToString(),
              HasSubstr("in 1 row: window 0 to 10 key 1 value #"));
}

TEST(JoinOracleTest, ASessionIsOfBothSidesTogether) {
  const GivenTicks left({{{1, 0, 10}, {1, 18, 11}}, {{1, 40, 12}, {2, 5, 13}}});
  const GivenTicks right({{{1, 9, 20}, {2, 15, 21}}, {{1, 27, 22}, {1, 60, 23}}});
  const std::vector<ResultRow> inner = {Row(0, 37, 1, 10, 20), Row(0, 37, 1, 10, 22), Row(0, 37, 1, 11, 20),
                                        Row(0, 37, 1, 11, 22)};
  EXPECT_EQ(Check(JoinKind::kInner, kSessions, left, right, inner), absl::OkStatus());
  std::vector<ResultRow> full = inner;
  for (const ResultRow& row :
       {Row(40, 50, 1, 12, {}), Row(60, 70, 1, {}, 23), Row(5, 15, 2, 13, {}), Row(15, 25, 2, {}, 21)}) {
    full.push_back(row);
  }
  EXPECT_EQ(Check(JoinKind::kFull, kSessions, left, right, full), absl::OkStatus());
}

TEST(JoinOracleTest, ARecordIsLateByItsOwnFlowsWatermark) {
  // The left side's first executor is at 30 when its record of time 5 comes; the right side and the second executor are
  // not, so theirs count.
  const GivenTicks left({{{9, 30, 10}, {1, 5, 11}}, {{1, 6, 12}}});
  const GivenTicks right({{{1, 7, 20}, {8, 60, 21}, {8, 31, 22}}, {}});
  EXPECT_EQ(Check(JoinKind::kInner, kTumbling, left, right, {Row(0, 10, 1, 12, 20)}, /*lateness_ms=*/0),
            absl::OkStatus());
  EXPECT_EQ(Check(JoinKind::kInner, kTumbling, left, right, {Row(0, 10, 1, 12, 20), Row(0, 10, 1, 11, 20)},
                  /*lateness_ms=*/21),
            absl::OkStatus());
  EXPECT_EQ(Check(JoinKind::kInner, kSessions, left, right, {Row(6, 17, 1, 12, 20)}, /*lateness_ms=*/0),
            absl::OkStatus());
}

TEST(JoinOracleTest, ARecordMayBeLateForSomeOfItsWindows) {
  const GivenTicks left({{{9, 12, 10}, {1, 8, 11}}});
  const GivenTicks right({{{1, 8, 20}}});
  EXPECT_EQ(Check(JoinKind::kInner, kSliding, left, right, {Row(5, 15, 1, 11, 20)}, /*lateness_ms=*/0),
            absl::OkStatus());
}

TEST(JoinOracleTest, CatchesWrongRows) {
  const GivenTicks left({{{1, 0, 10}, {1, 9, 11}, {2, 5, 12}}});
  const GivenTicks right({{{1, 3, 20}, {2, 3, 21}}});
  const std::vector<ResultRow> truth = {Row(0, 10, 1, 10, 20), Row(0, 10, 1, 11, 20), Row(0, 10, 2, 12, 21)};
  ASSERT_EQ(Check(JoinKind::kInner, kTumbling, left, right, truth), absl::OkStatus());
  const auto complaint = [&](const std::vector<ResultRow>& rows) {
    const absl::Status status = Check(JoinKind::kInner, kTumbling, left, right, rows);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return status.ToString();
  };
  for (std::size_t i = 0; i < truth.size(); ++i) {
    std::vector<ResultRow> rows = truth;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(complaint(rows), HasSubstr(": missing"));
    rows = truth;
    rows.push_back(rows[i]);
    EXPECT_THAT(complaint(rows), HasSubstr(": emitted again"));
    rows = truth;
    rows[i].value ^= 1;
    EXPECT_THAT(complaint(rows), HasSubstr(truth[i].key == 1 ? ": unexpected, the key has no such row"
                                                             : ": wrong, the value should be #"));
    rows = truth;
    rows[i].window_end_ms += 1;
    EXPECT_THAT(complaint(rows), HasSubstr("in 2 rows"));
  }
}

/// By the shortest code there is: every pair of records, every window, no order and no key's table.
std::vector<ResultRow> AllPairs(const Side& left, const Side& right, const CheckedWindows& windows) {
  struct Seen {
    Tick tick;
    std::int64_t watermark_ms;
  };
  const auto read = [](const Side& side) {
    std::vector<Seen> seen;
    for (std::uint32_t executor = 0; executor < side.input.record_counts.size(); ++executor) {
      for (FlowReader<Tick> flow(side.input, executor); !flow.done(); flow.Advance()) {
        seen.push_back({flow.record(), flow.watermark_ms()});
      }
    }
    return seen;
  };
  std::vector<ResultRow> rows;
  const std::vector<Seen> sellers = read(right);
  for (const Seen& a : read(left)) {
    for (const Seen& b : sellers) {
      for (std::int64_t start_ms = -4'000; a.tick.key == b.tick.key && start_ms < 12'000;
           start_ms += windows.slide_ms) {
        const std::int64_t end_ms = start_ms + windows.size_ms;
        const auto counts = [&](const Seen& seen) {
          return start_ms <= seen.tick.time_ms && seen.tick.time_ms < end_ms && end_ms > seen.watermark_ms;
        };
        if (counts(a) && counts(b)) {
          rows.push_back(Row(start_ms, end_ms, a.tick.key, left.keep(a.tick), right.keep(b.tick)));
        }
      }
    }
  }
  return rows;
}

TEST(JoinOracleTest, RandomRecordsHaveTheRowsOfAllPairs) {
  const auto side = [](const Generator<Tick>& generator, std::vector<std::uint64_t> counts) {
    return Side{.input = {.generator = &generator,
                          .event_time_ms = TickTime,
                          .record_counts = std::move(counts),
                          .watermark_every = 7,
                          .allowed_lateness_ms = 300},
                .key_of = [](const Tick& tick) { return tick.key; },
                .keep = [](const Tick& tick) { return static_cast<std::int64_t>(tick.price * 64); }};
  };
  InputOptions options{.keys = {.count = 20, .hot_share = 0.2}};
  options.timeline = {.rate = {.records = 1, .span_ms = 8}, .start_time_ms = 0, .disorder_ms = 1'500};
  const TickGenerator lefts(options);
  options.seed = 2;
  options.timeline.rate = {.records = 1, .span_ms = 32};
  const TickGenerator rights(options);
  const Side left = side(lefts, {500, 300});
  const Side right = side(rights, {125, 75});
  for (const CheckedWindows& windows : {CheckedWindows{1'000, 1'000}, CheckedWindows{1'000, 250}}) {
    const std::vector<ResultRow> rows = AllPairs(left, right, windows);
    EXPECT_GT(rows.size(), 500U);
    const Verdict verdict = TickJoin("q", JoinKind::kInner, windows, left, right).Check(rows, LeadsAll);
    EXPECT_TRUE(verdict.status.ok()) << verdict.status;
    EXPECT_EQ(verdict.expected, verdict.emitted);
  }
}

TEST(JoinOracleTest, ALongCheckEndsWhenItsWatchSaysSo) {
  const TickGenerator ticks({.keys = {.count = 1'000'000}});
  const Side side{.input = {.generator = &ticks, .event_time_ms = TickTime, .record_counts = {200'000}},
                  .key_of = [](const Tick& tick) { return tick.key; },
                  .keep = [](const Tick& tick) { return tick.time_ms; }};
  int asked = 0;
  const auto watch = [&] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("interrupted"); };
  EXPECT_EQ(TickJoin("q", JoinKind::kInner, kTumbling, side, side).Check({}, nullptr, watch).status,
            absl::CancelledError("interrupted"));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace glaive::queries
