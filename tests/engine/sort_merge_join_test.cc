// JoinSameHash: keys that share a hash are told apart.

#include "engine/stage/sort_merge_join.h"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "engine/graph/join_rows.h"

namespace glaive::engine {
namespace {

struct SameHashEntry {
  std::uint64_t key;
  int number;
};
using SameHashTuple = SortedTuples<SameHashEntry>::Tuple;

std::vector<SameHashTuple> TuplesOf(const std::vector<SameHashEntry>& entries) {
  std::vector<SameHashTuple> tuples;
  for (const SameHashEntry& entry : entries) tuples.push_back({.hash = 17, .entry = &entry});
  return tuples;
}

/// The numbers of both sides of each row, 0 for none, of entries whose keys share a hash.
template <JoinKind kKind>
std::multiset<std::pair<int, int>> RowsOf(const std::vector<SameHashEntry>& left,
                                          const std::vector<SameHashEntry>& right) {
  std::multiset<std::pair<int, int>> rows;
  const auto number = [](const SameHashEntry* entry) { return entry == nullptr ? 0 : entry->number; };
  const std::vector<SameHashTuple> left_tuples = TuplesOf(left);
  const std::vector<SameHashTuple> right_tuples = TuplesOf(right);
  const absl::Status status = JoinSameHash<JoinRows<kKind, int, int>>(
      std::span<const SameHashTuple>(left_tuples), std::span<const SameHashTuple>(right_tuples), [] {},
      [&](const SameHashEntry* one, const SameHashEntry* other) {
        rows.emplace(number(one), number(other));
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

TEST(SortMergeJoin, KeysThatShareAHashAreToldApart) {
  const std::vector<SameHashEntry> left = {{5, 1}, {6, 2}, {5, 3}, {8, 4}};
  const std::vector<SameHashEntry> right = {{6, 11}, {5, 12}, {7, 13}, {6, 14}};
  using Rows = std::multiset<std::pair<int, int>>;
  const Rows pairs = {{1, 12}, {2, 11}, {2, 14}, {3, 12}};
  EXPECT_EQ((RowsOf<JoinKind::kInner>(left, right)), pairs);
  Rows all = pairs;
  all.insert({4, 0});
  EXPECT_EQ((RowsOf<JoinKind::kLeft>(left, right)), all);
  all.insert({0, 13});
  EXPECT_EQ((RowsOf<JoinKind::kFull>(left, right)), all);
  EXPECT_EQ((RowsOf<JoinKind::kSemi>(left, right)), (Rows{{1, 0}, {2, 0}, {3, 0}}));
  EXPECT_EQ((RowsOf<JoinKind::kAnti>(left, right)), (Rows{{4, 0}}));
}

TEST(SortMergeJoin, AnErrorEndsIt) {
  const std::vector<SameHashEntry> entries = {{5, 1}, {5, 2}};
  const std::vector<SameHashTuple> tuples = TuplesOf(entries);
  int rows = 0;
  const absl::Status status = JoinSameHash<JoinRows<JoinKind::kInner, int, int>>(
      std::span<const SameHashTuple>(tuples), std::span<const SameHashTuple>(tuples), [] {},
      [&](const SameHashEntry*, const SameHashEntry*) {
        return ++rows == 2 ? absl::ResourceExhaustedError("full") : absl::OkStatus();
      });
  EXPECT_EQ(status, absl::ResourceExhaustedError("full"));
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace glaive::engine
