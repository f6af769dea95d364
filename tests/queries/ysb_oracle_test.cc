#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/ysb/oracle.h"

namespace glaive::queries::ysb {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kWindowMs = 1'000;

// Two executors, some hundred keys, five and a half windows.
OracleOptions SlashRun() {
  return {.generator = {.keys = 200,
                        .rate = {.records = 1'000, .span_ms = 1'100},
                        .window_ms = kWindowMs,
                        .start_time_ms = 5'000},
          .record_counts = {5'000, 3'000}};
}

// The same by the shortest code there is: one record at a time, one map.
std::vector<ResultRow> Truth(const OracleOptions& options) {
  const Generator generator(options.generator);
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;
  for (std::uint32_t executor = 0; executor < options.record_counts.size(); ++executor) {
    for (std::uint64_t n = 0; n < options.record_counts[executor]; ++n) {
      const std::uint64_t block = options.block_records != 0 ? options.block_records : options.record_counts[executor];
      const YsbEvent event = generator.At(executor, n % block);
      if (event.event_type != EventType::kView) {
        continue;
      }
      std::uint64_t key = event.ad_id;
      if (options.generator.profile == Profile::kYahoo) {
        key = CampaignTable().Find(key);
      }
      const std::int64_t time_ms = event.event_time_ms + static_cast<std::int64_t>(n / block) * options.block_span_ms;
      const std::int64_t window_ms = options.generator.window_ms;
      ++counts[{time_ms / window_ms * window_ms, key}];
    }
  }
  std::vector<ResultRow> rows;
  for (const auto& [window_and_key, count] : counts) {
    rows.push_back({.window_start_ms = window_and_key.first, .key = window_and_key.second, .count = count});
  }
  return rows;
}

Totals TotalsOf(const std::vector<ResultRow>& rows) {
  Totals totals;
  for (const ResultRow& row : rows) {
    totals.Add(row);
  }
  return totals;
}

std::string Complaint(const std::vector<ResultRow>& rows) { return Oracle(SlashRun()).Check(rows).status.ToString(); }

TEST(OracleTest, AcceptsTheTruthInAnyOrder) {
  std::vector<ResultRow> rows = Truth(SlashRun());
  ASSERT_GT(rows.size(), 900u);
  std::ranges::reverse(rows);
  const Oracle::Verdict verdict = Oracle(SlashRun()).Check(rows);
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.emitted, verdict.expected);
  EXPECT_EQ(verdict.expected, TotalsOf(rows));
  EXPECT_TRUE(CheckTotals(verdict.expected, verdict.emitted).ok());
}

TEST(OracleTest, AcceptsTheTruthOfTheYahooProfile) {
  OracleOptions options = SlashRun();
  options.generator.profile = Profile::kYahoo;
  const std::vector<ResultRow> rows = Truth(options);
  const Oracle::Verdict verdict = Oracle(options).Check(rows, [](std::uint64_t) { return true; });
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.expected, TotalsOf(rows));
}

TEST(OracleTest, RepeatedBlocksMoveEventTimeOnAndMayEndInTheirMiddle) {
  OracleOptions options = SlashRun();
  options.block_records = 900;
  options.block_span_ms = 2 * kWindowMs;  // with a gap: a block spans 990 ms
  for (const std::vector<std::uint64_t>& counts :
       std::vector<std::vector<std::uint64_t>>{{900, 900}, {4'499, 0}, {1, 5'401}, {0, 0}}) {
    options.record_counts = counts;
    const std::vector<ResultRow> rows = Truth(options);
    const Oracle::Verdict verdict = Oracle(options).Check(rows, [](std::uint64_t) { return true; });
    EXPECT_TRUE(verdict.status.ok()) << verdict.status;
    EXPECT_EQ(verdict.expected, TotalsOf(rows)) << counts[0] << " and " << counts[1];
  }
}

TEST(OracleTest, AnExecutorFarBehindInEventTimeStillCounts) {
  OracleOptions options = SlashRun();
  options.record_counts = {10'000, 1, 0, 777};
  const std::vector<ResultRow> rows = Truth(options);
  const Oracle::Verdict verdict = Oracle(options).Check(rows);
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.expected, TotalsOf(rows));
}

TEST(OracleTest, MoreRecordsThanAreCountedAtOnceAddUp) {
  OracleOptions options = SlashRun();
  options.generator.keys = 3;
  options.generator.rate = {.records = 5'000'000, .span_ms = kWindowMs};
  options.record_counts = {4'500'000};  // 1.5 million views, all in one window
  const Oracle::Verdict verdict = Oracle(options).Check({});
  EXPECT_TRUE(verdict.status.ok());
  EXPECT_EQ(verdict.expected.rows, 3u);
  EXPECT_NEAR(static_cast<double>(verdict.expected.count_sum), 1'500'000.0, 6'000.0);
}

TEST(OracleTest, CatchesACountThatIsOffByOne) {
  for (const std::uint64_t delta : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    std::vector<ResultRow> rows = Truth(SlashRun());
    ResultRow& row = rows[rows.size() / 2];
    const std::uint64_t count = row.count;
    row.count += delta;
    EXPECT_THAT(Complaint(rows), HasSubstr("in 1 row: window " + std::to_string(row.window_start_ms) + " key " +
                                           std::to_string(row.key) + " count " + std::to_string(row.count) +
                                           ": wrong, the count should be " + std::to_string(count)));
  }
}

TEST(OracleTest, CatchesARowEmittedTwice) {
  std::vector<ResultRow> rows = Truth(SlashRun());
  rows.push_back(rows[17]);
  EXPECT_THAT(Complaint(rows), HasSubstr("in 1 row: "));
  EXPECT_THAT(Complaint(rows), HasSubstr(": emitted again, after a count of " + std::to_string(rows[17].count)));
}

TEST(OracleTest, CatchesARowInTheWrongWindow) {
  for (const std::int64_t shift_ms :
       {-kWindowMs, kWindowMs, 100 * kWindowMs, std::int64_t{1}, std::int64_t{-100'000}}) {
    std::vector<ResultRow> rows = Truth(SlashRun());
    rows[rows.size() / 2].window_start_ms += shift_ms;
    EXPECT_THAT(Complaint(rows), HasSubstr("ysb results are wrong")) << "shift " << shift_ms;
  }
}

TEST(OracleTest, CatchesAKeyThatWasNeverThere) {
  std::vector<ResultRow> rows = Truth(SlashRun());
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{201}, UINT64_MAX}) {
    rows.push_back({.window_start_ms = 6'000, .key = key, .count = 1});
    EXPECT_THAT(Complaint(rows), HasSubstr("in 1 row: window 6000 key " + std::to_string(key) +
                                           " count 1: unexpected, the key has no view in the window"));
    rows.pop_back();
  }
}

TEST(OracleTest, CatchesAMissingRowAtItsLeader) {
  const auto leads = [](std::uint64_t key) { return key % 2 == 0; };
  std::vector<ResultRow> rows = Truth(SlashRun());
  std::erase_if(rows, [&](const ResultRow& row) { return !leads(row.key); });
  const Oracle oracle(SlashRun());
  EXPECT_TRUE(oracle.Check(rows, leads).status.ok());
  for (const std::size_t index : {std::size_t{0}, rows.size() / 2, rows.size() - 1}) {
    std::vector<ResultRow> incomplete = rows;
    const ResultRow lost = incomplete[index];
    incomplete.erase(incomplete.begin() + static_cast<std::ptrdiff_t>(index));
    EXPECT_THAT(oracle.Check(incomplete, leads).status.ToString(),
                HasSubstr("in 1 row: window " + std::to_string(lost.window_start_ms) + " key " +
                          std::to_string(lost.key) + " count " + std::to_string(lost.count) + ": missing"));
    EXPECT_TRUE(oracle.Check(incomplete).status.ok()) << "without the leader's keys only the totals can tell";
  }
}

TEST(OracleTest, CatchesARowOfAnotherLeadersKey) {
  const auto leads = [](std::uint64_t key) { return key != 77; };
  EXPECT_THAT(Oracle(SlashRun()).Check(Truth(SlashRun()), leads).status.ToString(),
              HasSubstr("emitted by an executor that does not lead the key"));
}

TEST(OracleTest, SaysTheFirstFewAndCountsTheRest) {
  std::vector<ResultRow> rows = Truth(SlashRun());
  for (ResultRow& row : rows) {
    row.count += 1;
  }
  const std::string complaint = Complaint(rows);
  EXPECT_THAT(complaint, HasSubstr("wrong in " + std::to_string(rows.size()) + " rows; the first: window 5000 key 1 "));
  EXPECT_LT(complaint.size(), 600u);
}

TEST(OracleTest, TheTotalsOfAllLeadersShowARowMissingHereAndOneTwiceThere) {
  const std::vector<ResultRow> truth = Truth(SlashRun());
  const Totals expected = Oracle(SlashRun()).Check({}).expected;
  std::vector<ResultRow> lost_and_doubled = truth;
  // Find two rows of the same count, so that only the checksum can tell.
  const auto twin = std::ranges::find(lost_and_doubled.begin() + 1, lost_and_doubled.end(),
                                      lost_and_doubled.front().count, &ResultRow::count);
  ASSERT_NE(twin, lost_and_doubled.end());
  lost_and_doubled.front() = *twin;
  Totals emitted;
  emitted.Merge(TotalsOf({lost_and_doubled.begin(), lost_and_doubled.begin() + 500}));
  emitted.Merge(TotalsOf({lost_and_doubled.begin() + 500, lost_and_doubled.end()}));
  EXPECT_EQ(emitted.rows, expected.rows);
  EXPECT_EQ(emitted.count_sum, expected.count_sum);
  EXPECT_THAT(CheckTotals(expected, emitted).ToString(), HasSubstr("results of all executors together are wrong"));
  EXPECT_TRUE(CheckTotals(expected, TotalsOf(truth)).ok());
}

TEST(OracleTest, ALongCheckEndsWhenItsWatchSaysSo) {
  OracleOptions options = SlashRun();
  options.record_counts = {1'000'000, 1'000'000};
  int asked = 0;
  const auto watch = [&] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("interrupted"); };
  EXPECT_EQ(Oracle(options).Check({}, nullptr, watch).status, absl::CancelledError("interrupted"));
  EXPECT_EQ(asked, 3);
}

TEST(OracleTest, TheChecksumTellsFieldsApart) {
  const ResultRow row{.window_start_ms = 3, .key = 4, .count = 5};
  const Totals totals = TotalsOf({row});
  for (const ResultRow other : {ResultRow{3, 5, 4}, ResultRow{4, 3, 5}, ResultRow{5, 4, 3}, ResultRow{3, 4, 6}}) {
    EXPECT_NE(TotalsOf({other}).checksum, totals.checksum);
  }
}

TEST(OracleTest, ABlockSpanThatIsNoWholeNumberOfWindowsIsRefused) {
  OracleOptions options = SlashRun();
  options.block_records = 1'000;
  options.block_span_ms = 1'500;
  EXPECT_THAT(Validate(options).ToString(), HasSubstr("moves event time on by 1500 ms; it must be a multiple of 1000"));
  options.block_span_ms = 1'000;
  EXPECT_THAT(Validate(options).ToString(), HasSubstr("at least 1099 ms"));
  options.block_span_ms = 2'000;
  EXPECT_TRUE(Validate(options).ok());
  options.generator.keys = 0;
  EXPECT_FALSE(Validate(options).ok());
}

}  // namespace
}  // namespace glaive::queries::ysb
