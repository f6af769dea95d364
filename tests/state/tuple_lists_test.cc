#include "state/store/tuple_lists.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

std::vector<std::uint64_t> TuplesOf(const TupleLists<std::uint64_t>& lists, const TupleList& list) {
  std::vector<std::uint64_t> tuples;
  EXPECT_TRUE(lists
                  .ForEach(list,
                           [&](std::uint64_t tuple) {
                             tuples.push_back(tuple);
                             return absl::OkStatus();
                           })
                  .ok());
  return tuples;
}

TEST(TupleLists, RandomPushesAppendsAndFreesAreThoseOfVectors) {
  StateMemory memory(64 << 20);
  TupleLists<std::uint64_t> lists;
  std::vector<std::pair<TupleList, std::vector<std::uint64_t>>> all(20);
  std::mt19937_64 random(3);
  std::uint64_t most = 0;
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
        lists.Free(list);
        expected.clear();
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
  for (auto& [list, expected] : all) {
    lists.ReleaseIfEmpty(memory);
    ASSERT_EQ(TuplesOf(lists, list), expected) << "what is not empty is kept";
    lists.Free(list);
  }
  const std::uint64_t bytes = lists.size_bytes();
  lists.ReleaseIfEmpty(memory);
  EXPECT_EQ(lists.size_bytes(), 0U);
  EXPECT_GT(most, 100U);
  EXPECT_LT(bytes, 1U << 20) << "places are used again";
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
