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

/// A store of the only leader, with records of a slice.
template <typename Store>
Store AloneWith(std::vector<Update> updates, StateMemory& memory, const FoldOptions& fold = {}) {
  typename Store::Context context;
  context.memory = &memory;
  context.fold = fold;
  Store store = Store::Create(context).value();
  EXPECT_EQ(store.fragment(), nullptr);
  EXPECT_TRUE(store.HasRoom(kMostEntries));
  store.Enter(SliceId{1});
  EXPECT_TRUE(store.Take(SliceId{1}, updates).ok());
  return store;
}

using WithoutCells = PartitionedStore<std::uint64_t, Sum>;
using WithCells = PartitionedStore<std::uint64_t, Sum, WindowTable<std::uint64_t, Sum>>;

TEST(OnlyLeader, CombinesRecordsWhereSlicesHaveNoCells) {
  StateMemory memory(std::uint64_t{64} << 20);
  auto store = AloneWith<WithoutCells>({Of(1, 2), Of(1, 3)}, memory);
  EXPECT_TRUE(store.holds_back());
  EXPECT_EQ(store.primary().entries(), 0U);
  while (store.holds_back()) {
    ASSERT_TRUE(store.HasRoom(store.most_at_once()));
    ASSERT_TRUE(store.ReadOutSome().ok());
  }
  EXPECT_EQ(store.primary().Oldest()->second.Run(0).front().value.Result(), 5);
  EXPECT_EQ(store.fold_policy().folded_records(), 2U);
  EXPECT_EQ(store.own_entries(), 1U);
}

TEST(OnlyLeader, CombinesOnlyWhereOneRecordOfTwoIsSaved) {
  StateMemory memory(std::uint64_t{64} << 20);
  const FoldOptions fold{.trial_records = 3, .records_per_saved = 4};
  EXPECT_FALSE(AloneWith<WithoutCells>({Of(1, 2), Of(1, 3), Of(1, 4)}, memory, fold).wants_read_out());
  auto store = AloneWith<WithoutCells>({Of(1, 2), Of(1, 3), Of(2, 4)}, memory, fold);
  EXPECT_TRUE(store.wants_read_out());
  ASSERT_TRUE(store.ReadOutSome().ok());
  std::vector<Update> more{Of(2, 5)};
  ASSERT_TRUE(store.Take(SliceId{1}, more).ok());
  EXPECT_EQ(store.fold_policy().appended_records(), 1U);
  EXPECT_EQ(store.own_entries(), 3U) << "two keys, and a record";
}

TEST(OnlyLeader, HoldsNothingBackWhereSlicesHaveCells) {
  StateMemory memory(std::uint64_t{64} << 20);
  const auto store = AloneWith<WithCells>({Of(1, 2), Of(1, 3)}, memory);
  EXPECT_FALSE(store.holds_back());
  EXPECT_EQ(store.primary().entries(), 1U);
  EXPECT_EQ(store.own_entries(), 0U);
}

}  // namespace
}  // namespace glaive::state
