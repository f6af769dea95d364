#include "state/store/tuple_lists.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/state/tuples_of.h"

namespace glaive::state {
namespace {

using ListAndTuples = std::pair<TupleList, std::vector<std::uint64_t>>;

/// Moves all lists to new ones.
void Gather(StateMemory& memory, TupleLists<std::uint64_t>& lists, std::vector<ListAndTuples>& all) {
  TupleLists<std::uint64_t> gathered;
  ASSERT_TRUE(gathered.MakeRoom(memory, lists.size()).ok());
  for (auto& [list, expected] : all) {
    TupleList moved;
    for (const std::uint64_t tuple : TuplesOf(lists, list)) {
      gathered.Push(moved, tuple);
    }
    list = moved;
  }
  EXPECT_EQ(gathered.size(), lists.size());
  EXPECT_FALSE(gathered.IsSparse());
  lists.Release(memory);
  lists = std::move(gathered);
}

TEST(TupleLists, RandomPushesAppendsAndDropsAreThoseOfVectors) {
  StateMemory memory(64 << 20);
  TupleLists<std::uint64_t> lists;
  std::vector<ListAndTuples> all(20);
  std::mt19937_64 random(3);
  std::uint64_t most = 0;
  std::uint64_t gathered = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    auto& [list, expected] = all[random() % all.size()];
    switch (random() % 20) {
      case 0: {
        auto& [other, more] = all[random() % all.size()];
        if (&other != &list) {
          lists.Concatenate(list, other);
          expected.insert(expected.end(), more.begin(), more.end());
          more.clear();
          EXPECT_EQ(other.size, 0U);
        }
        break;
      }
      case 1:
        lists.Drop(list);
        expected.clear();
        if (lists.IsSparse()) {
          Gather(memory, lists, all);
          ++gathered;
        }
        break;
      default:
        ASSERT_TRUE(lists.MakeRoom(memory, 1).ok());
        lists.Push(list, i);
        expected.push_back(i);
    }
    ASSERT_EQ(list.size, expected.size());
    if (i % 1000 == 0) {
      std::uint64_t size = 0;
      for (const auto& [each, tuples] : all) {
        ASSERT_EQ(TuplesOf(lists, each), tuples);
        size += tuples.size();
      }
      ASSERT_EQ(lists.size(), size);
      most = std::max(most, size);
    }
  }
  EXPECT_GT(most, 100U);
  EXPECT_GT(gathered, 10U);
  EXPECT_LT(lists.size_bytes(), 1U << 20) << "what has been dropped takes no more than what is left";
  lists.Release(memory);
  EXPECT_EQ(lists.size(), 0U);
  EXPECT_EQ(lists.size_bytes(), 0U);
}

TEST(TupleLists, AnErrorEndsTheWalk) {
  StateMemory memory(64 << 20);
  TupleLists<int> lists;
  TupleList list;
  ASSERT_TRUE(lists.MakeRoom(memory, 3).ok());
  for (int i = 0; i < 3; ++i) lists.Push(list, i);
  int seen = 0;
  EXPECT_TRUE(absl::IsAborted(lists.ForEach(list, [&](int tuple) {
    ++seen;
    return tuple == 1 ? absl::AbortedError("enough") : absl::OkStatus();
  })));
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace glaive::state
