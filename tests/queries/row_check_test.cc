#include "queries/common/row_check.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/checked_rows.h"

namespace glaive::queries {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::uint64_t kMost = UINT64_MAX;

// Three windows, two of which overlap and two of which start together.
std::vector<ResultRow> TrueRows() {
  std::vector<ResultRow> rows;
  for (const auto& [start_ms, end_ms] : {std::pair(1'000, 2'000), std::pair(1'000, 3'000), std::pair(1'500, 2'500)}) {
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{9}, kMost}) {
      rows.push_back({.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key, .value = rows.size() % 3 + 10});
    }
  }
  return rows;
}

Verdict Check(const std::vector<ResultRow>& truth, const std::vector<ResultRow>& emitted,
              const RowCheck::Leads& leads = nullptr, ValueKind kind = ValueKind::kInteger) {
  RowCheck check("q", kind, emitted, leads);
  for (auto row = truth.begin(); row != truth.end();) {
    const auto next = std::find_if(row, truth.end(), [&](const ResultRow& other) {
      return other.window_start_ms != row->window_start_ms || other.window_end_ms != row->window_end_ms;
    });
    check.Window({row, next});
    row = next;
  }
  return check.Finish();
}

std::string Complaint(const std::vector<ResultRow>& emitted, const RowCheck::Leads& leads = nullptr) {
  const absl::Status status = Check(TrueRows(), emitted, leads).status;
  EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  return std::string(status.message());
}

TEST(RowCheckTest, AcceptsTheTruthInAnyOrder) {
  std::vector<ResultRow> rows = TrueRows();
  std::ranges::reverse(rows);
  std::swap(rows[1], rows[7]);
  const Verdict verdict = Check(TrueRows(), rows, LeadsAll);
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.emitted, TotalsOf(rows));
  EXPECT_EQ(verdict.expected, TotalsOf(rows));
}

TEST(RowCheckTest, NothingIsRightWhereNothingIsExpected) {
  EXPECT_TRUE(Check({}, {}, LeadsAll).status.ok());
  EXPECT_THAT(
      Check({}, {{0, 10, 1, 2}}).status.ToString(),
      HasSubstr("q results are wrong in 1 row: window 0 to 10 key 1 value 2: unexpected, no executor has a record "
                "in the window"));
}

TEST(RowCheckTest, ExtremeKeysAndValuesAreRowsLikeOthers) {
  for (const std::uint64_t key : {std::uint64_t{0}, kMost}) {
    for (const std::uint64_t value : {std::uint64_t{0}, kMost}) {
      const std::vector<ResultRow> rows = {
          {.window_start_ms = INT64_MIN, .window_end_ms = INT64_MAX, .key = key, .value = value}};
      const absl::Status status = Check(rows, rows, LeadsAll).status;
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST(RowCheckTest, CatchesAValueThatIsOffByOne) {
  for (std::size_t i = 0; i < TrueRows().size(); ++i) {
    for (const std::uint64_t delta : {std::uint64_t{1}, kMost}) {
      std::vector<ResultRow> rows = TrueRows();
      rows[i].value += delta;
      EXPECT_THAT(Complaint(rows),
                  HasSubstr("q results are wrong in 1 row: window " + std::to_string(rows[i].window_start_ms) + " to " +
                            std::to_string(rows[i].window_end_ms) + " key " + std::to_string(rows[i].key) + " value " +
                            std::to_string(rows[i].value) + ": wrong, the value should be " +
                            std::to_string(TrueRows()[i].value)));
    }
  }
}

TEST(RowCheckTest, WritesRealValuesSoThatTheyCanBeToldApart) {
  const ResultRow truth{0, 10, 1, ValueBits(0.1)};
  const ResultRow wrong{0, 10, 1, ValueBits(0.1 + 0x1p-56)};
  EXPECT_THAT(Check({truth}, {wrong}, nullptr, ValueKind::kReal).status.ToString(),
              HasSubstr("value 0.10000000000000002: wrong, the value should be 0.10000000000000001"));
  EXPECT_THAT(Check({{0, 10, 1, ValueBits(-1)}}, {{0, 10, 1, ValueBits(-2)}}).status.ToString(),
              HasSubstr("value -2: wrong, the value should be -1"));
}

TEST(RowCheckTest, CatchesARowEmittedTwice) {
  for (const std::uint64_t delta : {0U, 1U}) {
    std::vector<ResultRow> rows = TrueRows();
    ResultRow again = rows[6];
    again.value += delta;
    rows.push_back(again);
    EXPECT_THAT(Complaint(rows), HasSubstr("in 1 row: "));
    EXPECT_THAT(Complaint(rows),
                HasSubstr(delta == 0 ? ": emitted again"
                                     : ": unexpected, the value should be " + std::to_string(rows[6].value)));
  }
}

TEST(RowCheckTest, CatchesARowInTheWrongWindow) {
  for (std::size_t i = 0; i < TrueRows().size(); ++i) {
    for (const std::int64_t shift_ms : {-100'000, -1, 1, 500, 1'000'000}) {
      std::vector<ResultRow> moved = TrueRows();
      moved[i].window_start_ms += shift_ms;
      EXPECT_THAT(Complaint(moved), HasSubstr("q results are wrong in 1 row")) << "start " << i << " by " << shift_ms;
      std::vector<ResultRow> longer = TrueRows();
      longer[i].window_end_ms += shift_ms;
      EXPECT_THAT(Complaint(longer), HasSubstr("q results are wrong in 1 row")) << "end " << i << " by " << shift_ms;
    }
  }
}

TEST(RowCheckTest, CatchesAKeyThatWasNeverThere) {
  for (const std::uint64_t key : {std::uint64_t{1}, std::uint64_t{10}, kMost - 1}) {
    std::vector<ResultRow> rows = TrueRows();
    rows.push_back({.window_start_ms = 1'500, .window_end_ms = 2'500, .key = key, .value = 1});
    EXPECT_THAT(Complaint(rows), HasSubstr("in 1 row: window 1500 to 2500 key " + std::to_string(key) +
                                           " value 1: unexpected, the key has no record in the window"));
  }
}

TEST(RowCheckTest, CatchesAMissingRowAtItsLeader) {
  const auto leads = [](std::uint64_t key) { return key % 2 == 0; };
  std::vector<ResultRow> rows = TrueRows();
  std::erase_if(rows, [&](const ResultRow& row) { return !leads(row.key); });
  EXPECT_EQ(Complaint(rows, leads), "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<ResultRow> incomplete = rows;
    incomplete.erase(incomplete.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(Complaint(incomplete, leads),
                HasSubstr("in 1 row: window " + std::to_string(rows[i].window_start_ms) + " to " +
                          std::to_string(rows[i].window_end_ms) + " key " + std::to_string(rows[i].key) + " value " +
                          std::to_string(rows[i].value) + ": missing"));
    EXPECT_EQ(Complaint(incomplete), "") << "without the leader's keys only the totals can tell";
  }
}

TEST(RowCheckTest, CatchesARowOfAnotherLeadersKey) {
  EXPECT_THAT(
      Complaint(TrueRows(), [](std::uint64_t key) { return key != 4; }),
      HasSubstr("in 3 rows; the first: window 1000 to 2000 key 4 value 11: emitted by an executor that does not "
                "lead the key"));
}

// A key with the rows 5, 5, 6 and 8 in a window, between two others with one each.
std::vector<ResultRow> Several() {
  std::vector<ResultRow> rows = {{0, 10, 1, 3}};
  for (const std::uint64_t value : {5, 5, 6, 8}) {
    rows.push_back({0, 10, 2, value});
  }
  rows.push_back({0, 10, 3, 5});
  return rows;
}

std::string ComplaintAboutSeveral(const std::vector<ResultRow>& emitted) {
  return std::string(Check(Several(), emitted, LeadsAll).status.message());
}

TEST(RowCheckTest, SeveralRowsOfAKeyAreRightInAnyOrder) {
  std::vector<ResultRow> rows = Several();
  do {
    ASSERT_EQ(ComplaintAboutSeveral(rows), "");
    std::next_permutation(rows.begin(), rows.end());
  } while (rows != Several());
}

TEST(RowCheckTest, OfSeveralRowsOfAKeyEachIsThereAsOftenAsItIsTrue) {
  const std::vector<ResultRow> truth = Several();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::string row =
        "in 1 row: window 0 to 10 key " + std::to_string(truth[i].key) + " value " + std::to_string(truth[i].value);
    std::vector<ResultRow> rows = truth;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(ComplaintAboutSeveral(rows), EndsWith(row + ": missing"));
    rows = truth;
    rows.push_back(truth[i]);
    EXPECT_THAT(ComplaintAboutSeveral(rows), EndsWith(row + ": emitted again"));
  }
}

TEST(RowCheckTest, OfSeveralRowsOfAKeyAWrongOneIsUnexpectedAndTheTrueOneMissing) {
  for (const std::uint64_t value : {0, 4, 7, 9}) {
    std::vector<ResultRow> rows = Several();
    rows[3].value = value;
    EXPECT_THAT(ComplaintAboutSeveral(rows), AllOf(HasSubstr("in 2 rows"), HasSubstr("value 6: missing"),
                                                   HasSubstr("value " + std::to_string(value) +
                                                             ": unexpected, the key has no such row in the window")));
  }
  std::vector<ResultRow> rows = Several();
  rows[3].value = 8;
  EXPECT_THAT(ComplaintAboutSeveral(rows), AllOf(HasSubstr("value 6: missing"), HasSubstr("value 8: emitted again")));
}

TEST(RowCheckTest, WhereOneRowIsTrueAndOneEmittedTheValueIsWrong) {
  std::vector<ResultRow> rows = Several();
  rows[0].value = 4;
  EXPECT_THAT(ComplaintAboutSeveral(rows), EndsWith("key 1 value 4: wrong, the value should be 3"));
  EXPECT_THAT(Check({{0, 10, 1, 3}}, {{0, 10, 1, 4}, {0, 10, 1, 5}}, LeadsAll).status.ToString(),
              AllOf(HasSubstr("in 3 rows"), HasSubstr("value 3: missing"),
                    HasSubstr("value 4: unexpected, the value should be 3"),
                    HasSubstr("value 5: unexpected, the value should be 3")));
}

TEST(RowCheckTest, WritesAHashInHexadecimalDigits) {
  EXPECT_THAT(Check({{0, 10, 1, 0xabc}}, {{0, 10, 1, 0xabd}}, nullptr, ValueKind::kHash).status.ToString(),
              HasSubstr("value #0000000000000abd: wrong, the value should be #0000000000000abc"));
}

TEST(RowCheckTest, TakesTheRowsOfAllWindowsInAnyOrder) {
  std::vector<ResultRow> truth = TrueRows();
  std::ranges::reverse(truth);
  RowCheck check("q", ValueKind::kInteger, TrueRows(), LeadsAll);
  check.Windows(truth);
  const Verdict verdict = check.Finish();
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.expected, TotalsOf(truth));
}

TEST(RowCheckTest, SaysTheFirstFewAndCountsTheRest) {
  std::vector<ResultRow> truth;
  std::vector<ResultRow> wrong;
  for (std::uint64_t key = 0; key < 1'000; ++key) {
    truth.push_back({0, 10, key, 1});
    wrong.push_back({0, 10, key, 2});
  }
  const std::string complaint = Check(truth, wrong).status.ToString();
  EXPECT_THAT(complaint, HasSubstr("wrong in 1000 rows; the first: window 0 to 10 key 0 value 2: "));
  EXPECT_LT(complaint.size(), 600U);
}

TEST(CheckTotalsTest, AllLeadersTogetherShowARowMissingHereAndOneTwiceThere) {
  const Totals expected = TotalsOf(TrueRows());
  EXPECT_TRUE(CheckTotals("q", expected, TotalsOf(TrueRows())).ok());
  std::vector<ResultRow> rows = TrueRows();
  ASSERT_EQ(rows[0].value, rows[3].value) << "so that only the checksum can tell";
  rows[0] = rows[3];
  const Totals emitted = TotalsOf(rows);
  EXPECT_EQ(emitted.rows, expected.rows);
  EXPECT_EQ(emitted.value_sum, expected.value_sum);
  const absl::Status status = CheckTotals("q", expected, emitted);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(status.ToString(),
              HasSubstr("q results of all executors together are wrong: 12 rows with the checksum "));
}

}  // namespace
}  // namespace glaive::queries
