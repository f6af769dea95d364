#include "state/store/append_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/appended.h"
#include "state/store/delta_entry.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

using Value = Appended<std::uint64_t>;
using Table = AppendTable<std::uint64_t, Value>;
using Update = DeltaUpdate<std::uint64_t, std::uint64_t>;

/// As many updates as most come at a time.
constexpr std::uint64_t kRunLength = 1000;

/// Appends tuples first .. first + count - 1, each under the key that it leaves when it is divided by `keys`.
void Append(StateMemory& memory, Table& table, std::uint64_t first, std::uint64_t count, std::uint64_t keys) {
  std::vector<Update> run;
  for (std::uint64_t tuple = first; tuple < first + count; ++tuple) {
    run.push_back({.key = tuple % keys, .input = tuple});
    if (run.size() == kRunLength || tuple + 1 == first + count) {
      ASSERT_TRUE(table.ApplyRun(memory, std::span<const Update>(run)).ok());
      run.clear();
    }
  }
}

/// All tuples, each of the right key, and each key in one log only.
std::vector<std::uint64_t> TuplesOf(const Table& table, std::uint64_t keys) {
  std::vector<std::uint64_t> tuples;
  std::map<std::uint64_t, std::size_t> logs;
  for (std::size_t log = 0; log < table.logs().size(); ++log) {
    for (std::size_t run = 0; run < table.logs()[log].run_count(); ++run) {
      for (const Table::Entry& entry : table.logs()[log].Run(run)) {
        EXPECT_EQ(entry.key, entry.value.tuple % keys);
        EXPECT_EQ(logs.emplace(entry.key, log).first->second, log) << "key " << entry.key;
        tuples.push_back(entry.value.tuple);
      }
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
  for (const std::uint32_t bits : {1U, 3U, 8U}) {
    SCOPED_TRACE(testing::Message() << bits << " bits of the hash choose a log");
    StateMemory memory(64 << 20, 0, {.split_bytes = 1000 * sizeof(Table::Entry), .split_bits = bits});
    Table table = Table::Create(memory, 0).value();
    Append(memory, table, 0, 1000, 500);
    EXPECT_FALSE(table.split());
    EXPECT_EQ(table.counts().split_slices, 0U);
    Append(memory, table, 1000, 1, 500);
    EXPECT_TRUE(table.split());
    EXPECT_EQ(table.counts().split_slices, 1U);
    EXPECT_EQ(table.logs().size(), std::size_t{1} << bits);
    ExpectTuples(table, 1001, 500);
    Append(memory, table, 1001, 10'000, 500);
    ExpectTuples(table, 11'001, 500);
  }
}

TEST(AppendTable, IsSplitBeyondHalfOfASecondLevelCacheByDefault) {
  StateMemory memory(64 << 20);
  Table table = Table::Create(memory, 0).value();
  const std::uint64_t fits = (std::uint64_t{1} << 20) / sizeof(Table::Entry);
  Append(memory, table, 0, fits, 5000);
  EXPECT_FALSE(table.split());
  Append(memory, table, fits, 1, 5000);
  EXPECT_EQ(table.logs().size(), 256U);
}

TEST(AppendTable, LogsOfSplitTablesHaveTheSameKeys) {
  StateMemory memory(64 << 20, 0, {.split_bytes = 10'000});
  const SplitLogOf log_of(memory);
  Table table = Table::Create(memory, 0).value();
  Append(memory, table, 0, 2000, 500);
  ASSERT_TRUE(table.split());
  for (std::size_t log = 0; log < table.logs().size(); ++log) {
    for (std::size_t run = 0; run < table.logs()[log].run_count(); ++run) {
      for (const Table::Entry& entry : table.logs()[log].Run(run)) {
        ASSERT_EQ(log_of(kTestHash(entry.key)), log);
      }
    }
  }
}

TEST(AppendTable, WindowsLiveOnEachOthersMemoryWhateverTheirEntriesSize) {
  struct Odd {
    std::uint64_t a;
    std::uint64_t b;
  };
  using OddTable = AppendTable<std::uint64_t, Appended<Odd>>;
  static_assert(sizeof(OddTable::Entry) == 24);
  StateMemory memory(256 << 20);
  std::uint64_t mapped = 0;
  for (int window = 0; window < 50; ++window) {
    OddTable table = OddTable::Create(memory, 0).value();
    std::vector<DeltaUpdate<std::uint64_t, Odd>> run;
    for (std::uint64_t key = 0; key < 100'000; ++key) {
      run.push_back({.key = key, .input = {key, key}});
      if (run.size() == kRunLength) {
        ASSERT_TRUE(table.ApplyRun(memory, std::span<const DeltaUpdate<std::uint64_t, Odd>>(run)).ok());
        run.clear();
      }
    }
    ASSERT_EQ(table.size(), 100'000U);
    table.Release(memory);
    mapped = window == 0 ? memory.mapped_bytes() : mapped;
    ASSERT_EQ(memory.mapped_bytes(), mapped) << "window " << window;
  }
}

TEST(AppendTable, SaysWhenTheBudgetIsUsedUpAndGivesItsMemoryBack) {
  StateMemory memory(4 << 20);
  Table table = Table::Create(memory, 0).value();
  absl::Status status;
  for (std::uint64_t tuple = 0; status.ok() && tuple < 10'000'000; ++tuple) {
    const Update update{.key = 1, .input = tuple};
    status = table.ApplyRun(memory, std::span(&update, 1));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  table.Release(memory);
  Table next = Table::Create(memory, 0).value();
  Append(memory, next, 0, 50'000, 10);
  ExpectTuples(next, 50'000, 10);
}

}  // namespace
}  // namespace glaive::state
