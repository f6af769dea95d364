#include "state/store/append_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/appended.h"
#include "state/store/staged_update.h"

namespace glaive::state {
namespace {

using Value = Appended<std::uint64_t>;
using Table = AppendTable<std::uint64_t, Value>;
using Update = StagedUpdate<std::uint64_t, std::uint64_t>;

/// Appends tuples first .. first + count - 1, each under the key that is its root of many.
void Append(StateMemory& memory, Table& table, std::uint64_t first, std::uint64_t count, std::uint64_t keys) {
  std::vector<Update> updates;
  for (std::uint64_t tuple = first; tuple < first + count; ++tuple) {
    const std::uint64_t key = tuple % keys;
    updates.push_back({.hash = HashKey(key), .key = key, .input = tuple});
  }
  ASSERT_TRUE(table
                  .Apply(memory, std::span<const Update>(updates),
                         [](Value& value, const Update& update) { value.Update(update.input); })
                  .ok());
}

/// All tuples, each of the right key, and each key in one log only.
std::vector<std::uint64_t> TuplesOf(const Table& table, std::uint64_t keys) {
  std::vector<std::uint64_t> tuples;
  std::map<std::uint64_t, std::size_t> logs;
  for (std::size_t log = 0; log < table.logs().size(); ++log) {
    for (std::uint32_t i = 0; i < table.logs()[log].size(); ++i) {
      const Table::Entry& entry = table.logs()[log].At(i);
      EXPECT_EQ(entry.key, entry.value.tuple % keys);
      EXPECT_EQ(logs.emplace(entry.key, log).first->second, log) << "key " << entry.key;
      tuples.push_back(entry.value.tuple);
    }
  }
  std::sort(tuples.begin(), tuples.end());
  return tuples;
}

void ExpectTuples(const Table& table, std::uint64_t count, std::uint64_t keys) {
  const std::vector<std::uint64_t> tuples = TuplesOf(table, keys);
  ASSERT_EQ(tuples.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(tuples[i], i);
  }
  EXPECT_EQ(table.size(), count);
}

TEST(AppendTable, KeepsEveryTupleOfAKey) {
  StateMemory memory(64 << 20);
  Table table = Table::Create(memory, 0).value();
  Append(memory, table, 0, 1000, 3);
  EXPECT_FALSE(table.split());
  ExpectTuples(table, 1000, 3);
}

TEST(AppendTable, IsSplitWhenItGrowsBeyondTheCacheAndLosesNothing) {
  StateMemory memory(64 << 20);
  Table table = Table::Create(memory, 0).value();
  const std::uint64_t fits = Table::kSplitBytes / sizeof(Table::Entry);
  Append(memory, table, 0, fits, 5000);
  EXPECT_FALSE(table.split());
  Append(memory, table, fits, 1, 5000);
  EXPECT_TRUE(table.split());
  ExpectTuples(table, fits + 1, 5000);
  Append(memory, table, fits + 1, 10'000, 5000);
  ExpectTuples(table, fits + 10'001, 5000);
}

TEST(AppendTable, LogsOfSplitTablesHaveTheSameKeys) {
  StateMemory memory(64 << 20);
  Table grown = Table::Create(memory, 0).value();
  Append(memory, grown, 0, 500, 500);
  ASSERT_TRUE(grown.Split(memory).ok());
  ASSERT_TRUE(grown.Split(memory).ok()) << "twice is once";
  Table planned = Table::Create(memory, 10'000'000).value();
  EXPECT_TRUE(planned.split());
  Append(memory, planned, 0, 500, 500);
  ASSERT_EQ(grown.logs().size(), planned.logs().size());
  for (std::size_t log = 0; log < grown.logs().size(); ++log) {
    ASSERT_EQ(grown.logs()[log].size(), planned.logs()[log].size());
  }
}

TEST(AppendTable, SaysWhenTheBudgetIsUsedUpAndGivesItsMemoryBack) {
  StateMemory memory(4 << 20);
  Table table = Table::Create(memory, 0).value();
  absl::Status status;
  std::vector<Update> updates(1000, Update{.hash = HashKey(std::uint64_t{1}), .key = 1, .input = 2});
  std::uint64_t rounds = 0;
  for (; status.ok() && rounds < 10'000; ++rounds) {
    status = table.Apply(memory, std::span<const Update>(updates),
                         [](Value& value, const Update& update) { value.Update(update.input); });
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  table.Release(memory);
  Table next = Table::Create(memory, 0).value();
  Append(memory, next, 0, 50'000, 10);
  ExpectTuples(next, 50'000, 10);
}

}  // namespace
}  // namespace glaive::state
