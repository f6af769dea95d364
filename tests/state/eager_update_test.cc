// PartitionedStore::UseEager: which updates a store takes before they are part of a group.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/sum.h"
#include "state/store/partitioned_store.h"
#include "state/store/window_table.h"

namespace glaive::state {
namespace {

using Sum = SumValue<std::int64_t>;
using Table = WindowTable<std::uint64_t, Sum>;
using Store = PartitionedStore<std::uint64_t, Sum, Table>;
using Update = Store::Update;

constexpr SliceId kFirst{1};
constexpr SliceId kSecond{2};

Update Of(std::uint64_t key, std::int64_t input) { return {.hash = HashKey(key), .key = key, .input = input}; }

/// A store of one executor of some, whose first slice has keys 1 .. `keys`, each of which came often.
class OfExecutors {
 public:
  OfExecutors(std::uint32_t executors, std::uint64_t keys)
      : geometry_(FragmentGeometry::Plan(executors, 4096, sizeof(Store::Entry), 0).value()),
        pool_(rdma::SegmentPool::Create(4096, geometry_.pool_segments).value()),
        store_(Store::Create(memory_, pool_, ExecutorId{0}, executors, geometry_).value()) {
    for (std::uint64_t key = 1; key <= keys; ++key) {
      if (Value(LeaderOf(HashKey(key), executors)) == 0) {
        Apply(kFirst, std::vector<Update>(5, Of(key, 1)));
      }
    }
  }

  void Apply(SliceId slice, const std::vector<Update>& updates) { ASSERT_TRUE(store_.Apply(slice, updates).ok()); }

  bool TryUpdate(SliceId slice, std::uint64_t key, std::int64_t input) {
    bool taken = false;
    store_.UseEager(slice, [&](auto eager) {
      const SlotHome home = eager.Locate(key);
      EXPECT_EQ(eager.HashOf(home, key), HashKey(key));
      taken = eager.TryUpdate(home, key, input);
      eager.Finish(taken ? 1 : 0);
    });
    return taken;
  }

  bool Waits(SliceId slice) {
    bool waits = false;
    store_.UseEager(slice, [&](const auto& eager) { waits = eager.kWaits; });
    return waits;
  }

  std::optional<absl::int128> ValueOf(SliceId slice, std::uint64_t key) {
    std::optional<absl::int128> value;
    store_.primary()
        .Open(slice)
        .value()
        ->ForEach([&](const auto& entry) {
          value = entry.key == key ? std::optional(entry.value.Result()) : value;
          return absl::OkStatus();
        })
        .IgnoreError();
    return value;
  }

  Store& store() { return store_; }

 private:
  StateMemory memory_{std::uint64_t{1} << 30};
  FragmentGeometry geometry_;
  rdma::SegmentPool pool_;
  Store store_;
};

TEST(EagerUpdate, OfAKeyThatHasASlot) {
  OfExecutors one(1, 100);
  EXPECT_FALSE(one.TryUpdate(kFirst, 1, 5)) << "the first slice is a log";
  one.Apply(kSecond, {Of(1, 10)});
  EXPECT_TRUE(one.TryUpdate(kSecond, 1, 5));
  EXPECT_TRUE(one.TryUpdate(kSecond, 1, 7));
  EXPECT_EQ(one.ValueOf(kSecond, 1), 22);
}

TEST(EagerUpdate, NotOfANewKeyWithinTheCache) {
  OfExecutors one(1, 100);
  one.Apply(kSecond, {Of(1, 1)});
  for (const std::uint64_t key : {0U, 2U}) {
    EXPECT_FALSE(one.TryUpdate(kSecond, key, 5)) << "key " << key;
    EXPECT_EQ(one.ValueOf(kSecond, key), std::nullopt) << "key " << key;
    one.Apply(kSecond, {Of(key, 3)});
    EXPECT_TRUE(one.TryUpdate(kSecond, key, 5)) << "key " << key;
    EXPECT_EQ(one.ValueOf(kSecond, key), 8) << "key " << key;
  }
}

TEST(EagerUpdate, OfANewKeyOutsideTheCache) {
  OfExecutors one(1, 100'000);
  one.Apply(kSecond, {Of(1, 1)});
  for (const std::uint64_t key : {0U, 2U, 2U, 0U}) {
    EXPECT_TRUE(one.TryUpdate(kSecond, key, 5)) << "key " << key;
  }
  one.Apply(kSecond, {Of(2, 3), Of(3, 4)});
  EXPECT_EQ(one.ValueOf(kSecond, 0), 10);
  EXPECT_EQ(one.ValueOf(kSecond, 1), 1);
  EXPECT_EQ(one.ValueOf(kSecond, 2), 13);
  EXPECT_EQ(one.ValueOf(kSecond, 3), 4);
  EXPECT_EQ(one.store().primary().Open(kSecond).value()->size(), 4U);
}

TEST(EagerUpdate, NotOfAKeyThatFindsNoSlot) {
  OfExecutors one(1, 100'000);
  one.Apply(kSecond, {Of(1, 1)});
  std::uint64_t taken = 1;
  for (std::uint64_t key = 2; key <= 200'000; ++key) {
    if (one.TryUpdate(kSecond, key, 1)) {
      ++taken;
    } else {
      one.Apply(kSecond, {Of(key, 1)});
    }
  }
  const Table* const table = one.store().primary().Open(kSecond).value();
  EXPECT_EQ(table->slots().size(), taken);
  EXPECT_GT(taken, 100'000U);
  EXPECT_LT(taken, 200'000U);
  EXPECT_EQ(table->size(), 200'000U);
  const absl::Status each_once = table->ForEach([](const auto& entry) {
    EXPECT_EQ(entry.value.Result(), 1) << "key " << entry.key;
    return absl::OkStatus();
  });
  EXPECT_TRUE(each_once.ok());
}

TEST(EagerUpdate, NotInAnotherSliceThanTheLast) {
  OfExecutors one(1, 100);
  one.Apply(kSecond, {Of(1, 1)});
  EXPECT_FALSE(one.TryUpdate(SliceId{3}, 1, 5)) << "not open";
  one.Apply(kFirst, {Of(1, 1)});
  EXPECT_FALSE(one.TryUpdate(kSecond, 1, 5));
  EXPECT_EQ(one.ValueOf(kSecond, 1), 1);
  one.Apply(kSecond, {Of(1, 1)});
  one.store().primary().DropBefore(SliceId{3});
  EXPECT_FALSE(one.TryUpdate(kSecond, 1, 5)) << "dropped";
}

TEST(EagerUpdate, NotWhereOthersLeadKeysToo) {
  OfExecutors two(2, 100);
  for (std::uint64_t key = 1; key <= 100; ++key) {
    two.Apply(kSecond, {Of(key, 1)});
  }
  ASSERT_FALSE(two.store().primary().Open(kSecond).value()->slots().empty());
  for (std::uint64_t key = 1; key <= 100; ++key) {
    EXPECT_FALSE(two.TryUpdate(kSecond, key, 5)) << "key " << key;
  }
}

TEST(EagerUpdate, WaitsForSlotsOutsideTheCache) {
  OfExecutors one(1, 100'000);
  EXPECT_FALSE(one.Waits(kFirst)) << "nothing can be updated at once in a log";
  one.Apply(kSecond, {Of(1, 1)});
  EXPECT_TRUE(one.Waits(kSecond));
  EXPECT_TRUE(one.TryUpdate(kSecond, 1, 5));
  OfExecutors few(1, 1000);
  few.Apply(kSecond, {Of(1, 1)});
  EXPECT_FALSE(few.Waits(kSecond));
  EXPECT_TRUE(few.TryUpdate(kSecond, 1, 5));
}

TEST(EagerUpdate, NotOfWhatItsSlotCannotTake) {
  StateMemory memory(std::uint64_t{1} << 30);
  rdma::SegmentPool pool = rdma::SegmentPool::Create(4096, 1).value();
  using FloatSum = SumValue<float>;
  using FloatStore = PartitionedStore<std::uint64_t, FloatSum, WindowTable<std::uint64_t, FloatSum>>;
  FloatStore store = FloatStore::Create(memory, pool, ExecutorId{0}, 1, {}).value();
  const FloatStore::Update update{.hash = HashKey(std::uint64_t{1}), .key = 1, .input = 0.5F};
  for (const SliceId slice : {kFirst, kFirst, kSecond}) {
    ASSERT_TRUE(store.Apply(slice, std::span(&update, 1)).ok());
  }
  store.UseEager(kSecond, [&](auto eager) {
    const SlotHome home = eager.Locate(update.key);
    EXPECT_TRUE(eager.TryUpdate(home, 1, 2.0F));
    EXPECT_FALSE(eager.TryUpdate(home, 1, 0x1p60F));
    EXPECT_FALSE(eager.TryUpdate(home, 1, std::numeric_limits<float>::infinity()));
    EXPECT_TRUE(eager.TryUpdate(home, 1, 4.0F));
    eager.Finish(2);
  });
  const FloatStore::Update large{.hash = update.hash, .key = 1, .input = 0x1p60F};
  const FloatStore::Update negated{.hash = update.hash, .key = 1, .input = -0x1p60F};
  ASSERT_TRUE(store.Apply(kSecond, std::vector{large, negated, large}).ok());
  ASSERT_TRUE(store.Apply(kSecond, std::span(&negated, 1)).ok());
  ASSERT_TRUE(store.primary()
                  .Open(kSecond)
                  .value()
                  ->ForEach([&](const auto& entry) {
                    EXPECT_EQ(entry.key, 1U);
                    EXPECT_EQ(entry.value.Result(), 6.5);
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST(EagerUpdate, NotOfANewKeyWhoseFirstRecordNoSlotTakes) {
  StateMemory memory(std::uint64_t{1} << 30);
  rdma::SegmentPool pool = rdma::SegmentPool::Create(4096, 1).value();
  using FloatSum = SumValue<float>;
  using FloatStore = PartitionedStore<std::uint64_t, FloatSum, WindowTable<std::uint64_t, FloatSum>>;
  FloatStore store = FloatStore::Create(memory, pool, ExecutorId{0}, 1, {}).value();
  const auto update = [](std::uint64_t key, float input) {
    return FloatStore::Update{.hash = HashKey(key), .key = key, .input = input};
  };
  for (std::uint64_t key = 1; key <= 100'000; ++key) {  // more than the cache has
    ASSERT_TRUE(store.Apply(kFirst, std::vector(2, update(key, 0.5F))).ok());
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(store.Apply(kSecond, std::vector(1, update(1, 0.5F))).ok());
  store.UseEager(kSecond, [&](auto eager) {
    EXPECT_TRUE(eager.kWaits);
    EXPECT_FALSE(eager.TryUpdate(eager.Locate(2), 2, kInfinity));
    EXPECT_TRUE(eager.TryUpdate(eager.Locate(3), 3, 4.0F));
    eager.Finish(1);
  });
  ASSERT_TRUE(store.Apply(kSecond, std::vector(1, update(2, kInfinity))).ok());
  std::map<std::uint64_t, double> sums;
  const auto* const table = store.primary().Open(kSecond).value();
  const absl::Status status = table->ForEach([&](const auto& entry) {
    EXPECT_TRUE(sums.emplace(entry.key, entry.value.Result()).second) << "key " << entry.key << " twice";
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(sums, (std::map<std::uint64_t, double>{{1, 0.5}, {2, kInfinity}, {3, 4.0}}));
  EXPECT_EQ(table->size(), 3U);
}

TEST(EagerUpdate, CountsForWhatTheNextSliceExpects) {
  OfExecutors one(1, 100);
  for (std::uint64_t key = 1; key <= 150; ++key) {
    one.Apply(kSecond, {Of(key, 1)});
  }
  Table* const table = one.store().primary().Open(kSecond).value();
  EXPECT_EQ(table->forecast(), (Table::Forecast{.keys = 150, .recurring = false}));
  for (std::uint64_t i = 0; i < 75; ++i) {
    ASSERT_TRUE(one.TryUpdate(kSecond, 1 + i % 150, 1));
  }
  EXPECT_EQ(table->forecast(), (Table::Forecast{.keys = 150, .recurring = true}));
}

}  // namespace
}  // namespace glaive::state
