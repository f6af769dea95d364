// OfThree: the store of one executor of three, for tests of which deltas it merges and which way its own records take.
//
//   OfThree<Sum> node;
//   node.Enter(1);
//   node.Take(1, {Of(kOwnKey, 10)});
//   node.ReadOut();
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "rdma/memory/segment_pool.h"
#include "state/crdt/sum.h"
#include "state/store/partitioned_store.h"
#include "tests/state/store_cluster.h"
#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {

inline std::uint64_t KeyLedBy(std::uint32_t leader, std::uint32_t executors, std::uint64_t key = 0) noexcept {
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

inline const std::uint64_t kOwnKey = KeyLedBy(1, 3);
inline const std::uint64_t kForeignKey = KeyLedBy(0, 3);

}  // namespace glaive::state
