#include "state/store/cell_table.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "state/crdt/compact_form.h"
#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/mean.h"
#include "state/crdt/sum.h"
#include "state/index/element_key.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

using Sum = SumValue<std::int64_t>;
using Table = CellTable<std::uint64_t, Sum>;

/// Adds to the key's value; false if it has no place in the table.
bool Add(Table& table, std::uint64_t key, std::int64_t input) {
  Sum* const sum = table.FindOrInsert(table.HomeOf(key), key);
  if (sum != nullptr) {
    sum->Update(input);
  }
  return sum != nullptr;
}

std::unordered_map<std::uint64_t, absl::int128> ContentsOf(const Table& table) {
  std::unordered_map<std::uint64_t, absl::int128> contents;
  const absl::Status status = table.ForEach([&](const Table::Entry& entry) {
    const bool first = contents.emplace(entry.key, entry.value.Result()).second;
    EXPECT_TRUE(first) << "key " << entry.key << " twice";
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  return contents;
}

TEST(CellTable, HoldsWhatAnUnorderedMapHolds) {
  for (const std::uint64_t keys : {1ULL, 50ULL, 5000ULL, 200'000ULL}) {
    for (const std::uint64_t stride : {1ULL, 7ULL, 1ULL << 40}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, " << stride << " apart");
      std::mt19937_64 random(keys + stride);
      StateMemory memory(kLimitBytes);
      Table table = Table::Create(memory, keys).value();
      std::unordered_map<std::uint64_t, absl::int128> expected;
      for (std::uint64_t i = 0; i < 4 * keys; ++i) {
        const std::uint64_t key = (1 + random() % keys) * stride;
        const auto input = static_cast<std::int64_t>(random() % 1000) - 500;
        ASSERT_TRUE(Add(table, key, input)) << "key " << key;
        expected[key] += input;
      }
      EXPECT_EQ(table.size(), expected.size());
      EXPECT_EQ(ContentsOf(table), expected);
      table.Release(memory);
      EXPECT_TRUE(table.empty());
    }
  }
}

TEST(CellTable, TakesTheKeyOfZerosToo) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 100).value();
  EXPECT_EQ(table.Find(table.HomeOf(std::uint64_t{0}), 0), nullptr);
  EXPECT_TRUE(Add(table, 1, 1));
  EXPECT_TRUE(Add(table, 0, 2));
  EXPECT_TRUE(Add(table, 0, 3));
  EXPECT_EQ(table.Find(table.HomeOf(std::uint64_t{0}), 0)->Result(), 5);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(ContentsOf(table), (std::unordered_map<std::uint64_t, absl::int128>{{0, 5}, {1, 1}}));
}

TEST(CellTable, FindsOnlyWhatWasInserted) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 1000).value();
  for (std::uint64_t key = 2; key <= 1000; key += 2) {
    ASSERT_TRUE(Add(table, key, static_cast<std::int64_t>(key)));
  }
  for (std::uint64_t key = 1; key <= 1000; ++key) {
    const Sum* const sum = table.Find(table.HomeOf(key), key);
    ASSERT_EQ(sum != nullptr, key % 2 == 0) << "key " << key;
    ASSERT_TRUE(sum == nullptr || sum->Result() == absl::int128(key));
  }
  EXPECT_EQ(table.size(), 500U);
}

TEST(CellTable, MoreKeysThanCellsAreStoredElsewhereForGood) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 100).value();
  std::vector<std::uint64_t> without;
  std::unordered_map<std::uint64_t, absl::int128> expected;
  for (std::uint64_t key = 1; key <= 1000; ++key) {
    if (Add(table, key, 1)) {
      expected[key] = 1;
    } else {
      without.push_back(key);
    }
  }
  ASSERT_FALSE(without.empty());
  EXPECT_EQ(table.size(), 120U) << "three quarters of 160";
  EXPECT_EQ(table.size() + without.size(), 1000U);
  EXPECT_TRUE(Add(table, 0, 1)) << "has a place of its own";
  expected[0] = 1;
  for (const std::uint64_t key : without) {
    EXPECT_FALSE(Add(table, key, 1)) << "key " << key;
  }
  for (auto& [key, sum] : expected) {
    EXPECT_TRUE(Add(table, key, 1)) << "key " << key << " has a cell";
    ++sum;
  }
  EXPECT_EQ(ContentsOf(table), expected);
}

TEST(CellTable, KeysOfTheLastHomeHaveCellsBehindIt) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 1).value();
  std::size_t taken = 0;
  bool full = false;
  for (std::uint64_t key = 1; !full; ++key) {
    const bool of_last_home = kTestHash.Spread(key) >> 26 == 63;
    if (of_last_home) {
      full = !Add(table, key, 1);
      taken += full ? 0 : 1;
    }
  }
  EXPECT_EQ(taken, Table::kMostProbes);
  EXPECT_EQ(ContentsOf(table).size(), Table::kMostProbes);
}

TEST(CellTable, NewValuesAreDefaultOnes) {
  using Least = MinValue<std::int64_t>;
  StateMemory memory(kLimitBytes);
  auto table = CellTable<std::uint64_t, Least>::Create(memory, 10).value();
  Least* const least = table.FindOrInsert(table.HomeOf(std::uint64_t{5}), 5);
  ASSERT_NE(least, nullptr);
  EXPECT_EQ(*least, Least{});
  least->Update(7);
  EXPECT_EQ(table.FindOrInsert(table.HomeOf(std::uint64_t{5}), 5)->Result(), 7);
}

static_assert(StartsAsZeros<CompactForm<MeanValue<float>>> && StartsAsZeros<CompactForm<CountValue>>);
static_assert(StartsAsZeros<CompactForm<MaxValue<std::uint64_t>>>);
static_assert(!StartsAsZeros<MinValue<std::int64_t>> && !StartsAsZeros<MaxValue<float>>);

struct StartsAtRunTime {
  StartsAtRunTime() : start(std::stoull("7")) {}
  std::uint64_t start;
};
static_assert(!StartsAsZeros<StartsAtRunTime>, "what the compiler cannot tell is not taken for zeros");

struct PairKey {
  std::uint64_t first;
  std::uint64_t second;
  friend bool operator==(const PairKey&, const PairKey&) = default;
};

TEST(CellTable, TakesLongKeys) {
  StateMemory memory(kLimitBytes);
  auto table = CellTable<PairKey, Sum>::Create(memory, 10'000).value();
  const auto at = [&](std::uint64_t i) {
    const PairKey key{i % 100, i / 100};
    return table.FindOrInsert(table.HomeOf(key), key);
  };
  std::uint64_t without = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    Sum* const sum = at(i);
    without += sum == nullptr ? 1 : 0;
    if (sum != nullptr) {
      sum->Update(static_cast<std::int64_t>(i));
    }
  }
  EXPECT_LE(without, 100U) << "hashes that are random crowd here and there";
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const Sum* const sum = at(i);
    ASSERT_TRUE(sum == nullptr || sum->Result() == absl::int128(i)) << i;
  }
}

/// How many of `keys` keys that one executor of `executors` leads find no cell in a table for as many. `make(i)` is key
/// i.
template <typename K, typename MakeKey>
std::uint64_t RefusedOfOneLeader(std::uint64_t keys, std::uint32_t executors, const MakeKey& make) {
  StateMemory memory(kLimitBytes);
  auto table = CellTable<K, Sum>::Create(memory, keys).value();
  const ExecutorId leader = LeaderOf(memory.key_hash()(make(0)), executors);
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; taken + refused < keys; ++i) {
    const K key = make(i);
    if (LeaderOf(memory.key_hash()(key), executors) == leader) {
      ++(table.FindOrInsert(table.HomeOf(key), key) != nullptr ? taken : refused);
    }
  }
  return refused;
}

TEST(CellTable, KeysOfOneLeaderAndElementsOfOneGroupCrowdNoMoreThanOthers) {
  constexpr std::uint64_t kKeys = 20'000;
  for (const std::uint32_t executors : {1U, 2U, 16U}) {
    SCOPED_TRACE(executors);
    EXPECT_LE(RefusedOfOneLeader<PairKey>(kKeys, executors, [](std::uint64_t i) { return PairKey{i, i % 7}; }),
              kKeys / 100);
    using Element = ElementKey<std::uint64_t, std::uint64_t>;
    EXPECT_LE(RefusedOfOneLeader<Element>(kKeys, executors, [](std::uint64_t i) { return Element(3, i); }),
              kKeys / 100);
  }
}

TEST(CellTable, PausesAfterSoManyCellsWhetherTheyAreUsedOrNot) {
  constexpr std::uint64_t kCellsPerTurn = 1024;
  for (const std::uint64_t keys : {100ULL, 20'000ULL}) {
    StateMemory memory(kLimitBytes, 0, {.cells_per_turn = kCellsPerTurn});
    Table table = Table::Create(memory, keys).value();
    ASSERT_TRUE(Add(table, 1, 1));
    std::uint64_t pauses = 0;
    EXPECT_TRUE(table.ForEach([](const Table::Entry&) { return absl::OkStatus(); }, [&] { ++pauses; }).ok());
    EXPECT_EQ(pauses, table.size_bytes() / sizeof(Table::Entry) / kCellsPerTurn);
  }
}

TEST(CellTable, StopsVisitingAtAnError) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 100).value();
  for (std::uint64_t key = 1; key <= 100; ++key) {
    ASSERT_TRUE(Add(table, key, 1));
  }
  int visited = 0;
  const absl::Status status = table.ForEach(
      [&](const Table::Entry&) { return ++visited == 3 ? absl::AbortedError("third") : absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(visited, 3);
  EXPECT_TRUE(Table().ForEach([](const Table::Entry&) { return absl::AbortedError("nothing to visit"); }).ok());
}

TEST(CellTable, StartsEmptyOnMemoryThatAnotherHasLeft) {
  StateMemory memory(kLimitBytes);
  std::uint64_t used_bytes = 0;
  for (int round = 0; round < 3; ++round) {
    Table table = Table::Create(memory, 10'000).value();
    EXPECT_TRUE(ContentsOf(table).empty());
    for (std::uint64_t key = 1; key <= 10'000; ++key) {
      ASSERT_TRUE(Add(table, key, 1));
    }
    table.Release(memory);
    used_bytes = round == 0 ? memory.used_bytes() : used_bytes;
    EXPECT_EQ(memory.used_bytes(), used_bytes) << "one table's";
  }
}

TEST(CellTable, IsFullWhenNewKeysGetNoCell) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 100).value();
  EXPECT_TRUE(Table().full()) << "without cells";
  std::uint64_t key = 1;
  for (; !table.full(); ++key) {
    ASSERT_TRUE(Add(table, key, 1)) << "key " << key;
  }
  EXPECT_EQ(table.size(), 120U) << "three quarters of 160";
  EXPECT_FALSE(Add(table, key, 1));
  EXPECT_TRUE(Add(table, 1, 1));
  table.Clear();
  EXPECT_FALSE(table.full());
}

TEST(CellTable, IsEmptyWhenAllCellsAreFreed) {
  using Least = CellTable<std::uint64_t, MinValue<std::int64_t>>;  // whose new value is not of zeros
  StateMemory memory(kLimitBytes);
  Least table = Least::Create(memory, 100).value();
  const auto at = [&](std::uint64_t key) { return table.FindOrInsert(table.HomeOf(key), key); };
  const std::size_t size_bytes = table.size_bytes();
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t key = 0; key < 100; ++key) {
      ASSERT_EQ(*at(key), MinValue<std::int64_t>()) << "key " << key << ", round " << round;
      at(key)->Update(round - 5);
    }
    EXPECT_EQ(table.size(), 100U);
    table.Clear();
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.size_bytes(), size_bytes);
    for (std::uint64_t key = 0; key < 100; ++key) {
      EXPECT_EQ(table.Find(table.HomeOf(key), key), nullptr) << "key " << key;
    }
  }
}

/// Copies everything, `at_a_time` at most.
std::unordered_map<std::uint64_t, absl::int128> CopyOf(const Table& table, std::size_t at_a_time) {
  struct Copied {
    std::uint64_t key;
    Sum sum;
  };
  std::unordered_map<std::uint64_t, absl::int128> contents;
  // The entries of `copied` behind the number that CopyFrom returns may have any contents. Those behind `out` stay.
  constexpr std::uint64_t kUntouched = ~std::uint64_t{0};
  std::vector<Copied> out(at_a_time + 1, {.key = kUntouched, .sum = {}});
  std::size_t position = 0;
  while (const std::size_t count = table.CopyFrom(position, std::span(out).first(at_a_time))) {
    EXPECT_LE(count, at_a_time);
    EXPECT_EQ(out.back().key, kUntouched);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(contents.emplace(out[i].key, out[i].sum.Result()).second) << "key " << out[i].key << " twice";
    }
  }
  EXPECT_EQ(table.CopyFrom(position, std::span(out).first(at_a_time)), 0U) << "the end stays the end";
  return contents;
}

TEST(CellTable, CopiesKeysAndValuesInParts) {
  for (const std::uint64_t keys : {0U, 1U, 2U, 100U, 5000U}) {
    for (const bool with_zero : {false, true}) {
      for (const std::size_t at_a_time : {1U, 2U, 31U, 32U, 100U, 101U, 10'000U}) {
        SCOPED_TRACE(testing::Message() << keys << " keys, " << at_a_time << " at a time, zeros " << with_zero);
        StateMemory memory(kLimitBytes);
        Table table = Table::Create(memory, keys).value();
        for (std::uint64_t key = with_zero ? 0 : 1; key <= keys; ++key) {
          ASSERT_TRUE(Add(table, key, static_cast<std::int64_t>(key) + 7));
        }
        EXPECT_EQ(CopyOf(table, at_a_time), ContentsOf(table));
        EXPECT_EQ(CopyOf(table, at_a_time).size(), table.size());
      }
    }
  }
}

// Keys of the last home lie in the very last cells, behind all homes.
TEST(CellTable, CopiesTheLastCellToo) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, 1).value();
  for (std::uint64_t key = 1; table.size() < Table::kMostProbes; ++key) {
    if (kTestHash.Spread(key) >> 26 == 63) {
      ASSERT_TRUE(Add(table, key, 1));
    }
  }
  for (const std::size_t at_a_time : {1U, 31U, 32U, 33U}) {
    EXPECT_EQ(CopyOf(table, at_a_time).size(), Table::kMostProbes);
  }
}

TEST(CellTable, PastTheBudgetThereIsNone) {
  StateMemory memory(std::uint64_t{4} << 20);
  EXPECT_EQ(Table::Create(memory, 1'000'000).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::state
