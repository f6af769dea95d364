// Groups of updates for the tables of a slice, and a map of integers that says what the table has to hold then.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/log/state_memory.h"
#include "state/store/slice_table.h"
#include "state/store/staged_update.h"

namespace glaive::state {

using Sum = SumValue<std::int64_t>;
using Update = StagedUpdate<std::uint64_t, std::int64_t>;
using Expected = std::unordered_map<std::uint64_t, std::int64_t>;

inline Update Of(std::uint64_t key, std::int64_t input) { return {.hash = HashKey(key), .key = key, .input = input}; }

template <typename Table>
void Apply(Table& table, StateMemory& memory, std::span<const Update> updates) {
  ASSERT_TRUE(table.Apply(memory, updates, FoldRecord{}).ok());
}

/// A group of random size, added to `expected` as well. A key now and then comes twice in it, often as a new one.
inline std::vector<Update> RandomGroup(std::mt19937_64& random, std::uint64_t keys, Expected& expected) {
  std::vector<Update> group;
  for (std::uint64_t left = random() % (kGroupSize + 1); left > 0; --left) {
    const std::uint64_t key = !group.empty() && random() % 8 == 0 ? group.back().key : random() % keys;
    group.push_back(Of(key, static_cast<std::int64_t>(random() % 1000) - 500));
    expected[key] += group.back().input;
  }
  return group;
}

}  // namespace glaive::state
