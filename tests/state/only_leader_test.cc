// The store of an executor that leads all keys: its records stay on it.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/store/partitioned_store.h"
#include "state/store/window_table.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

/// A store of the only leader, with two records of a key.
template <typename Store>
Store AloneWithTwoRecords(StateMemory& memory) {
  typename Store::Context context;
  context.memory = &memory;
  Store store = Store::Create(context).value();
  EXPECT_EQ(store.fragment(), nullptr);
  EXPECT_TRUE(store.HasRoom(kMostEntries));
  store.Enter(SliceId{1});
  std::vector<Update> updates{Of(1, 2), Of(1, 3)};
  EXPECT_TRUE(store.Take(SliceId{1}, updates).ok());
  return store;
}

TEST(PartitionedStore, TheOnlyLeaderCombinesRecordsWhereSlicesHaveNoCells) {
  StateMemory memory(std::uint64_t{64} << 20);
  using Store = PartitionedStore<std::uint64_t, Sum>;
  Store store = AloneWithTwoRecords<Store>(memory);
  EXPECT_TRUE(store.holds_back());
  EXPECT_EQ(store.primary().entries(), 0U);
  while (store.holds_back()) {
    ASSERT_TRUE(store.HasRoom(store.most_at_once()));
    ASSERT_TRUE(store.ReadOutSome().ok());
  }
  EXPECT_EQ(store.primary().Oldest()->second.Run(0).front().value.Result(), 5);
}

TEST(PartitionedStore, TheOnlyLeaderHoldsNothingBackWhereSlicesHaveCells) {
  StateMemory memory(std::uint64_t{64} << 20);
  using Store = PartitionedStore<std::uint64_t, Sum, WindowTable<std::uint64_t, Sum>>;
  const Store store = AloneWithTwoRecords<Store>(memory);
  EXPECT_FALSE(store.holds_back());
  EXPECT_EQ(store.primary().entries(), 1U);
}

}  // namespace
}  // namespace glaive::state
