// PartitionedStore, one executor at a time: which way its own records take.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/appended.h"
#include "state/crdt/mean.h"
#include "state/store/partitioned_store.h"
#include "tests/state/store_cluster.h"
#include "tests/state/store_of_three.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

/// The way of the store's own records. Trials are so long that folding goes on.
class RecordsTest : public testing::Test {
 protected:
  OfThree<Sum> node_;
};

TEST_F(RecordsTest, OfTheSliceThatWasEnteredAreHeldBackUntilTheyAreReadOut) {
  node_.Enter(1);
  node_.Take(1, {Of(kOwnKey, 1), Of(kForeignKey, 2), Of(kOwnKey, 10), Of(kForeignKey, 20)});
  EXPECT_TRUE(node_.store().holds_back());
  EXPECT_FALSE(node_.store().holds_back_others(SliceId{1}));
  EXPECT_TRUE(node_.store().holds_back_others(SliceId{2}));
  EXPECT_EQ(node_.store().primary().open_slices(), 0U) << "its own are no exception";
  EXPECT_EQ(node_.store().fold_policy().folded_records(), 4U);
  node_.ReadOut();
  EXPECT_FALSE(node_.store().holds_back());
  EXPECT_EQ(node_.store().own_entries(), 1U);
  EXPECT_EQ(node_.store().primary().Oldest()->second.Run(0).front().value.Result(), 11);
  const std::vector<ReceivedRun> runs = node_.EndEpoch(0);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.slice, SliceId{1});
  const std::vector<Form> forms = runs[0].Entries<Form>();
  ASSERT_EQ(forms.size(), 1U);
  EXPECT_EQ(forms[0].key, kForeignKey);
  EXPECT_EQ(forms[0].form.Result(), 22);
  EXPECT_TRUE(node_.EndEpoch(0).empty()) << "the next epoch's";
}

TEST_F(RecordsTest, OfAnotherSliceAreHandedOverAtOnce) {
  node_.Enter(2);
  node_.Take(2, {Of(kForeignKey, 7)});
  node_.Take(1, {Of(kForeignKey, 1), Of(kOwnKey, 2), Of(kForeignKey, 3)});
  EXPECT_EQ(node_.store().fold_policy().appended_records(), 3U);
  EXPECT_EQ(node_.store().primary().Oldest()->first, SliceId{1});
  EXPECT_TRUE(node_.store().holds_back());
  const std::vector<ReceivedRun> runs = node_.EndEpoch(0);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.slice, SliceId{1});
  EXPECT_EQ(runs[0].Entries<Update>().size(), 2U) << "as they came";
  EXPECT_EQ(node_.store().primary().open_slices(), 1U) << "a foreign key opens no slice here";
}

TEST_F(RecordsTest, OfNewKeysThatFindNoCellAreHandedOverAndWantARead) {
  node_.Enter(1);
  std::uint64_t records = 0;
  for (std::uint64_t key = 1; !node_.store().wants_read_out(); key += 10) {
    ASSERT_LT(key, 10'000U);
    EXPECT_EQ(node_.store().fold_policy().appended_records(), 0U);
    std::vector<Update> updates;
    for (std::uint64_t next = key; next < key + 10; ++next) {
      updates.push_back(Of(next, 1));
    }
    node_.Take(1, updates);
    records += 10;
  }
  node_.Take(1, {Of(100'000, 1), Of(1, 1)});
  EXPECT_EQ(node_.store().fold_policy().folded_records() + node_.store().fold_policy().appended_records(), records + 2);
  const std::uint64_t appended = node_.store().fold_policy().appended_records();
  EXPECT_GT(appended, 0U);
  node_.ReadOut();
  EXPECT_FALSE(node_.store().wants_read_out());
  for (std::uint64_t key = 1; key < 500; ++key) {
    node_.Take(1, {Of(key, 1)});
  }
  EXPECT_EQ(node_.store().fold_policy().appended_records(), appended) << "it has grown";
}

TEST(Records, FoldAgainWhatRecursAndAppendWhatDoesNot) {
  OfThree<Sum> node({.trial_records = 100, .trials_between = 2, .records_per_saved = 4, .combiner_bytes = 64 << 10});
  node.Enter(1);
  std::uint64_t key = 0;
  while (node.store().fold_policy().folds()) {
    node.Take(1, {Of(++key, 1)});
  }
  EXPECT_EQ(key, 100U);
  EXPECT_TRUE(node.store().holds_back());
  EXPECT_TRUE(node.store().wants_read_out()) << "what it holds back takes nothing any more";
  node.ReadOut();
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(node.store().fold_policy().folds()) << i;
    node.Take(1, {Of(1, 1)});
    EXPECT_FALSE(node.store().holds_back());
  }
  EXPECT_TRUE(node.store().fold_policy().folds());
  node.Take(1, {Of(1, 1)});
  EXPECT_TRUE(node.store().holds_back());
  EXPECT_EQ(node.store().fold_policy().switches(), 2U);
}

// Each key comes eight times in a row of its own, and never again.
TEST(Records, MakeRoomForNewKeysInACombinerThatIsFullOfOldOnes) {
  OfThree<Sum> node({.trial_records = 800, .trials_between = 100, .records_per_saved = 4, .combiner_bytes = 1 << 10});
  node.Enter(1);
  std::uint64_t records = 0;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    for (int i = 0; i < 8; ++i) {
      node.Take(1, {Of(key, 1)});
      ++records;
    }
    if (node.store().wants_read_out()) {
      node.ReadOut();
    }
    node.EndEpoch(0);
  }
  const FoldPolicy& policy = node.store().fold_policy();
  EXPECT_EQ(policy.switches(), 0U);
  EXPECT_GT(policy.renewals(), 10U);
  EXPECT_GT(policy.folded_records(), records / 4);
}

TEST(Records, ReplaceAFormThatTakesNoMore) {
  using Node = OfThree<MeanValue<float>>;
  Node node;
  node.Enter(1);
  node.Take(1, std::vector<Node::Update>(1000, {.key = kForeignKey, .input = 0.5F}));
  node.ReadOut();
  std::uint64_t count = 0;
  std::vector<std::uint64_t> counts;
  for (const ReceivedRun& run : node.EndEpoch(0)) {
    for (const Node::Form& form : run.Entries<Node::Form>()) {
      EXPECT_EQ(form.key, kForeignKey);
      EXPECT_EQ(form.form.Result(), 0.5);
      counts.push_back(form.form.Expanded().count);
      count += counts.back();
    }
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{255, 255, 255, 235}));
  EXPECT_EQ(count, 1000U);
}

TEST(Records, ThatNoFormTakesAreHandedOverAsTheyCame) {
  using Node = OfThree<SumValue<float>>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Node node;
  node.Enter(1);
  node.Take(1, {{.key = kForeignKey, .input = 1.5F},
                {.key = kForeignKey, .input = kInfinity},
                {.key = kForeignKey, .input = 2.5F},
                {.key = kOwnKey, .input = -kInfinity}});
  node.ReadOut();
  SumValue<float> sum;
  std::vector<float> as_they_came;
  for (const ReceivedRun& run : node.EndEpoch(0)) {
    if (run.header.kind == DeltaKind::kUpdate) {
      for (const Node::Update& update : run.Entries<Node::Update>()) {
        as_they_came.push_back(update.input);
      }
    } else {
      for (const Node::Form& form : run.Entries<Node::Form>()) {
        sum.Merge(form.form.Expanded());
      }
    }
  }
  EXPECT_EQ(as_they_came, std::vector<float>{kInfinity});
  EXPECT_EQ(sum.Result(), 4.0);
  EXPECT_EQ(node.store().primary().Oldest()->second.Run(0).front().value.Result(), -kInfinity);
}

// Each record makes its key's form give up its place, and is an entry of its own beside it, as no form takes it. There
// are no more segments than HasRoom asks for, and those that are open are filled to a different degree each time.
TEST(Records, FindRoomHoweverManyEntriesTheyMake) {
  using Node = OfThree<MeanValue<float>>;
  for (const std::size_t items : {1U, 2U, 3U, 6U, 7U, 8U, 13U, 14U, 15U, 100U, 1024U}) {
    for (std::size_t before = 0; before < 7; ++before) {
      Node node({}, /*slot_bytes=*/256);
      node.Enter(1);
      node.Take(0, std::vector<Node::Update>(before, {.key = kForeignKey, .input = 1}));
      std::vector<rdma::SegmentId> free;
      while (const auto segment = node.pool().TryAcquire()) free.push_back(*segment);
      while (!node.store().HasRoom(items)) {
        ASSERT_FALSE(free.empty()) << items << " records never find room";
        node.pool().Release(free.back());
        free.pop_back();
      }
      node.Take(
          1, std::vector<Node::Update>(items, {.key = kForeignKey, .input = std::numeric_limits<float>::infinity()}));
      for (const rdma::SegmentId segment : free) {
        node.pool().Release(segment);
      }
      std::uint64_t updates = 0;
      for (const ReceivedRun& run : node.EndEpoch(0)) {
        updates += run.header.kind == DeltaKind::kUpdate ? run.header.entry_count : 0;
      }
      EXPECT_EQ(updates, before + items);
    }
  }
}

/// Tuples that are appended.
TEST(Records, OfAnAppendSetAreNeverHeldBack) {
  using Tuples = Appended<std::uint64_t>;
  using Node = OfThree<Tuples>;
  static_assert(Node::Store::kEntryBytes.form == 0);
  Node node;
  node.Enter(1);
  node.Take(1, {{.key = kForeignKey, .input = 1}, {.key = kOwnKey, .input = 2}, {.key = kForeignKey, .input = 3}});
  EXPECT_FALSE(node.store().holds_back());
  EXPECT_FALSE(node.store().wants_read_out());
  EXPECT_EQ(node.store().primary().entries(), 1U);
  const std::vector<ReceivedRun> runs = node.EndEpoch(0);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].Entries<Node::Update>()[1].input, 3U);
}

TEST(PartitionedStore, WithoutMemoryForItsCombinerThereIsNone) {
  StateMemory memory(0);
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Form), 0).value();
  rdma::SegmentPool pool = rdma::SegmentPool::Create(1024, geometry.pool_segments).value();
  Outbox outbox(2, pool);
  using Store = PartitionedStore<std::uint64_t, Sum>;
  const auto store = Store::Create({.memory = &memory,
                                    .pool = &pool,
                                    .outbox = &outbox,
                                    .self = ExecutorId{0},
                                    .leaders = Leaders(2),
                                    .input = 0,
                                    .geometry = geometry,
                                    .fold = {}});
  EXPECT_EQ(store.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(PartitionedStoreDeathTest, ASliceIsEnteredWhenNoneOfAnotherIsHeldBack) {
  OfThree<Sum> node;
  node.Enter(1);
  node.Take(1, {Of(1, 1)});
  node.Enter(1);
  EXPECT_DEATH(node.Enter(2), "a combiner has keys of slice 1 when slice 2 begins");
}

}  // namespace
}  // namespace glaive::state
