// PartitionedStore::UseFolder: which records a store takes in the loop of the pipeline, before Take.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/log/state_memory.h"
#include "state/store/cell_table.h"
#include "state/store/folders.h"
#include "state/store/partitioned_store.h"
#include "state/store/window_table.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

constexpr SliceId kFirst{1};
constexpr SliceId kSecond{2};

/// A store of executor 0 of some.
template <typename V>
class OfExecutors {
 public:
  using Table = WindowTable<std::uint64_t, V>;
  using Store = PartitionedStore<std::uint64_t, V, Table>;
  using Record = typename Store::Update;
  using Input = typename V::Input;

  explicit OfExecutors(std::uint32_t executors, const FoldOptions& fold = {}, const StateThresholds& thresholds = {})
      : memory_(std::uint64_t{1} << 30, 0, thresholds),
        geometry_(FragmentGeometry::Plan(executors, 4096, Store::kMostEntryBytes, 1 << 20).value()),
        pool_(rdma::SegmentPool::Create(4096, geometry_.pool_segments).value()),
        outbox_(executors, pool_),
        store_(Store::Create({.memory = &memory_,
                              .pool = &pool_,
                              .outbox = &outbox_,
                              .self = ExecutorId{0},
                              .leaders = Leaders(executors),
                              .input = 0,
                              .geometry = geometry_,
                              .fold = fold})
                   .value()) {}

  /// Takes keys 1 .. `keys` of the first slice, each of which comes often: the next slice has cells for as many.
  void TakeOften(std::uint64_t keys) {
    for (std::uint64_t key = 1; key <= keys; ++key) {
      Take(kFirst, std::vector<Record>(5, {.key = key, .input = 1}));
    }
  }

  void Take(SliceId slice, std::vector<Record> updates) { ASSERT_TRUE(store_.Take(slice, updates).ok()); }

  bool TryFold(SliceId slice, std::uint64_t key, const Input& input) {
    bool taken = false;
    store_.UseFolder(slice, [&](auto folder) {
      taken = folder.TryFold(key, input);
      return folder;
    });
    return taken;
  }

  void ReadOut() {
    while (store_.holds_back()) {
      ASSERT_TRUE(store_.HasRoom(kMostEntries));
      ASSERT_TRUE(store_.ReadOutSome().ok());
    }
  }

  /// What the executor's own partition has.
  auto ResultOf(SliceId slice, std::uint64_t key) {
    using Result = std::remove_cvref_t<decltype(std::declval<const V&>().Result())>;
    std::optional<Result> result;
    table(slice)
        ->ForEach([&](const auto& entry) {
          EXPECT_FALSE(entry.key == key && result.has_value()) << "key " << key << " twice";
          result = entry.key == key ? std::optional<Result>(entry.value.Result()) : result;
          return absl::OkStatus();
        })
        .IgnoreError();
    return result;
  }

  Table* table(SliceId slice) { return store_.primary().Open(slice).value(); }
  Store& store() { return store_; }

 private:
  StateMemory memory_;
  FragmentGeometry geometry_;
  rdma::SegmentPool pool_;
  Outbox outbox_;
  Store store_;
};

TEST(FolderOfOneExecutor, TakesAKeyThatHasACell) {
  OfExecutors<Sum> one(1);
  one.TakeOften(100);
  EXPECT_FALSE(one.TryFold(kFirst, 1, 5)) << "the first slice is a log";
  one.Take(kSecond, {Of(1, 10)});
  EXPECT_TRUE(one.TryFold(kSecond, 1, 5));
  EXPECT_TRUE(one.TryFold(kSecond, 1, 7));
  EXPECT_EQ(one.ResultOf(kSecond, 1), 22);
}

TEST(FolderOfOneExecutor, TakesNoNewKeyInTheCache) {
  OfExecutors<Sum> one(1);
  one.TakeOften(100);
  one.Take(kSecond, {Of(1, 1)});
  for (const std::uint64_t key : {0U, 2U}) {
    EXPECT_FALSE(one.TryFold(kSecond, key, 5)) << "key " << key;
    EXPECT_EQ(one.ResultOf(kSecond, key), std::nullopt) << "key " << key;
    one.Take(kSecond, {Of(key, 3)});
    EXPECT_TRUE(one.TryFold(kSecond, key, 5)) << "key " << key;
    EXPECT_EQ(one.ResultOf(kSecond, key), 8) << "key " << key;
  }
}

TEST(FolderOfOneExecutor, GivesNewKeysCellsOutsideTheCache) {
  OfExecutors<Sum> one(1, {}, {.cached_cells_bytes = 1000});
  one.TakeOften(100);
  one.Take(kSecond, {Of(1, 10)});
  ASSERT_TRUE(one.table(kSecond)->cells().exceeds_cache());
  ASSERT_EQ(one.table(kSecond)->cells().size(), 1U);
  for (const std::uint64_t key : {0U, 1U, 2U}) {
    EXPECT_TRUE(one.TryFold(kSecond, key, 5)) << "key " << key;
  }
  EXPECT_EQ(one.table(kSecond)->cells().size(), 3U);
  one.Take(kSecond, {Of(2, 3)});
  EXPECT_EQ(one.ResultOf(kSecond, 0), 5);
  EXPECT_EQ(one.ResultOf(kSecond, 1), 15);
  EXPECT_EQ(one.ResultOf(kSecond, 2), 8);
  EXPECT_EQ(one.table(kSecond)->forecast().keys, 3U);
  EXPECT_EQ(one.store().primary().counts().folded_ahead, 3U);
}

TEST(FolderOfOneExecutor, FoldsAheadOutsideTheCacheOnly) {
  const auto folds_ahead = [](const StateThresholds& thresholds, std::uint64_t keys) {
    OfExecutors<Sum> one(1, {}, thresholds);
    one.TakeOften(keys);
    one.Take(kSecond, {Of(1, 10)});
    bool ahead = false;
    one.store().UseFolder(kSecond, [&](auto folder) {
      ahead = folder.kFoldsAhead;
      return folder;
    });
    return ahead;
  };
  EXPECT_FALSE(folds_ahead({.cached_cells_bytes = 10'000}, 100));
  EXPECT_TRUE(folds_ahead({.cached_cells_bytes = 10'000}, 1'000));
  EXPECT_FALSE(folds_ahead({}, 30'000)) << "up to 2 MiB by default";
  EXPECT_TRUE(folds_ahead({}, 100'000));
}

TEST(FolderOfOneExecutor, TakesNoKeyThatHasFoundNoCell) {
  OfExecutors<Sum> one(1);
  one.TakeOften(100);
  std::uint64_t taken = 0;
  for (std::uint64_t key = 1; key <= 300; ++key) {
    one.Take(kSecond, {Of(key, 1)});
    taken += one.TryFold(kSecond, key, 10) ? 1 : 0;
  }
  EXPECT_EQ(one.table(kSecond)->cells().size(), taken);
  EXPECT_GT(taken, 100U);
  EXPECT_LT(taken, 200U);
  EXPECT_EQ(one.table(kSecond)->size(), 300U);
}

TEST(FolderOfOneExecutor, TakesNothingOfAnotherSliceThanTheLast) {
  OfExecutors<Sum> one(1);
  one.TakeOften(100);
  one.Take(kSecond, {Of(1, 1)});
  EXPECT_FALSE(one.TryFold(SliceId{3}, 1, 5)) << "not open";
  one.Take(kFirst, {Of(1, 1)});
  EXPECT_FALSE(one.TryFold(kSecond, 1, 5));
  EXPECT_EQ(one.ResultOf(kSecond, 1), 1);
  one.Take(kSecond, {Of(1, 1)});
  one.store().primary().DropBefore(SliceId{3});
  EXPECT_FALSE(one.TryFold(kSecond, 1, 5)) << "dropped";
}

TEST(FolderOfOneExecutor, TakesNothingThatItsCellCannotTake) {
  using Float = SumValue<float>;
  OfExecutors<Float> one(1);
  one.TakeOften(100);
  one.Take(kSecond, {{.key = 1, .input = 0.5F}});
  EXPECT_TRUE(one.TryFold(kSecond, 1, 2.0F));
  EXPECT_FALSE(one.TryFold(kSecond, 1, 0x1p60F));
  EXPECT_FALSE(one.TryFold(kSecond, 1, std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(one.TryFold(kSecond, 1, 4.0F));
  one.Take(kSecond, {{.key = 1, .input = 0x1p60F}, {.key = 1, .input = -0x1p60F}, {.key = 1, .input = 0x1p60F}});
  one.Take(kSecond, {{.key = 1, .input = -0x1p60F}});
  EXPECT_EQ(one.ResultOf(kSecond, 1), 6.5);
  EXPECT_EQ(one.table(kSecond)->size(), 1U);
}

TEST(FolderOfOneExecutor, CountsForWhatTheNextSliceExpects) {
  using Forecast = OfExecutors<Sum>::Table::Forecast;
  OfExecutors<Sum> one(1);
  one.TakeOften(100);
  for (std::uint64_t key = 1; key <= 150; ++key) {
    one.Take(kSecond, {Of(key, 1)});
  }
  EXPECT_EQ(one.table(kSecond)->forecast(), (Forecast{.keys = 150, .recurring = false}));
  std::uint64_t folded = 0;
  for (std::uint64_t key = 1; key <= 150 && folded < 75; ++key) {
    folded += one.TryFold(kSecond, key, 1) ? 1 : 0;
  }
  ASSERT_EQ(folded, 75U);
  EXPECT_EQ(one.table(kSecond)->forecast(), (Forecast{.keys = 150, .recurring = true}));
}

/// The key of a query without keys.
struct Only {
  static constexpr bool kOnlyKey = true;
  std::uint8_t always_zero = 0;

  friend bool operator==(const Only&, const Only&) = default;
};

TEST(OnlyFolder, FoldsIntoTheCellOfTheOnlyKeyOnceThereIsOne) {
  StateMemory memory(std::uint64_t{1} << 30);
  using Float = SumValue<float>;
  using Cells = CellTable<Only, CompactForm<Float>>;
  Cells cells = Cells::Create(memory, 1).value();
  const auto fold = [&](float input) {
    bool taken = false;
    const std::size_t folded = FoldIntoCells<Only, Float>(cells, [&](auto folder) {
      taken = folder.TryFold(Only(), input);
      return folder;
    });
    EXPECT_EQ(folded, taken ? 1U : 0U);
    return taken;
  };
  EXPECT_FALSE(fold(1.0F));
  ASSERT_NE(cells.FindOrInsert(cells.HomeOf(Only()), Only()), nullptr);
  EXPECT_TRUE(fold(0.5F));
  EXPECT_FALSE(fold(std::numeric_limits<float>::infinity())) << "no form takes that";
  EXPECT_TRUE(fold(4.0F));
  EXPECT_EQ(cells.Find(cells.HomeOf(Only()), Only())->Expanded().Result(), 4.5);
  cells.Release(memory);
}

constexpr std::uint64_t kKeysOfSlice = 50;

/// Keys 1 .. kKeysOfSlice, once each.
std::vector<Update> OnceEach() {
  std::vector<Update> updates;
  for (std::uint64_t key = 1; key <= kKeysOfSlice; ++key) {
    updates.push_back(Of(key, 1));
  }
  return updates;
}

TEST(FolderOfSeveralExecutors, TakesKeysOfTheCombinerWhoeverLeadsThem) {
  OfExecutors<Sum> two(2);
  two.store().Enter(kFirst);
  EXPECT_FALSE(two.TryFold(kFirst, 1, 10)) << "it has no keys yet";
  two.Take(kFirst, OnceEach());
  std::uint64_t own = 0;
  for (std::uint64_t key = 1; key <= kKeysOfSlice; ++key) {
    EXPECT_TRUE(two.TryFold(kFirst, key, 10)) << "key " << key;
    own += LeaderOf(kTestHash(key), 2) == ExecutorId{0} ? 1 : 0;
  }
  EXPECT_GT(own, 0U);
  EXPECT_LT(own, kKeysOfSlice);
  EXPECT_EQ(two.store().fold_policy().folded_records(), 2 * kKeysOfSlice);
  two.ReadOut();
  for (std::uint64_t key = 1; key <= kKeysOfSlice; ++key) {
    const bool leads = LeaderOf(kTestHash(key), 2) == ExecutorId{0};
    EXPECT_EQ(two.ResultOf(kFirst, key), leads ? std::optional<absl::int128>(11) : std::nullopt) << "key " << key;
  }
}

TEST(FolderOfSeveralExecutors, TakesNoNewKey) {
  OfExecutors<Sum> two(2);
  two.store().Enter(kFirst);
  two.Take(kFirst, OnceEach());
  for (const std::uint64_t key : {std::uint64_t{0}, kKeysOfSlice + 1}) {
    EXPECT_FALSE(two.TryFold(kFirst, key, 1)) << "key " << key;
    two.Take(kFirst, {Of(key, 1)});
    EXPECT_TRUE(two.TryFold(kFirst, key, 1)) << "key " << key;
  }
}

TEST(FolderOfSeveralExecutors, TakesNothingOfAnotherSlice) {
  OfExecutors<Sum> two(2);
  two.store().Enter(kFirst);
  two.Take(kFirst, OnceEach());
  two.Take(kSecond, OnceEach());
  EXPECT_FALSE(two.TryFold(kSecond, 1, 1));
  EXPECT_TRUE(two.TryFold(kFirst, 1, 1)) << "though another was opened since";
}

TEST(FolderOfSeveralExecutors, TakesNothingOfCellsThatTheOwnPartitionHas) {
  OfExecutors<Sum> two(2);
  two.store().Enter(kFirst);
  for (int i = 0; i < 5; ++i) {
    two.Take(kFirst, OnceEach());
    two.ReadOut();
  }
  two.store().Enter(kSecond);
  two.Take(kSecond, OnceEach());
  two.ReadOut();
  ASSERT_FALSE(two.table(kSecond)->cells().empty());
  for (std::uint64_t key = 1; key <= kKeysOfSlice; ++key) {
    EXPECT_FALSE(two.TryFold(kSecond, key, 1)) << "key " << key;
  }
}

TEST(FolderOfSeveralExecutors, TakesNothingWhenThePolicyAppends) {
  OfExecutors<Sum> two(2, {.trial_records = kKeysOfSlice, .trials_between = 1, .records_per_saved = 4});
  two.store().Enter(kFirst);
  two.Take(kFirst, OnceEach());
  ASSERT_FALSE(two.store().fold_policy().folds());
  ASSERT_TRUE(two.store().holds_back());
  EXPECT_FALSE(two.TryFold(kFirst, 1, 1)) << "even while it still has keys";
  two.ReadOut();
  two.Take(kFirst, OnceEach());
  ASSERT_TRUE(two.store().fold_policy().folds());
  EXPECT_FALSE(two.TryFold(kFirst, 1, 1)) << "what was appended is no key of the combiner";
  two.Take(kFirst, {Of(1, 1)});
  EXPECT_TRUE(two.TryFold(kFirst, 1, 1));
}

TEST(FolderOfSeveralExecutors, TakesNothingThatItsFormCannotTake) {
  OfExecutors<SumValue<float>> two(2);
  two.store().Enter(kFirst);
  two.Take(kFirst, {{.key = 1, .input = 0.5F}});
  EXPECT_TRUE(two.TryFold(kFirst, 1, 2.0F));
  EXPECT_FALSE(two.TryFold(kFirst, 1, 0x1p60F));
  EXPECT_TRUE(two.TryFold(kFirst, 1, 4.0F));
}

}  // namespace
}  // namespace glaive::state
