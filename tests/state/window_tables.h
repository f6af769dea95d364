// What the tests of WindowTable share: a table of sums, what it holds, and updates of many keys.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "state/log/state_memory.h"
#include "state/store/window_table.h"
#include "tests/state/update_runs.h"

namespace glaive::state {

inline constexpr std::uint64_t kLimitBytes = std::uint64_t{128} << 20;

using Table = WindowTable<std::uint64_t, Sum>;

inline void ExpectHolds(const Table& table, const Expected& expected) {
  Expected met;
  const absl::Status status = table.ForEach([&](const auto& entry) {
    EXPECT_TRUE(met.emplace(entry.key, entry.value.Result()).second)
        << "key " << entry.key << " has more than one entry";
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(table.size(), expected.size());
  EXPECT_EQ(met, expected);
}

/// Updates each key from `first` on `times` times.
inline void Repeat(Table& table, StateMemory& memory, std::uint64_t first, std::uint64_t keys, std::uint64_t times) {
  for (std::uint64_t round = 0; round < times; ++round) {
    for (std::uint64_t key = first; key < first + keys; ++key) {
      Apply(table, memory, std::vector<Update>{Of(key, 1)});
    }
  }
}

/// Lets the entries of the log that are on their way to cells arrive there.
template <typename T>
void MoveAll(T& table, StateMemory& memory) {
  while (table.moving()) {
    EXPECT_TRUE(table.MoveSome(memory, 1000).ok());
  }
}

}  // namespace glaive::state
