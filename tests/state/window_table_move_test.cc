// A window table whose log moves to cells.

#include <cstdint>

#include <gtest/gtest.h>

#include "state/store/window_table.h"
#include "tests/state/window_tables.h"

namespace glaive::state {
namespace {

TEST(WindowTable, MovesToCellsWhileItsKeysRecurAndNoNewOnesCome) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {}).value();
  Repeat(table, memory, 0, 20'000, 1);
  Repeat(table, memory, 0, 15'000, 1);
  EXPECT_TRUE(table.cells().empty()) << "no new ones since the last reviews, but less than twice each";
  EXPECT_EQ(table.counts().cell_moves, 0U);
  Repeat(table, memory, 15'000, 5'000, 1);  // the next review is after 40,000 updates
  MoveAll(table, memory);
  EXPECT_EQ(table.cells().size(), 20'000U);
  EXPECT_EQ(table.counts().cell_moves, 1U);
  Repeat(table, memory, 20'000, 20'000, 1);
  Expected expected;
  for (std::uint64_t key = 0; key < 40'000; ++key) {
    expected[key] = key < 20'000 ? 2 : 1;
  }
  ExpectHolds(table, expected);
  EXPECT_EQ(table.forecast(), (Table::Forecast{.keys = 40'000, .recurring = true})) << "moves are no updates";

  Table some_new = Table::Create(memory, {}).value();
  Repeat(some_new, memory, 0, 19'000, 1);
  Repeat(some_new, memory, 0, 19'000, 1);
  Repeat(some_new, memory, 19'000, 100, 1);
  EXPECT_TRUE(some_new.cells().empty()) << "less than twice each at the review after 32,000 updates";
  Repeat(some_new, memory, 0, 2'000, 1);
  MoveAll(some_new, memory);
  EXPECT_EQ(some_new.cells().size(), 19'100U) << "a few new ones are no reason to stay";

  for (const std::uint64_t times : {8U, 20U, 100U}) {
    Table growing = Table::Create(memory, {}).value();
    for (std::uint64_t key = 0; key < 5000; ++key) {
      Repeat(growing, memory, key, 1, times);
    }
    EXPECT_TRUE(growing.cells().empty()) << "new keys come and come, " << times << " times each";
  }
}

TEST(WindowTable, MovesSomeEntriesWithEachRunWhileUpdatesGoToCells) {
  constexpr std::uint64_t kKeys = 1000;
  constexpr std::uint64_t kFewestMoved = 16;
  StateMemory memory(kLimitBytes, 0, {.updates_between_reviews = 100, .fewest_moved = kFewestMoved});
  Table table = Table::Create(memory, {}).value();
  std::uint64_t updates = 0;
  for (; table.cells().empty(); ++updates) {
    ASSERT_LT(updates, 10 * kKeys);
    Repeat(table, memory, updates % kKeys, 1, 1);
  }
  ASSERT_TRUE(table.moving());
  for (; table.moving(); ++updates) {
    const std::uint64_t cells = table.cells().size();
    Repeat(table, memory, updates % kKeys, 1, 1);
    EXPECT_LE(table.cells().size(), cells + kFewestMoved + 1);
    EXPECT_GE(table.size(), kKeys);
  }
  Expected expected;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    expected[key] = static_cast<std::int64_t>(updates / kKeys + (key < updates % kKeys ? 1 : 0));
  }
  ExpectHolds(table, expected);
}

TEST(WindowTable, CountsHowOftenTheIndexGrewBeforeTheMove) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {}).value();
  Repeat(table, memory, 0, 50'000, 1);
  const std::uint64_t growths = table.counts().index_growths;
  EXPECT_GT(growths, 0U);
  Repeat(table, memory, 0, 50'000, 7);
  MoveAll(table, memory);
  ASSERT_FALSE(table.cells().empty());
  EXPECT_EQ(table.counts().index_growths, growths);
}

}  // namespace
}  // namespace glaive::state
