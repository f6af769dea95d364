#include "state/store/combiner.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

using SumCombiner = Combiner<std::uint64_t, Sum>;
using Sums = std::map<std::uint64_t, absl::int128>;

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

/// False if the key finds no cell.
bool Add(SumCombiner& combiner, std::uint64_t key, std::int64_t input) {
  CompactForm<Sum>* const form = combiner.FindOrInsert(key);
  return form != nullptr && form->TryUpdate(input);
}

/// Adds to new keys from `first` on as long as they find cells. Returns how many did.
std::uint64_t Fill(SumCombiner& combiner, std::uint64_t first) {
  std::uint64_t key = first;
  while (Add(combiner, key, 1)) {
    ++key;
  }
  return key - first;
}

/// Reads out everything, `at_a_time` at most.
Sums ReadOut(SumCombiner& combiner, StateMemory& memory, std::size_t at_a_time) {
  Sums sums;
  std::vector<Form> forms(at_a_time);
  while (const std::size_t count = combiner.ReadOut(memory, std::span(forms))) {
    EXPECT_LE(count, at_a_time);
    for (const Form& form : std::span(forms).first(count)) {
      EXPECT_TRUE(sums.emplace(form.key, form.form.Result()).second) << "key " << form.key << " twice";
    }
  }
  return sums;
}

TEST(Combiner, ReadsOutWhatWasFolded) {
  std::mt19937_64 random(1);
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 64 << 10).value();
  for (const std::size_t at_a_time : {1U, 2U, 7U, 64U, 1000U}) {
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(testing::Message() << at_a_time << " at a time, round " << round);
      Sums expected;
      Sums handed_over;
      const std::uint64_t keys = 1 + random() % 2000;
      for (std::uint64_t left = random() % 4000; left > 0; --left) {
        const std::uint64_t key = random() % keys;  // that of zeros too
        const auto input = static_cast<std::int64_t>(random() % 1000) - 500;
        (Add(combiner, key, input) ? expected : handed_over)[key] += input;
      }
      EXPECT_EQ(combiner.size(), expected.size());
      EXPECT_EQ(combiner.empty(), expected.empty());
      EXPECT_EQ(ReadOut(combiner, memory, at_a_time), expected);
      EXPECT_TRUE(combiner.empty());
      EXPECT_EQ(combiner.size(), 0U);
    }
  }
}

TEST(Combiner, AKeyFindsItsFormHoweverManyOthersFindNone) {
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 4 << 10).value();
  const std::uint64_t keys = Fill(combiner, 1);
  EXPECT_TRUE(combiner.full());
  EXPECT_FALSE(Add(combiner, keys + 1, 1));
  for (std::uint64_t key = 1; key <= keys; ++key) {
    EXPECT_TRUE(Add(combiner, key, 1)) << "key " << key;
  }
  for (const auto& [key, sum] : ReadOut(combiner, memory, 1000)) {
    EXPECT_EQ(sum, 2) << "key " << key;
  }
}

TEST(Combiner, OfNothingReadsOutNothing) {
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 4 << 10).value();
  EXPECT_TRUE(combiner.empty());
  EXPECT_TRUE(ReadOut(combiner, memory, 10).empty());
  SumCombiner of_no_use;
  EXPECT_TRUE(of_no_use.empty());
  EXPECT_TRUE(ReadOut(of_no_use, memory, 10).empty());
}

TEST(Combiner, GrowsWhenItIsFullUpToItsLimit) {
  constexpr std::uint64_t kMostBytes = 64 << 10;
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, kMostBytes).value();
  std::vector<std::uint64_t> keys;
  for (bool wants_to_grow = true; wants_to_grow && keys.size() < 10;) {
    keys.push_back(Fill(combiner, 1));
    EXPECT_LT(combiner.size_bytes(), 2 * kMostBytes);
    wants_to_grow = combiner.wants_to_grow();
    ReadOut(combiner, memory, 1000);
    EXPECT_FALSE(combiner.wants_to_grow()) << "when it is empty";
  }
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_GT(keys[0], 100U);
  EXPECT_LT(keys[0], 200U) << "it starts small";
  EXPECT_GT(keys[1], 7 * keys[0]);
  EXPECT_GT(keys[2], keys[1]);
  EXPECT_GT(combiner.size_bytes(), kMostBytes / 2);
}

TEST(Combiner, ShrinksWhenFewKeysCome) {
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 64 << 10).value();
  const std::size_t small = combiner.size_bytes();
  for (int i = 0; i < 2; ++i) {
    Fill(combiner, 1);
    ReadOut(combiner, memory, 1000);
  }
  const std::size_t large = combiner.size_bytes();
  ASSERT_GT(large, 5 * small);
  for (std::uint64_t key = 1; key <= 10; ++key) {
    ASSERT_TRUE(Add(combiner, key, 1));
  }
  ReadOut(combiner, memory, 1000);
  EXPECT_EQ(combiner.size_bytes(), small);
  for (std::uint64_t key = 1; key <= 100; ++key) {
    ASSERT_TRUE(Add(combiner, key, 1)) << "twice as many as came have cells";
  }
  ReadOut(combiner, memory, 1000);
  EXPECT_EQ(combiner.size_bytes(), small) << "nearly as many as it is for";
}

TEST(Combiner, WithoutMemoryToGrowItStaysAsItIs) {
  StateMemory memory(std::uint64_t{2} << 20);
  SumCombiner combiner = SumCombiner::Create(memory, 1 << 20).value();
  while (memory.Acquire(std::size_t{4} << 10, Contents::kZeroed).ok()) {
  }
  const std::size_t size_bytes = combiner.size_bytes();
  const std::uint64_t keys = Fill(combiner, 1);
  EXPECT_TRUE(combiner.wants_to_grow());
  EXPECT_EQ(ReadOut(combiner, memory, 1000).size(), keys);
  EXPECT_TRUE(combiner.empty());
  EXPECT_EQ(combiner.size_bytes(), size_bytes);
  EXPECT_EQ(Fill(combiner, 1'000'000), keys) << "it is empty, and takes as many others";
}

TEST(Combiner, LivesOnTheSameMemoryHoweverOftenItIsRead) {
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 64 << 10).value();
  std::uint64_t used_bytes = 0;
  for (int round = 0; round < 50; ++round) {
    Fill(combiner, 1);  // grows
    ReadOut(combiner, memory, 100);
    ASSERT_TRUE(Add(combiner, 1, 1));  // and shrinks
    ReadOut(combiner, memory, 100);
    used_bytes = round < 3 ? memory.used_bytes() : used_bytes;
    EXPECT_EQ(memory.used_bytes(), used_bytes) << "round " << round;
  }
}

TEST(Combiner, IsOfTheSliceThatItWasLastToldOf) {
  StateMemory memory(kLimitBytes);
  SumCombiner combiner = SumCombiner::Create(memory, 4 << 10).value();
  combiner.BeginSlice(SliceId{-3});
  EXPECT_EQ(combiner.slice(), SliceId{-3});
  ASSERT_TRUE(Add(combiner, 1, 1));
  ReadOut(combiner, memory, 10);
  EXPECT_EQ(combiner.slice(), SliceId{-3});
  combiner.BeginSlice(SliceId{4});
  EXPECT_EQ(combiner.slice(), SliceId{4});
}

TEST(Combiner, TakesKeysHoweverFewBytesItMayHave) {
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t most_bytes : {0U, 1U, 100U}) {
    SumCombiner combiner = SumCombiner::Create(memory, most_bytes).value();
    EXPECT_GT(Fill(combiner, 1), 1U);
    EXPECT_FALSE(combiner.wants_to_grow());
  }
}

TEST(Combiner, PastTheBudgetThereIsNone) {
  StateMemory memory(0);
  EXPECT_EQ(SumCombiner::Create(memory, 64 << 10).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::state
