#include "queries/common/leader_rows.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/index/key_hash.h"
#include "tests/queries/checked_rows.h"
#include "tests/state/same_elements.h"
#include "tests/state/test_hash.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kExecutors = 4;

ExecutorId LeaderOf(std::uint64_t key) { return state::LeaderOf(state::kTestHash(key), kExecutors); }

// A row for each of some keys, where the engine has its leader emit it.
std::vector<std::vector<ResultRow>> RowsByLeader() {
  std::vector<std::vector<ResultRow>> rows(kExecutors);
  for (std::uint64_t key = 0; key < 100; ++key) {
    rows[Value(LeaderOf(key))].push_back({.window_start_ms = 50, .window_end_ms = 60, .key = key, .value = 1});
  }
  return rows;
}

engine::RunFacts FactsOf(std::vector<ExecutorId> executors) {
  return {.roles = engine::Roles(kExecutors),
          .records_read = {},
          .executors = std::move(executors),
          .key_hash = state::kTestHash};
}

TEST(LeaderRowsTest, AreThoseOfTheLeadersAskedForAndTheirKeys) {
  const std::vector<std::vector<ResultRow>> by_leader = RowsByLeader();
  for (const std::vector<ResultRow>& rows : by_leader) {
    ASSERT_FALSE(rows.empty());
  }
  const absl::StatusOr<LeaderRows> rows = RowsOfLeaders("q", by_leader, FactsOf({ExecutorId{1}, ExecutorId{3}}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<ResultRow> expected = by_leader[1];
  expected.insert(expected.end(), by_leader[3].begin(), by_leader[3].end());
  EXPECT_TRUE(SameElements(rows->rows, expected));
  for (std::size_t leader = 0; leader < by_leader.size(); ++leader) {
    for (const ResultRow& row : by_leader[leader]) {
      EXPECT_EQ(rows->leads(row.key), leader == 1 || leader == 3) << "key " << row.key;
    }
  }
}

TEST(LeaderRowsTest, ARowOfAnotherLeadersKeyIsNamed) {
  std::vector<std::vector<ResultRow>> by_leader = RowsByLeader();
  const ResultRow row = by_leader[2].back();
  by_leader[0].push_back(row);
  const engine::RunFacts all = FactsOf({ExecutorId{0}, ExecutorId{1}, ExecutorId{2}, ExecutorId{3}});
  const absl::Status status = RowsOfLeaders("q", by_leader, all).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(status.ToString(), HasSubstr(absl::StrCat("q results are wrong: executor 0 emitted window 50 key ",
                                                        row.key, ", and executor 2 leads that key")));
  EXPECT_TRUE(RowsOfLeaders("q", by_leader, FactsOf({ExecutorId{1}})).ok()) << "the others' are not read";
}

// As a node sends it.
std::string Node(const Totals& expected, const Totals& emitted) {
  return EncodeTotals({.status = absl::OkStatus(), .expected = expected, .emitted = emitted});
}

TEST(NodeTotalsTest, AddUpToWhatIsExpectedOfTheRun) {
  const Totals expected{.rows = 5, .value_sum = UINT64_MAX, .checksum = 77};
  const std::string one = Node(expected, {.rows = 2, .value_sum = 9, .checksum = 70});
  const std::string two = Node(expected, {.rows = 3, .value_sum = UINT64_MAX - 9, .checksum = 7});
  EXPECT_EQ(CheckAllTotals("q", std::vector{one, two}), absl::OkStatus());
  EXPECT_EQ(CheckAllTotals("q", std::vector{two, one}), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(CheckAllTotals("q", std::vector{one})));
  EXPECT_TRUE(absl::IsDataLoss(CheckAllTotals("q", std::vector{one, two, two})));
}

TEST(NodeTotalsTest, EachOfThemCounts) {
  const Totals expected{.rows = 1, .value_sum = 2, .checksum = 3};
  for (const Totals& wrong : {Totals{2, 2, 3}, Totals{1, 3, 3}, Totals{1, 2, 4}}) {
    EXPECT_TRUE(absl::IsDataLoss(CheckAllTotals("q", std::vector{Node(expected, wrong)})));
  }
}

TEST(NodeTotalsTest, WhatIsNoTotalsIsRefused) {
  for (const char* text : {"", "1 2 3 4 5", "1 2 3 4 5 6 7", "1 2 3 4 5 x", "1 2 3 4 5 -6"}) {
    const absl::Status status = CheckAllTotals("q", std::vector<std::string>{text});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(status.ToString(), HasSubstr(absl::StrCat("a node's totals cannot be read: '", text, "'")));
  }
}

}  // namespace
}  // namespace glaive::queries
