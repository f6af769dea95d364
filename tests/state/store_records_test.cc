// PartitionedStore, one executor at a time: which deltas it merges, and which way its own records take.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/crdt/appended.h"
#include "state/crdt/mean.h"
#include "state/crdt/sum.h"
#include "state/store/partitioned_store.h"
#include "tests/state/store_cluster.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::uint64_t KeyLedBy(std::uint32_t leader, std::uint32_t executors, std::uint64_t key = 0) noexcept {
  while (Value(LeaderOf(kTestHash(key), executors)) != leader) {
    ++key;
  }
  return key;
}

/// The store of executor 1 of three, what leaves its outbox for either, and what executor 2 sends.
template <typename V>
class OfThree {
 public:
  using Store = PartitionedStore<std::uint64_t, V>;
  using Update = typename Store::Update;
  using Form = typename Store::Form;
  static constexpr std::uint32_t kExecutors = 3;

  explicit OfThree(const FoldOptions& fold = {}, std::uint32_t slot_bytes = 65'536)
      : geometry_(FragmentGeometry::Plan(kExecutors, slot_bytes, Store::kMostEntryBytes, 0).value()),
        wire_(slot_bytes, geometry_.pool_segments),
        outbox_(kExecutors, wire_.pool()),
        store_(Store::Create({.memory = &memory_,
                              .pool = &wire_.pool(),
                              .outbox = &outbox_,
                              .self = ExecutorId{1},
                              .leaders = Leaders(kExecutors),
                              .input = 0,
                              .geometry = geometry_,
                              .fold = fold})
                   .value()) {}

  Store& store() { return store_; }
  rdma::SegmentPool& pool() { return wire_.pool(); }
  DeltaReader& reader() { return reader_; }

  void Take(std::int64_t slice, std::vector<Update> updates) {
    ASSERT_TRUE(store_.HasRoom(updates.size()));
    ASSERT_TRUE(store_.Take(SliceId{slice}, updates).ok());
  }
  void Enter(std::int64_t slice) { store_.Enter(SliceId{slice}); }
  void ReadOut() {
    while (store_.holds_back()) {
      ASSERT_TRUE(store_.HasRoom(kMostEntries));
      ASSERT_TRUE(store_.ReadOutSome().ok());
    }
  }

  /// Merges what executor 2 sends, as the engine does.
  absl::Status Merge(const HandMadeDelta& delta, SliceRange open) {
    const auto chunk = reader_.Read(delta.message());
    if (!chunk.ok()) {
      return chunk.status();
    }
    for (std::span<const std::byte> rest = chunk->runs; !rest.empty();) {
      const auto run = reader_.TakeRun(rest);
      if (!run.ok()) {
        return run.status();
      }
      if (absl::Status status = store_.CheckRun(reader_, *run, open); !status.ok()) {
        return status;
      }
      for (std::size_t merged = 0; merged < run->entry_count;) {
        const auto some = store_.MergeSome(reader_, *run, merged);
        if (!some.ok()) {
          return some.status();
        }
        EXPECT_LE(*some, kMostEntries);
        merged += *some;
      }
    }
    return absl::OkStatus();
  }

  /// Ends the epoch; what another leader has got in it.
  std::vector<ReceivedRun> EndEpoch(std::uint32_t leader) {
    const EpochMarker marker = MarkerOf(1, ++epoch_, 0);
    for (const std::uint32_t other : {0U, 2U}) {
      EXPECT_TRUE(store_.fragment()->TrySeal(ExecutorId{other}, marker));
    }
    store_.fragment()->AllSealed();
    std::vector<ReceivedRun> runs;
    for (const std::uint32_t other : {0U, 2U}) {
      while (outbox_.TrySend(ExecutorId{other}, wire_.sender())) {
        const auto delta = wire_.Receive();
        for (ReceivedRun& run : delta->Runs(Store::kEntryBytes)) {
          if (other == leader) {
            runs.push_back(std::move(run));
          }
        }
      }
    }
    return runs;
  }

 private:
  FragmentGeometry geometry_;
  DeltaWire wire_;
  Outbox outbox_;
  StateMemory memory_{std::uint64_t{64} << 20};
  Store store_;
  DeltaReader reader_{ExecutorId{2}, ExecutorId{1}, Store::kEntryBytes};
  std::uint64_t epoch_ = 0;
};

const std::uint64_t kOwnKey = KeyLedBy(1, 3);
const std::uint64_t kForeignKey = KeyLedBy(0, 3);

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
