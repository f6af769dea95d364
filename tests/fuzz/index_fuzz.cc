// Fills the index of a slice's table with keys as identifiers are made: multiples of a stride, from a first key on.
//
// Strides are powers of 2 and numbers beside them, Fibonacci numbers and any other numbers. The run's seed is drawn,
// too. The index has to find every key, and to be no larger than it is for random keys: one whose keys fall together
// has no overflow buckets left, and grows instead.

#include <fuzzer/FuzzedDataProvider.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "state/crdt/sum.h"
#include "state/log/state_memory.h"
#include "state/store/delta_entry.h"
#include "state/store/slice_table.h"
#include "tests/fuzz/require.h"

namespace glaive {
namespace {

using Value = state::SumValue<std::int64_t>;
using Table = state::SliceTable<std::uint64_t, Value>;
using Update = state::DeltaUpdate<std::uint64_t, std::int64_t>;

std::uint64_t Fibonacci(int number) {
  std::uint64_t before = 0;
  std::uint64_t value = 1;
  for (int i = 1; i < number; ++i) {
    value += std::exchange(before, value);
  }
  return value;
}

std::uint64_t DrawStride(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 2)) {
    case 0:
      return (std::uint64_t{1} << input.ConsumeIntegralInRange(0, 52)) +
             static_cast<std::uint64_t>(input.ConsumeIntegralInRange(-1, 1));
    case 1:
      return Fibonacci(input.ConsumeIntegralInRange(1, 80));
    default:
      return input.ConsumeIntegral<std::uint64_t>();
  }
}

/// How often the index of so many keys that spread like random ones has grown, at most.
std::uint64_t MostGrowths(std::uint64_t keys) { return static_cast<std::uint64_t>(std::bit_width(keys / 8)) + 1; }

void Check(FuzzedDataProvider& input) {
  constexpr std::uint64_t kMostKeys = 4096;
  constexpr std::uint64_t kRun = 64;
  state::StateMemory memory(std::uint64_t{64} << 20, input.ConsumeIntegral<std::uint64_t>());
  const std::uint64_t stride = DrawStride(input);
  const auto first = input.ConsumeIntegral<std::uint32_t>();
  const auto keys = input.ConsumeIntegralInRange<std::uint64_t>(1, kMostKeys);
  auto table = Table::Create(memory, 0);
  Require(table.ok(), "an empty table fits the budget");
  std::vector<Update> run;
  for (std::uint64_t i = 0; i < keys; ++i) {
    run.push_back({.key = first + i * stride, .input = 1});
    if (run.size() == kRun || i + 1 == keys) {
      Require(table->ApplyRun(memory, std::span<const Update>(run)).ok(), "the table takes all keys");
      run.clear();
    }
  }
  const bool are_different = stride != 0 && std::countr_zero(stride) + std::bit_width(keys) <= 64;
  Require(!are_different || table->size() == keys, "each key has one entry");
  Require(table->counts().index_growths <= MostGrowths(table->size()), "the index is no larger than for random keys");
}

}  // namespace
}  // namespace glaive

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  glaive::Check(input);
  return 0;
}
