// Runs of updates and of forms for the tables of a slice, and a map of integers that says what the table has to hold
// then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/log/state_memory.h"
#include "state/store/delta_entry.h"
#include "state/store/run_groups.h"

namespace glaive::state {

using Sum = SumValue<std::int64_t>;
using Update = DeltaUpdate<std::uint64_t, std::int64_t>;
using Form = DeltaForm<std::uint64_t, Sum>;
using Expected = std::unordered_map<std::uint64_t, absl::int128>;

inline Update Of(std::uint64_t key, std::int64_t input) { return {.key = key, .input = input}; }

/// What a record of the key was folded into.
inline Form FormOf(std::uint64_t key, std::int64_t input) {
  Form form{.key = key, .form = {}};
  EXPECT_TRUE(form.form.TryUpdate(input));
  return form;
}

template <typename Table, typename E>
void Apply(Table& table, StateMemory& memory, const std::vector<E>& run) {
  ASSERT_TRUE(table.ApplyRun(memory, std::span<const E>(run)).ok());
}

/// A run of random length, up to a few groups, added to `expected` as well. A key now and then comes twice in it, often
/// as a new one.
inline std::vector<Update> RandomRun(std::mt19937_64& random, std::uint64_t keys, Expected& expected) {
  std::vector<Update> run;
  for (std::uint64_t left = random() % (3 * kGroupSize); left > 0; --left) {
    const std::uint64_t key = !run.empty() && random() % 8 == 0 ? run.back().key : random() % keys;
    run.push_back(Of(key, static_cast<std::int64_t>(random() % 1000) - 500));
    expected[key] += run.back().input;
  }
  return run;
}

/// The same records, each folded into a form of its own.
inline std::vector<Form> FormsOf(const std::vector<Update>& updates) {
  std::vector<Form> forms;
  for (const Update& update : updates) {
    forms.push_back(FormOf(update.key, update.input));
  }
  return forms;
}

/// Applies a random run, as updates or as forms.
template <typename Table>
void ApplyRandomRun(Table& table, StateMemory& memory, std::mt19937_64& random, std::uint64_t keys,
                    Expected& expected) {
  const std::vector<Update> run = RandomRun(random, keys, expected);
  if (random() % 2 == 0) {
    Apply(table, memory, run);
  } else {
    Apply(table, memory, FormsOf(run));
  }
}

}  // namespace glaive::state
