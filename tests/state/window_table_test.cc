#include "state/store/window_table.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/store/staged_update.h"

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

using Sum = SumValue<std::int64_t>;
using Table = WindowTable<std::uint64_t, Sum>;
using Update = StagedUpdate<std::uint64_t, std::int64_t>;
using Expected = std::unordered_map<std::uint64_t, std::int64_t>;

Update Of(std::uint64_t key, std::int64_t input) { return {.hash = HashKey(key), .key = key, .input = input}; }

void Apply(Table& table, StateMemory& memory, std::span<const Update> updates) {
  ASSERT_TRUE(table.Apply(memory, updates, [](Sum& sum, const Update& update) { sum.Update(update.input); }).ok());
}

void ExpectHolds(const Table& table, const Expected& expected) {
  Expected met;
  const absl::Status status = table.ForEach([&](const auto& entry) {
    EXPECT_TRUE(met.emplace(entry.key, static_cast<std::int64_t>(entry.value.Result())).second)
        << "key " << entry.key << " has more than one entry";
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(table.size(), expected.size());
  EXPECT_EQ(met, expected);
}

/// Updates each key from `first` on `times` times.
void Repeat(Table& table, StateMemory& memory, std::uint64_t first, std::uint64_t keys, std::uint64_t times) {
  for (std::uint64_t round = 0; round < times; ++round) {
    for (std::uint64_t key = first; key < first + keys; ++key) {
      Apply(table, memory, std::vector<Update>{Of(key, 1)});
    }
  }
}

TEST(WindowTable, ForetellsSlotsWhereKeysRecur) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {}).value();
  EXPECT_TRUE(table.slots().empty());
  EXPECT_FALSE(table.forecast().recurring) << "without keys";
  Repeat(table, memory, 1, 1000, 3);
  EXPECT_EQ(table.forecast(), (Table::Forecast{.keys = 1000, .recurring = false}));
  Repeat(table, memory, 1, 1000, 1);
  EXPECT_EQ(table.forecast(), (Table::Forecast{.keys = 1000, .recurring = true}));

  Table next = Table::Create(memory, table.forecast()).value();
  EXPECT_FALSE(next.slots().empty());
  next.CountUpdates(8000);
  Repeat(next, memory, 1, 2000, 1);
  EXPECT_EQ(next.forecast(), (Table::Forecast{.keys = 2000, .recurring = true})) << "those counted and those applied";
}

TEST(WindowTable, HoldsWhatAnUnorderedMapHolds) {
  // In the log; in slots; in slots that are too few. With the key of zeros.
  for (const Table::Forecast& forecast : {Table::Forecast{}, Table::Forecast{.keys = 50'000, .recurring = true},
                                          Table::Forecast{.keys = 1000, .recurring = true}}) {
    SCOPED_TRACE(testing::Message() << forecast.keys << " keys foretold");
    std::mt19937_64 random(17);
    StateMemory memory(kLimitBytes);
    Table table = Table::Create(memory, forecast).value();
    ASSERT_EQ(table.slots().empty(), !forecast.recurring);
    Expected expected;
    std::vector<Update> group;
    for (int i = 0; i < 4000; ++i) {
      group.clear();
      for (std::uint64_t left = random() % (kGroupSize + 1); left > 0; --left) {
        // A key now and then comes twice in its group, often as a new one.
        const std::uint64_t key = !group.empty() && random() % 8 == 0 ? group.back().key : random() % 50'000;
        group.push_back(Of(key, static_cast<std::int64_t>(random() % 1000) - 500));
        expected[key] += group.back().input;
      }
      Apply(table, memory, group);
    }
    ASSERT_TRUE(expected.contains(0));
    ExpectHolds(table, expected);
    table.Release(memory);
    EXPECT_EQ(table.size(), 0U);
  }
}

TEST(WindowTable, StopsVisitingTheLogAtAnErrorInTheSlots) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {.keys = 10, .recurring = true}).value();
  Repeat(table, memory, 1, 100, 1);
  ASSERT_LT(table.slots().size(), table.size()) << "some are in the log";
  std::vector<std::uint64_t> visited;
  const absl::Status status = table.ForEach([&](const auto& entry) {
    visited.push_back(entry.key);
    return absl::AbortedError("enough");
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(visited.size(), 1U);
}

TEST(WindowTable, LeavesMemoryToTheLog) {
  StateMemory memory(std::uint64_t{32} << 20);
  constexpr Table::Forecast kForecast{.keys = 10'000, .recurring = true};  // 394 KiB of slots
  const Table first = Table::Create(memory, kForecast).value();
  EXPECT_FALSE(first.slots().empty());
  const Block other = memory.Acquire(std::size_t{28} << 20, Contents::kAny).value();
  const Table second = Table::Create(memory, kForecast).value();
  EXPECT_TRUE(second.slots().empty()) << "more than a sixteenth of what is left";
  memory.Release(other, Contents::kAny);
}

TEST(WindowTable, LivesOnWhatWasGivenBackWhereSlotsFindNoMemory) {
  StateMemory memory(std::uint64_t{3584} << 10);  // one region of 2 MiB, and room for no other
  Table before = Table::Create(memory, {.keys = 1000, .recurring = false}).value();
  Repeat(before, memory, 1, 1000, 1);
  before.Release(memory);
  while (memory.Acquire(std::size_t{40} << 10, Contents::kAny).ok()) {
  }
  Table table = Table::Create(memory, {.keys = 1000, .recurring = true}).value();  // 49 KiB of slots
  EXPECT_TRUE(table.slots().empty());
  Repeat(table, memory, 1, 1000, 1);
  EXPECT_EQ(table.size(), 1000U);
}

TEST(WindowTable, AForecastOfSlicesIsOfTheMostKeysAndOfAnyThatRecur) {
  EXPECT_EQ(Table::Both({.keys = 5, .recurring = true}, {.keys = 7, .recurring = false}),
            (Table::Forecast{.keys = 7, .recurring = true}));
  EXPECT_EQ(Table::Both({.keys = 5, .recurring = false}, {.keys = 3, .recurring = false}),
            (Table::Forecast{.keys = 5, .recurring = false}));
}

TEST(WindowTable, AStreamOfWindowsLivesOnEachOthersMemory) {
  StateMemory memory(kLimitBytes);
  Table::Forecast forecast;
  std::uint64_t used_bytes = 0;
  for (int window = 0; window < 20; ++window) {
    Table table = Table::Create(memory, forecast).value();
    // The number of keys varies, as that of a window's does.
    Repeat(table, memory, 1, 9000 + static_cast<std::uint64_t>(window) * 50, 4);
    forecast = table.forecast();
    table.Release(memory);
    used_bytes = window < 2 ? memory.used_bytes() : used_bytes;
    EXPECT_EQ(memory.used_bytes(), used_bytes) << "window " << window;
  }
}

}  // namespace
}  // namespace glaive::state
