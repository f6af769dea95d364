#include "state/index/group_index.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

struct Entry {
  std::uint64_t key;
  std::uint64_t number;
};
using Index = GroupIndex<Entry>;

std::vector<std::uint64_t> NumbersOf(const Index& index, std::uint64_t key) {
  std::vector<std::uint64_t> numbers;
  for (std::uint32_t n = index.Find(key); n != Index::kNone; n = index.Next(n)) {
    EXPECT_EQ(index.At(n).key, key);
    EXPECT_EQ(index.IsFirst(n), numbers.empty());
    numbers.push_back(index.At(n).number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void ExpectLikeAMultimap(std::uint64_t entries, std::uint64_t keys, std::uint64_t hot) {
  StateMemory memory(256 << 20);
  std::mt19937_64 random(entries + keys);
  std::vector<Entry> all;
  std::map<std::uint64_t, std::vector<std::uint64_t>> expected;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t key = i < hot ? 0 : random() % keys;
    all.push_back({.key = key, .number = i});
    expected[key].push_back(i);
  }
  Index index = Index::Create(memory, entries).value();
  while (index.ClearSome()) {
  }
  for (const Entry& entry : all) {
    index.Insert(entry);
  }
  EXPECT_EQ(index.size(), entries);
  for (const auto& [key, numbers] : expected) {
    ASSERT_EQ(NumbersOf(index, key), numbers);
  }
  EXPECT_EQ(index.Find(keys + 1), Index::kNone);
  index.Release(memory);
}

TEST(GroupIndex, FindsTheEntriesOfEveryKey) {
  ExpectLikeAMultimap(0, 1, 0);
  ExpectLikeAMultimap(1, 1, 0);
  ExpectLikeAMultimap(1000, 1000, 0);
  ExpectLikeAMultimap(100'000, 5'000, 0);
}

TEST(GroupIndex, AHotKeyCostsTheOthersNothing) {
  // Quadratic work would take minutes.
  ExpectLikeAMultimap(1'000'000, 100'000, 900'000);
}

TEST(GroupIndex, SaysWhenTheBudgetIsUsedUp) {
  StateMemory memory(4 << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(Index::Create(memory, 1 << 20).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(Index::Create(memory, Index::kMaxEntries + 1).status()));
}

}  // namespace
}  // namespace glaive::state
