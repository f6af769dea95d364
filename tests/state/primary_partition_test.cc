#include "state/store/primary_partition.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/count.h"
#include "state/store/delta_entry.h"

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

using Partition = PrimaryPartition<std::uint64_t, CountValue>;
using Update = DeltaUpdate<std::uint64_t, Nothing>;

void Count(Partition& partition, StateMemory& memory, SliceId slice, std::uint64_t keys) {
  const absl::StatusOr<Partition::Table*> table = partition.Open(slice);
  ASSERT_TRUE(table.ok()) << table.status();
  for (std::uint64_t key = 0; key < keys; ++key) {
    const Update update{.key = key, .input = {}};
    ASSERT_TRUE((*table)->ApplyRun(memory, std::span(&update, 1)).ok());
  }
}

TEST(PrimaryPartition, OpensASliceOnceAndKeepsItsPlace) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  EXPECT_EQ(partition.Oldest(), nullptr);
  Partition::Table* const five = partition.Open(SliceId{5}).value();
  Partition::Table* const three = partition.Open(SliceId{3}).value();
  EXPECT_NE(five, three);
  EXPECT_EQ(partition.Open(SliceId{5}).value(), five);
  EXPECT_EQ(partition.Open(SliceId{3}).value(), three);
  EXPECT_EQ(partition.open_slices(), 2U);
  EXPECT_EQ(partition.Oldest()->first, SliceId{3});
  EXPECT_EQ(&partition.Oldest()->second, three);
}

TEST(PrimaryPartition, TheVeryFirstAndLastSliceNumbersAreSlicesToo) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  for (const SliceId slice : {kFirstSlice, SliceId{std::numeric_limits<std::int64_t>::max()}}) {
    const auto table = partition.Open(slice);
    ASSERT_TRUE(table.ok());
    ASSERT_NE(*table, nullptr);
    EXPECT_EQ(partition.Open(slice).value(), *table);
  }
}

TEST(PrimaryPartition, DropsWholeSlicesInOrder) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  for (const std::int64_t slice : {-2, 0, 1, 7}) {
    Count(partition, memory, SliceId{slice}, 10);
  }
  partition.DropBefore(SliceId{1});
  EXPECT_EQ(partition.open_slices(), 2U);
  EXPECT_EQ(partition.Oldest()->first, SliceId{1});
  EXPECT_EQ(partition.first_open(), SliceId{1});
  partition.DropBefore(SliceId{0});
  EXPECT_EQ(partition.first_open(), SliceId{1}) << "it never goes back";
  partition.DropBefore(SliceId{8});
  EXPECT_EQ(partition.open_slices(), 0U);
  EXPECT_EQ(partition.Oldest(), nullptr);
}

TEST(PrimaryPartition, ADroppedSliceIsNotHandedOutFromMemory) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  Count(partition, memory, SliceId{1}, 10);
  partition.DropBefore(SliceId{2});
  Count(partition, memory, SliceId{2}, 3);
  EXPECT_EQ(partition.Oldest()->second.size(), 3U);
}

TEST(PrimaryPartition, ANewSliceIsPlannedForAsManyKeysAsTheLast) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  Count(partition, memory, SliceId{1}, 5000);
  const std::uint64_t growths = partition.counts().index_growths;
  EXPECT_GT(growths, 0U);
  Count(partition, memory, SliceId{2}, 5000);  // beside an open one
  EXPECT_EQ(partition.counts().index_growths, growths);
  partition.DropBefore(SliceId{3});
  EXPECT_EQ(partition.counts().index_growths, growths) << "dropped slices count on";
  Count(partition, memory, SliceId{3}, 5000);  // after all were dropped
  EXPECT_EQ(partition.counts().index_growths, growths);
}

TEST(PrimaryPartition, ASliceOfManyKeysIsForecastByTheOnesBefore) {
  StateMemory memory(kLimitBytes, /*hash_seed=*/0, {.many_keys = 100});
  Partition partition(memory);
  EXPECT_FALSE(partition.OpensLargeTable(SliceId{1}));
  Count(partition, memory, SliceId{1}, 99);
  EXPECT_FALSE(partition.OpensLargeTable(SliceId{2}));
  Count(partition, memory, SliceId{2}, 100);
  EXPECT_FALSE(partition.OpensLargeTable(SliceId{1})) << "an older one";
  EXPECT_FALSE(partition.OpensLargeTable(SliceId{2})) << "it is open";
  EXPECT_TRUE(partition.OpensLargeTable(SliceId{3}));
}

TEST(PrimaryPartition, AStreamOfWindowsLivesOnEachOthersMemory) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  std::uint64_t warm_bytes = 0;
  for (std::int64_t slice = 0; slice < 50; ++slice) {
    Count(partition, memory, SliceId{slice}, 30'000);
    partition.DropBefore(SliceId{slice});
    if (slice == 3) {
      warm_bytes = memory.mapped_bytes();
    }
  }
  EXPECT_EQ(memory.mapped_bytes(), warm_bytes);
}

TEST(PrimaryPartition, PastTheBudgetASliceDoesNotOpen) {
  StateMemory memory(0);
  Partition partition(memory);
  EXPECT_EQ(partition.Open(SliceId{1}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(partition.open_slices(), 0U);
}

TEST(PrimaryPartitionDeathTest, ASliceThatHasFiredDoesNotOpenAgain) {
  StateMemory memory(kLimitBytes);
  Partition partition(memory);
  Count(partition, memory, SliceId{4}, 1);
  partition.DropBefore(SliceId{5});
  EXPECT_DEATH((void)partition.Open(SliceId{4}), "I4: slice 4 has fired; the first open one is 5");
}

}  // namespace
}  // namespace glaive::state
