#include "state/store/partitioned_store.h"

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/state/store_cluster.h"

namespace glaive::state {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Entry = ClusterStore::Entry;
using Update = ClusterStore::Update;

Update Of(std::uint64_t key, std::int64_t input) { return {.hash = HashKey(key), .key = key, .input = input}; }

std::uint64_t KeyLedBy(std::uint32_t leader, std::uint32_t executors) {
  std::uint64_t key = 0;
  while (Value(LeaderOf(HashKey(key), executors)) != leader) {
    ++key;
  }
  return key;
}

/// One executor's input: groups that share a slice, slices that go on, some keys hotter than others.
class RandomInput {
 public:
  RandomInput(std::mt19937_64& random, std::uint64_t keys, int groups) {
    for (int i = 0; i < groups; ++i) {
      Group group{.slice = i / 16 - static_cast<std::int64_t>(random() % 2), .updates = {}};
      for (std::uint64_t left = 1 + random() % kGroupSize; left > 0; --left) {
        const std::uint64_t key = random() % 4 == 0 ? random() % 3 : random() % keys;
        group.updates.push_back(Of(key, static_cast<std::int64_t>(random() % 2000) - 1000));
      }
      groups_.push_back(std::move(group));
    }
  }

  void AddTo(ClusterSums& sums) const {
    for (const Group& group : groups_) {
      for (const Update& update : group.updates) {
        sums[{group.slice, update.key}] += update.input;
      }
    }
  }

  bool empty() const { return next_ == groups_.size(); }
  /// Nothing below it is still to come.
  std::int64_t watermark_ms() const { return static_cast<std::int64_t>(next_ / 16) - 1; }

  void TryApply(StoreNode& node) {
    if (node.TryApply(SliceId{groups_[next_].slice}, groups_[next_].updates)) {
      ++next_;
    }
  }

 private:
  struct Group {
    std::int64_t slice;
    std::vector<Update> updates;
  };
  std::vector<Group> groups_;
  std::size_t next_ = 0;
};

using StoreParam = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // executors, slot bytes, keys

class PartitionedStores : public testing::TestWithParam<StoreParam> {};

TEST_P(PartitionedStores, HoldTogetherWhatOneSequentialRunHolds) {
  const auto [executors, slot_bytes, keys] = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    StoreCluster cluster({.executors = executors, .slot_bytes = slot_bytes});
    ClusterSums expected;
    std::vector<RandomInput> inputs;
    for (std::uint32_t executor = 0; executor < executors; ++executor) {
      inputs.emplace_back(random, keys, 100);
      inputs.back().AddTo(expected);
    }
    std::vector<bool> ended(executors);
    for (int step = 0; !cluster.Done() && !HasFatalFailure(); ++step) {
      ASSERT_LT(step, 5'000'000) << "the cluster stands still";
      const std::uint64_t index = random() % executors;
      RandomInput& input = inputs[index];
      if (random() % 4 != 0) {
        cluster.Step(random);
      } else if (input.empty()) {
        ended[index] = ended[index] || cluster.node(index).BeginEpochEnd(kEndOfTime);
      } else if (random() % 8 == 0) {
        cluster.node(index).BeginEpochEnd(input.watermark_ms());
      } else {
        input.TryApply(cluster.node(index));
      }
    }
    std::uint64_t early_ends = 0;
    for (std::uint32_t executor = 0; executor < executors; ++executor) {
      early_ends += cluster.node(executor).early_ends();
    }
    if (executors > 1 && keys > 1000 && slot_bytes == 256) {
      EXPECT_GT(early_ends, 0U) << "no fragment was ever full";
    }
    EXPECT_EQ(cluster.TakeSums(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, PartitionedStores,
                         testing::Combine(testing::Values(1U, 2U, 3U, 7U), testing::Values(256U, 1024U),
                                          testing::Values(5UL, 500UL, 1UL << 40)));

class MergeTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kExecutors = 3;

  MergeTest()
      : geometry_(FragmentGeometry::Plan(kExecutors, 1024, sizeof(Entry), 0).value()),
        pool_(rdma::SegmentPool::Create(1024, geometry_.pool_segments).value()),
        store_(ClusterStore::Create(memory_, pool_, ExecutorId{1}, kExecutors, geometry_).value()) {}

  static Entry EntryOf(std::int64_t slice, std::uint64_t key, std::int64_t sum) {
    Entry entry{.slice = SliceId{slice}, .key = key, .value = {}};
    entry.value.Update(sum);
    return entry;
  }
  absl::Status Merge(const std::vector<Entry>& entries, std::int64_t floor) {
    return store_.Merge(reader_, entries, {.first = SliceId{floor}});
  }
  void EndEpoch(std::uint64_t epoch) {
    const HandMadeDelta end(epoch, std::vector<Entry>(), MarkerOf(2, epoch, 0));
    ASSERT_TRUE(reader_.Read(end.message()).ok());
  }

  FragmentGeometry geometry_;
  rdma::SegmentPool pool_;
  StateMemory memory_{std::uint64_t{64} << 20};
  ClusterStore store_;
  DeltaReader reader_{ExecutorId{2}, ExecutorId{1}, sizeof(Entry)};
  std::uint64_t own_key_ = KeyLedBy(1, kExecutors);
  std::uint64_t foreign_key_ = KeyLedBy(0, kExecutors);
};

TEST_F(MergeTest, AddsTheDeltasOfOthersToItsOwnUpdates) {
  ASSERT_TRUE(store_.Apply(SliceId{4}, std::vector<Update>{Of(own_key_, 10)}).ok());
  ASSERT_TRUE(Merge({EntryOf(4, own_key_, 5), EntryOf(5, own_key_, 7), EntryOf(4, own_key_, 100)}, 4).ok());
  EXPECT_EQ(store_.merged_entries(), 3U);
  ASSERT_EQ(store_.primary().open_slices(), 2U);
  EXPECT_EQ(store_.primary().Oldest()->second.Run(0).front().value.Result(), 115);
}

TEST_F(MergeTest, TakesNoSegment) {
  while (pool_.TryAcquire()) {
  }
  std::vector<Entry> entries;
  for (std::uint64_t key = 0; entries.size() < 5000; ++key) {
    if (LeaderOf(HashKey(key), kExecutors) == ExecutorId{1}) {
      entries.push_back(EntryOf(1, key, 1));
    }
  }
  EXPECT_TRUE(Merge(entries, 0).ok());
  EXPECT_EQ(store_.primary().Oldest()->second.size(), 5000U);
}

TEST_F(MergeTest, RefusesAKeyThatAnotherLeads) {
  EndEpoch(1);
  const HandMadeDelta chunk(2, std::vector<Entry>{}, std::nullopt);
  ASSERT_TRUE(reader_.Read(chunk.message()).ok());
  const absl::Status status = Merge({EntryOf(4, own_key_, 1), EntryOf(4, foreign_key_, 1)}, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("executor 2 sent executor 1 a key that executor 0 leads, in its epoch 2"));
}

TEST_F(MergeTest, RefusesASliceThatTheSenderHasPassed) {
  EndEpoch(1);
  const absl::Status status = Merge({EntryOf(7, own_key_, 1), EntryOf(6, own_key_, 1)}, 7);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("I3"), HasSubstr("executor 2 changes slice 6 in its epoch 1"), HasSubstr("executor 1"),
                    HasSubstr("7 or later")));
}

TEST_F(MergeTest, RefusesASliceThatHasFiredWhateverTheSendersFloor) {
  store_.primary().DropBefore(SliceId{9});
  const absl::Status status = Merge({EntryOf(8, own_key_, 1)}, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("9 or later"));
  EXPECT_EQ(store_.primary().open_slices(), 0U);
}

TEST_F(MergeTest, RefusesASlicePastTheEndOfEventTime) {
  const SliceRange open{.first = SliceId{0}, .last = SliceId{100}};
  EXPECT_TRUE(store_.Merge(reader_, std::vector<Entry>{EntryOf(100, own_key_, 1)}, open).ok());
  const absl::Status status = store_.Merge(reader_, std::vector<Entry>{EntryOf(101, own_key_, 1)}, open);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("executor 2 changes slice 101 in its epoch 0"),
                                                   HasSubstr("executor 1 expects at most 100")));
  EXPECT_EQ(store_.primary().open_slices(), 1U);
}

TEST_F(MergeTest, TheLeastSliceNumberIsNoTrap) {
  EXPECT_TRUE(
      Merge({EntryOf(std::numeric_limits<std::int64_t>::min(), own_key_, 1)}, std::numeric_limits<std::int64_t>::min())
          .ok());
  EXPECT_EQ(store_.primary().open_slices(), 1U);
}

TEST_F(MergeTest, AnUpdateGoesToItsLeadersFragmentOrToTheOwnPartition) {
  ASSERT_TRUE(store_.Apply(SliceId{1}, std::vector<Update>{Of(own_key_, 1), Of(foreign_key_, 1)}).ok());
  EXPECT_EQ(store_.primary().Oldest()->second.size(), 1U);
  EXPECT_EQ(store_.fragment()->entries(), 1U);
  ASSERT_TRUE(store_.Apply(SliceId{2}, std::vector<Update>{Of(foreign_key_, 1)}).ok());
  EXPECT_EQ(store_.primary().open_slices(), 1U) << "a foreign key opens no slice here";
}

TEST(PartitionedStore, AloneItHasNoFragmentAndAlwaysRoom) {
  StateMemory memory(std::uint64_t{64} << 20);
  rdma::SegmentPool pool = rdma::SegmentPool::Create(256, 1).value();
  auto store = ClusterStore::Create(memory, pool, ExecutorId{0}, 1, FragmentGeometry{}).value();
  EXPECT_EQ(store.fragment(), nullptr);
  EXPECT_TRUE(store.HasRoom(kGroupSize));
  EXPECT_FALSE(store.IsFull(kGroupSize));
  ASSERT_TRUE(store.Apply(SliceId{1}, std::vector<Update>{Of(1, 2), Of(1, 3)}).ok());
  EXPECT_EQ(store.primary().Oldest()->second.Run(0).front().value.Result(), 5);
}

TEST(PartitionedStoreDeathTest, AGroupIsNoLargerThanItsLimit) {
  StateMemory memory(std::uint64_t{64} << 20);
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Entry), 0).value();
  rdma::SegmentPool pool = rdma::SegmentPool::Create(1024, geometry.pool_segments).value();
  auto store = ClusterStore::Create(memory, pool, ExecutorId{0}, 2, geometry).value();
  const std::vector<Update> updates(kGroupSize + 1, Of(1, 1));
  EXPECT_DEATH((void)store.Apply(SliceId{1}, updates), "a group of 33 updates, at most 32");
}

}  // namespace
}  // namespace glaive::state
