// The folder of an executor that leads no key and does not combine records: it appends them to the segments of leaders.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "state/store/partitioned_store.h"
#include "tests/state/delta_wire.h"
#include "tests/state/fragment_helper.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

/// The store of executor 0 of four, of which the last two lead, and what leaves its outbox.
class Partitioner {
 public:
  using Store = PartitionedStore<std::uint64_t, Sum>;
  static constexpr std::uint32_t kExecutors = 4;
  static constexpr std::uint32_t kSlotBytes = 1024;

  Partitioner()
      : geometry_(FragmentGeometry::Plan(kExecutors, kSlotBytes, Store::kMostEntryBytes, 0).value()),
        wire_(kSlotBytes, geometry_.pool_segments),
        outbox_(kExecutors, wire_.pool()),
        store_(Store::Create({.memory = &memory_,
                              .pool = &wire_.pool(),
                              .outbox = &outbox_,
                              .self = ExecutorId{0},
                              .leaders = leaders_,
                              .input = kInput,
                              .geometry = geometry_,
                              .fold = {.folds = false}})
                   .value()) {}

  Store& store() { return store_; }

  /// Whether the folder takes an update, as the loop of a chain asks it.
  bool TryFold(std::int64_t slice, const Update& update) {
    bool taken = false;
    store_.UseFolder(SliceId{slice}, [&](auto folder) {
      taken = folder.TryFold(update.key, update.input);
      return folder;
    });
    return taken;
  }

  void Take(std::int64_t slice, std::vector<Update> updates) {
    ASSERT_TRUE(store_.HasRoom(updates.size()));
    ASSERT_TRUE(store_.Take(SliceId{slice}, updates).ok());
  }

  void EndEpoch() {
    const EpochMarker marker = MarkerOf(1, ++epoch_, 0);
    for (std::uint32_t other = 1; other < kExecutors; ++other) {
      ASSERT_TRUE(store_.fragment()->TrySeal(ExecutorId{other}, marker));
    }
    store_.fragment()->AllSealed();
  }

  /// Sends what is in the outbox; returns the runs that executors have got.
  std::vector<std::pair<std::uint32_t, ReceivedRun>> Send() {
    std::vector<std::pair<std::uint32_t, ReceivedRun>> runs;
    for (std::uint32_t other = 1; other < kExecutors; ++other) {
      while (outbox_.TrySend(ExecutorId{other}, wire_.sender())) {
        const auto delta = wire_.Receive();
        for (ReceivedRun& run : delta->Runs(Store::kEntryBytes)) {
          runs.emplace_back(other, std::move(run));
        }
      }
    }
    return runs;
  }

  /// Adds what runs have to the sums of slices and keys, and checks who has got it.
  void AddTo(Sums& sums, const std::vector<std::pair<std::uint32_t, ReceivedRun>>& runs) const {
    for (const auto& [executor, run] : runs) {
      ASSERT_EQ(run.header.kind, DeltaKind::kUpdate);
      for (const Update& update : run.Entries<Update>()) {
        EXPECT_EQ(Value(leaders_.Of(kTestHash(update.key))), executor) << "key " << update.key;
        sums[{Value(run.header.slice), update.key}] += update.input;
      }
    }
  }

 private:
  Leaders leaders_{kExecutors, kExecutors, 2};
  FragmentGeometry geometry_;
  DeltaWire wire_;
  Outbox outbox_;
  StateMemory memory_{std::uint64_t{64} << 20};
  Store store_;
  std::uint64_t epoch_ = 0;
};

TEST(AppendFolder, BringsEachRecordToTheLeaderOfItsKey) {
  Partitioner partitioner;
  Sums expected;
  Sums received;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    const auto slice = static_cast<std::int64_t>(n / 700);
    const Update update = Of(n * 7 % 1000, static_cast<std::int64_t>(n));
    expected[{slice, update.key}] += update.input;
    if (!partitioner.TryFold(slice, update)) {
      partitioner.AddTo(received, partitioner.Send());
      partitioner.Take(slice, {update});
    }
    if (n % 5'000 == 4'999) {
      partitioner.AddTo(received, partitioner.Send());
      partitioner.EndEpoch();
    }
  }
  partitioner.AddTo(received, partitioner.Send());
  EXPECT_EQ(received, expected);
  EXPECT_EQ(partitioner.store().fragment()->entries(), 20'000U);
  EXPECT_EQ(partitioner.store().fold_policy().appended_records(), 20'000U);
}

TEST(AppendFolder, TakesNothingWhereFewSegmentsAreFree) {
  Partitioner partitioner;
  std::uint64_t taken = 0;
  while (partitioner.TryFold(1, Of(taken, 1))) {
    ++taken;
  }
  EXPECT_GT(taken, Partitioner::kSlotBytes / sizeof(Update));
  EXPECT_FALSE(partitioner.store().HasRoom(partitioner.store().most_at_once()));
  EXPECT_TRUE(partitioner.store().HasRoom(1)) << "for records that wait in another input";
  partitioner.Take(1, {Of(taken, 1)});
  partitioner.Send();
  EXPECT_TRUE(partitioner.TryFold(1, Of(taken, 1)));
}

TEST(AppendFolder, ARunGoesOnAsLongAsItsSliceDoes) {
  Partitioner partitioner;
  for (std::uint64_t key = 0; key < 8; ++key) {
    EXPECT_TRUE(partitioner.TryFold(1, Of(key, 1)));
    partitioner.Take(1, {Of(key, 1)});
  }
  EXPECT_TRUE(partitioner.TryFold(2, Of(0, 1)));
  partitioner.EndEpoch();
  EXPECT_EQ(partitioner.Send().size(), 3U) << "one of each leader in slice 1, and one in slice 2";
}

}  // namespace
}  // namespace glaive::state
