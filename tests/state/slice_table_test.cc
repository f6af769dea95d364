#include "state/store/slice_table.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "state/crdt/count.h"
#include "state/crdt/mean.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{256} << 20;

using Table = SliceTable<std::uint64_t, Sum>;

void ExpectHolds(const Table& table, const Expected& expected) {
  ASSERT_EQ(table.size(), expected.size());
  std::uint32_t met = 0;
  for (auto run = table.Run(0); !run.empty(); run = table.Run(met)) {
    for (const Table::Entry& entry : run) {
      const auto found = expected.find(entry.key);
      ASSERT_NE(found, expected.end()) << "key " << entry.key;
      ASSERT_EQ(entry.value.Result(), absl::int128(found->second)) << "key " << entry.key;
    }
    met += static_cast<std::uint32_t>(run.size());
  }
  ASSERT_EQ(met, expected.size()) << "a key has more than one entry";
}

/// Applies runs of random length and checks the table now and then.
void ApplyRandomRuns(std::uint64_t seed, std::uint64_t keys, std::uint64_t expected_keys, int runs) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << keys << " keys, planned for " << expected_keys);
  std::mt19937_64 random(seed);
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, expected_keys).value();
  Expected expected;
  for (int i = 1; i <= runs; ++i) {
    ApplyRandomRun(table, memory, random, keys, expected);
    if (i % (runs / 4) == 0) {
      ExpectHolds(table, expected);
    }
  }
  table.Release(memory);
  EXPECT_EQ(table.size(), 0U);
}

TEST(SliceTable, HoldsWhatAnUnorderedMapHoldsWhenItIsSmall) {
  ApplyRandomRuns(1, 1, 0, 40);
  ApplyRandomRuns(2, 100, 0, 400);
  ApplyRandomRuns(3, 5000, 5000, 400);
}

TEST(SliceTable, HoldsWhatAnUnorderedMapHoldsWhenItIsLargeEnoughToPrefetch) {
  ApplyRandomRuns(4, 100'000, 100'000, 4000);
  ApplyRandomRuns(5, 1000, 1'000'000, 400);  // few keys in a large index
}

TEST(SliceTable, HoldsWhatAnUnorderedMapHoldsWhileItGrows) {
  ApplyRandomRuns(6, 100'000, 0, 6000);
  ApplyRandomRuns(7, 1'000'000'000, 0, 6000);  // every key is new
}

// No fiber calls StateMemory::TouchSome here: updates do, before entries move.
TEST(SliceTable, ALargerIndexGetsItsPagesWithTheUpdates) {
  constexpr std::uint64_t kKeys = std::uint64_t{1} << 20;
  StateMemory memory(std::uint64_t{1} << 30);
  Table table = Table::Create(memory, 0).value();
  std::vector<Update> run(1024);
  std::uint64_t runs_without_all_pages = 0;
  for (std::uint64_t key = 0; key < kKeys || memory.has_untouched(); key += run.size()) {
    ASSERT_LT(key, 2 * kKeys) << "an index never got all of its pages";
    for (std::size_t i = 0; i < run.size(); ++i) {
      run[i] = Of((key + i) % kKeys, 1);
    }
    ASSERT_EQ(table.ApplyRun(memory, std::span<const Update>(run)), absl::OkStatus());
    runs_without_all_pages += memory.has_untouched() ? 1 : 0;
  }
  EXPECT_GT(runs_without_all_pages, 5U);
  EXPECT_GE(table.counts().index_touches, runs_without_all_pages);
  EXPECT_GT(memory.touched_bytes(), std::uint64_t{2} << 20) << "an index of so many keys";
  EXPECT_EQ(table.size(), kKeys);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_NE(table.Find(kTestHash(key), key), nullptr) << key;
  }
}

// A fixed multiplication brought them all into one bucket.
TEST(SliceTable, TakesManyMultiplesOfAnyStride) {
  constexpr std::uint64_t kKeys = std::uint64_t{1} << 18;
  for (const std::uint64_t stride : {std::uint64_t{2'971'215'073}, std::uint64_t{12'586'269'025},
                                     std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 45}) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{12'345}}) {
      StateMemory memory(kLimitBytes, seed);
      Table table = Table::Create(memory, 0).value();
      std::vector<Update> run;
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        run.push_back(Of(key * stride, 1));
      }
      ASSERT_EQ(table.ApplyRun(memory, std::span<const Update>(run)), absl::OkStatus()) << "stride " << stride;
      ASSERT_EQ(table.ApplyRun(memory, std::span<const Update>(run)), absl::OkStatus()) << "stride " << stride;
      EXPECT_EQ(table.size(), kKeys);
      EXPECT_LE(table.counts().index_growths, 18U) << "no larger than for other keys";
    }
  }
}

/// All of them have one hash, whatever the run draws.
struct ClashingKey {
  std::uint64_t number = 0;

  static std::uint64_t StateHash(const KeyHash& /*hash*/) { return 5; }
  friend bool operator==(const ClashingKey&, const ClashingKey&) = default;
};

TEST(SliceTable, HoldsKeysThatAllShareAHash) {
  StateMemory memory(kLimitBytes);
  auto table = SliceTable<ClashingKey, CountValue>::Create(memory, 0).value();
  struct Item {
    std::uint64_t hash;
    ClashingKey key;
  };
  constexpr std::uint64_t kKeys = 3000;
  for (std::uint64_t i = 0; i < 2 * kKeys; ++i) {
    const ClashingKey key{i % kKeys};
    const Item item{.hash = memory.key_hash()(key), .key = key};
    ASSERT_EQ(
        table.Apply(memory, std::span<const Item>(&item, 1), [](CountValue& value, const Item&) { value.Update({}); }),
        absl::OkStatus());
  }
  EXPECT_EQ(table.size(), kKeys);
  EXPECT_EQ(table.Find(5, ClashingKey{kKeys - 1})->Result(), 2U);
}

TEST(SliceTable, GrowsInStepsAlongWithTheUpdates) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  Expected expected;
  std::vector<Update> run;
  for (std::uint64_t key = 0; key < 300'000; key += run.size()) {
    run.clear();
    for (std::uint64_t i = 0; i < kGroupSize; ++i) {
      run.push_back(Of(key + i, 1));
      ++expected[key + i];
    }
    Apply(table, memory, run);
  }
  ExpectHolds(table, expected);
  EXPECT_GE(table.counts().index_growths, 10U);
  EXPECT_LE(table.counts().index_growths, 18U);
}

/// Fills a table with `keys`, each of which comes `times` times running.
std::uint64_t GrowthsOf(StateMemory& memory, std::uint64_t keys, std::uint64_t times) {
  Table table = Table::Create(memory, 0).value();
  Expected expected;
  for (std::uint64_t key = 0; key < keys; ++key) {
    Apply(table, memory, std::vector<Update>(times, Of(key, 1)));
    expected[key] = static_cast<std::int64_t>(times);
  }
  ExpectHolds(table, expected);
  return table.counts().index_growths;
}

TEST(SliceTable, SkipsSizesWhereNearlyAllKeysAreNew) {
  StateMemory memory(kLimitBytes);
  const std::uint64_t growths_of_new = GrowthsOf(memory, 400'000, 1);
  EXPECT_LT(growths_of_new, GrowthsOf(memory, 400'000, 2)) << "half the updates are of known keys";
}

TEST(SliceTable, SkipsNoSizesWithoutMemoryForThat) {
  StateMemory ample(kLimitBytes);
  StateMemory scarce(std::uint64_t{32} << 20);
  GrowthsOf(ample, 600'000, 1);
  GrowthsOf(scarce, 600'000, 1);
  EXPECT_GT(ample.mapped_bytes(), scarce.limit_bytes()) << "nothing had to be done without";
}

TEST(SliceTable, ASizedIndexDoesNotGrow) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 20'000).value();
  for (std::uint64_t key = 0; key < 20'000; ++key) {
    Apply(table, memory, std::vector<Update>{Of(key, 1)});
  }
  EXPECT_EQ(table.counts().index_growths, 0U);
}

TEST(SliceTable, TheSameNewKeyTwiceInARunGetsOneEntry) {
  for (const std::uint64_t expected_keys : {0, 1'000'000}) {  // directly, and with prefetching
    StateMemory memory(kLimitBytes);
    Table table = Table::Create(memory, expected_keys).value();
    std::vector<Update> run(kGroupSize + 5, Of(42, 1));  // of two groups
    run[10] = Of(43, 5);
    Apply(table, memory, run);
    ExpectHolds(table, {{42, std::int64_t{kGroupSize} + 4}, {43, 5}});
  }
}

TEST(SliceTable, MergesFormsOfManyRecords) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  Form of_three = FormOf(7, 1);
  ASSERT_TRUE(of_three.form.TryUpdate(10) && of_three.form.TryUpdate(100));
  Apply(table, memory, std::vector<Form>{of_three, FormOf(8, 1000), of_three});
  Apply(table, memory, std::vector<Update>{Of(7, 5), Of(9, 6)});
  ExpectHolds(table, {{7, 227}, {8, 1000}, {9, 6}});
}

TEST(SliceTable, AnEmptyRunChangesNothing) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  Apply(table, memory, std::vector<Update>());
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(table.Run(0).empty());
}

/// Applies an update as if its key had that hash.
absl::Status ApplyWithHash(Table& table, StateMemory& memory, std::uint64_t hash, const Update& update) {
  const RunItem<Update> item{.hash = hash, .key = update.key, .entry = &update};
  return table.Apply(memory, std::span(&item, 1), ApplyRunItem{});
}

// All keys share hashes' low bits and tags, as bad luck would have it: they chain, run out of overflow buckets, and the
// index grows at once.
TEST(SliceTable, OutgrowsKeysThatCrowdInOneBucket) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  Expected expected;
  for (std::uint64_t key = 0; key < 2000; ++key) {
    ASSERT_TRUE(ApplyWithHash(table, memory, key << 6, Of(key, 1)).ok());
    ++expected[key];
  }
  ExpectHolds(table, expected);
}

TEST(SliceTable, KeysThatAllHaveOneHashAreSlowButRight) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  Expected expected;
  for (std::uint64_t key = 0; key < 2000; ++key) {
    ASSERT_TRUE(ApplyWithHash(table, memory, 7, Of(key, 1)).ok());
    ++expected[key];
  }
  ExpectHolds(table, expected);
}

TEST(SliceTable, PastTheBudgetTheErrorSaysWhatToDo) {
  std::mt19937_64 random(8);
  StateMemory memory(std::uint64_t{8} << 20);
  Table table = Table::Create(memory, 0).value();
  absl::Status status;
  for (int i = 0; i < 1'000'000 && status.ok(); ++i) {
    const Update update = Of(random(), 1);
    status = table.ApplyRun(memory, std::span(&update, 1));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("--memory-limit"), std::string::npos) << status;
  EXPECT_LE(memory.mapped_bytes(), memory.limit_bytes());
}

struct PairKey {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  friend bool operator==(const PairKey&, const PairKey&) = default;
};

TEST(SliceTable, TakesAnyKeyAndAnyValue) {
  using Mean = MeanValue<std::int64_t>;
  using PairUpdate = DeltaUpdate<PairKey, std::int64_t>;
  StateMemory memory(kLimitBytes);
  auto table = SliceTable<PairKey, Mean>::Create(memory, 0).value();
  for (std::int64_t i = 0; i < 100; ++i) {
    const PairKey key{static_cast<std::uint32_t>(i % 5), 7};
    Apply(table, memory, std::vector<PairUpdate>{{.key = key, .input = i}});
  }
  ASSERT_EQ(table.size(), 5U);
  for (std::uint32_t number = 0; number < 5; ++number) {
    EXPECT_EQ(table.Run(number).front().key, (PairKey{number, 7}));
    EXPECT_EQ(table.Run(number).front().value.Result(), 47.5 + number);
  }
}

// Values that have no default of their own: a key's value is made once, also while the index grows.
TEST(SliceTable, ValuesOfNewKeysAreMade) {
  struct Total {
    explicit Total(std::uint64_t first) : total(first) {}
    std::uint64_t total;
  };
  struct Item {
    std::uint64_t hash;
    std::uint64_t key;
  };
  constexpr std::uint64_t kKeys = 20'000;
  StateMemory memory(kLimitBytes);
  auto table = SliceTable<std::uint64_t, Total>::Create(memory, 0).value();
  std::uint64_t made = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Item item{.hash = memory.key_hash()(key), .key = key};
      ASSERT_EQ(table.Apply(
                    memory, std::span(&item, 1), [](Total& value, const Item& each) { value.total += each.key; },
                    [&] {
                      ++made;
                      return Total(7);
                    }),
                absl::OkStatus());
    }
  }
  EXPECT_EQ(made, kKeys);
  EXPECT_GT(table.counts().index_growths, 4U) << "or this tests little";
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_EQ(table.Find(memory.key_hash()(key), key)->total, 7 + 3 * key);
  }
}

TEST(SliceTableDeathTest, AGroupIsNoLargerThanItsLimit) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 0).value();
  const Update update = Of(1, 1);
  const std::vector<RunItem<Update>> group(kGroupSize + 1, {.hash = kTestHash(update.key), .key = 1, .entry = &update});
  EXPECT_DEATH((void)table.Apply(memory, std::span(group), ApplyRunItem{}), "a group of 33 items, at most 32");
}

}  // namespace
}  // namespace glaive::state
