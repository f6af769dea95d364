// PartitionedStore: which deltas of others it merges.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/store/partitioned_store.h"
#include "tests/state/store_cluster.h"
#include "tests/state/store_of_three.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What deltas of others bring.
class MergeTest : public testing::Test {
 protected:
  absl::Status Merge(const HandMadeDelta& delta, std::int64_t floor) {
    return node_.Merge(delta, {.first = SliceId{floor}});
  }
  absl::int128 FirstSum() { return node_.store().primary().Oldest()->second.Run(0).front().value.Result(); }
  std::size_t open_slices() { return node_.store().primary().open_slices(); }

  OfThree<Sum> node_;
};

TEST_F(MergeTest, AddsUpdatesAndFormsOfOthersToItsOwnUpdates) {
  node_.Take(4, {Of(kOwnKey, 10)});
  EXPECT_TRUE(Merge(HandMadeDelta(1)
                        .AddRun(SliceId{4}, std::vector{FormOf(kOwnKey, 5), FormOf(kOwnKey, 100)})
                        .AddRun(SliceId{5}, std::vector{FormOf(kOwnKey, 7)})
                        .AddRun(SliceId{4}, std::vector{Of(kOwnKey, 1000)}),
                    4)
                  .ok());
  EXPECT_EQ(node_.store().merged_entries(), 4U);
  ASSERT_EQ(open_slices(), 2U);
  EXPECT_EQ(FirstSum(), 1115);
}

TEST_F(MergeTest, MergesALongRunInPartsAndTakesNoSegment) {
  while (node_.pool().TryAcquire()) {
  }
  constexpr std::size_t kMany = 5000;
  std::vector<Update> updates;
  std::vector<Form> forms;
  for (std::uint64_t key = 0; updates.size() < kMany; ++key) {
    if (LeaderOf(kTestHash(key), 3) == ExecutorId{1}) {
      updates.push_back(Of(key, 1));
      forms.push_back(FormOf(key, 10));
    }
  }
  EXPECT_TRUE(Merge(HandMadeDelta(1).AddRun(SliceId{1}, updates).AddRun(SliceId{1}, forms), 0).ok());
  const auto& table = node_.store().primary().Oldest()->second;
  EXPECT_EQ(table.size(), kMany);
  EXPECT_EQ(node_.store().merged_entries(), 2 * kMany);
  EXPECT_TRUE(table
                  .ForEach([](const auto& entry) {
                    EXPECT_EQ(entry.value.Result(), 11) << "key " << entry.key;
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST_F(MergeTest, RefusesAKeyThatAnotherLeads) {
  EXPECT_TRUE(Merge(HandMadeDelta(1).AddMarker(MarkerOf(2, 1, 0)), 0).ok());
  std::vector<Form> forms(2000, FormOf(kOwnKey, 1));
  forms.back() = FormOf(kForeignKey, 1);
  const absl::Status status = Merge(HandMadeDelta(2).AddRun(SliceId{4}, forms), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("executor 2 sent executor 1 a key that executor 0 leads, in its epoch 2"));
}

TEST_F(MergeTest, RefusesASliceThatTheSenderHasPassed) {
  const absl::Status status = Merge(
      HandMadeDelta(1).AddRun(SliceId{7}, std::vector{Of(kOwnKey, 1)}).AddRun(SliceId{6}, std::vector{Of(kOwnKey, 1)}),
      7);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("I3"), HasSubstr("executor 2 changes slice 6 in its epoch 1"), HasSubstr("executor 1"),
                    HasSubstr("7 or later")));
}

TEST_F(MergeTest, RefusesASliceThatHasFiredWhateverTheSendersFloor) {
  node_.store().primary().DropBefore(SliceId{9});
  const absl::Status status = Merge(HandMadeDelta(1).AddRun(SliceId{8}, std::vector{Of(kOwnKey, 1)}), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("9 or later"));
  EXPECT_EQ(open_slices(), 0U);
}

TEST_F(MergeTest, RefusesASlicePastTheEndOfEventTime) {
  const SliceRange open{.first = SliceId{0}, .last = SliceId{100}};
  EXPECT_TRUE(node_.Merge(HandMadeDelta(1).AddRun(SliceId{100}, std::vector{Of(kOwnKey, 1)}), open).ok());
  const absl::Status status = node_.Merge(HandMadeDelta(1).AddRun(SliceId{101}, std::vector{Of(kOwnKey, 1)}), open);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("executor 2 changes slice 101 in its epoch 1"),
                                                   HasSubstr("executor 1 expects at most 100")));
  EXPECT_EQ(open_slices(), 1U);
}

TEST_F(MergeTest, TheLeastSliceNumberIsNoTrap) {
  EXPECT_TRUE(Merge(HandMadeDelta(1).AddRun(kFirstSlice, std::vector{Of(kOwnKey, 1)}), Value(kFirstSlice)).ok());
  EXPECT_EQ(open_slices(), 1U);
}

}  // namespace
}  // namespace glaive::state
