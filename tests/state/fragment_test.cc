#include "state/store/fragment.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/count.h"
#include "state/crdt/sum.h"
#include "state/store/staged_update.h"
#include "tests/state/delta_wire.h"

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{256} << 20;
constexpr std::uint32_t kMinSlotBytes = 256;

using Sum = SumValue<std::int64_t>;
using SumFragment = Fragment<std::uint64_t, Sum>;
using Entry = SumFragment::Entry;
using Update = StagedUpdate<std::uint64_t, std::int64_t>;
using SliceKey = std::pair<std::int64_t, std::uint64_t>;
using Sums = std::map<SliceKey, std::int64_t>;

Update Of(std::uint64_t key, std::int64_t input) { return {.hash = HashKey(key), .key = key, .input = input}; }

std::uint32_t LeaderOfKey(std::uint64_t key, std::uint32_t executors) {
  return Value(LeaderOf(HashKey(key), executors));
}

/// Executor 0's fragment of a run of `executors`, and a wire that takes what it ships to any leader.
class Helper {
 public:
  Helper(std::uint32_t executors, std::uint32_t slot_bytes, std::uint64_t fragment_bytes)
      : executors_(executors),
        geometry_(FragmentGeometry::Plan(executors, slot_bytes, sizeof(Entry), fragment_bytes).value()),
        wire_(slot_bytes, geometry_.pool_segments),
        fragment_(SumFragment::Create(memory_, wire_.pool(), executors, geometry_).value()),
        outbox_(executors, wire_.pool()) {}

  SumFragment& fragment() { return fragment_; }
  DeltaOutbox& outbox() { return outbox_; }
  DeltaWire& wire() { return wire_; }
  const FragmentGeometry& geometry() const { return geometry_; }
  std::uint64_t epoch() const { return epoch_; }

  void Apply(std::int64_t slice, const std::vector<Update>& updates) {
    ASSERT_TRUE(fragment_
                    .Apply(SliceId{slice}, std::span<const Update>(updates),
                           [](Sum& sum, const Update& update) { sum.Update(update.input); })
                    .ok());
  }

  bool TrySeal(std::uint32_t leader) {
    return fragment_.TrySeal(ExecutorId{leader}, MarkerOf(0, epoch_, static_cast<std::int64_t>(epoch_)), outbox_);
  }

  /// Seals everything into the outbox, calling `wait` while there is no segment for a marker.
  void EndEpoch(const std::function<void()>& wait) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (!TrySeal(leader)) {
        wait();
      }
    }
    fragment_.Clear();
    ++epoch_;
  }

  /// Ships everything in the outbox; what a leader got is added to `received`, checked chunk by chunk.
  void Ship(Sums& received) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (outbox_.HasPending(ExecutorId{leader})) {
        ASSERT_TRUE(outbox_.TrySend(ExecutorId{leader}, wire_.sender()));
        const auto delta = wire_.Receive();
        ASSERT_TRUE(delta.has_value());
        ASSERT_EQ(delta->tag.entry_bytes, sizeof(Entry));
        ASSERT_EQ(delta->tag.input, 0U);
        for (const Entry& entry : delta->Entries<Entry>()) {
          ASSERT_EQ(LeaderOfKey(entry.key, executors_), leader);
          received[{Value(entry.slice), entry.key}] += static_cast<std::int64_t>(entry.value.Result());
        }
      }
    }
  }

 private:
  std::uint32_t executors_;
  FragmentGeometry geometry_;
  StateMemory memory_{kLimitBytes};
  DeltaWire wire_;
  SumFragment fragment_;
  DeltaOutbox outbox_;
  std::uint64_t epoch_ = 1;
};

/// Keys led by `leader`, or by anybody but executor 0.
class Keys {
 public:
  explicit Keys(std::uint32_t executors, std::uint32_t leader = 0) : executors_(executors), leader_(leader) {}

  std::uint64_t Next(std::mt19937_64& random, std::uint64_t limit) const {
    while (true) {
      const std::uint64_t key = random() % limit;
      const std::uint32_t leader = LeaderOfKey(key, executors_);
      if (leader_ == 0 ? leader != 0 : leader == leader_) {
        return key;
      }
    }
  }

 private:
  std::uint32_t executors_;
  std::uint32_t leader_;
};

TEST(Fragment, FoldsRecordsOfAKeyIntoOneEntry) {
  std::mt19937_64 random(1);
  Helper helper(4, 65'536, 1 << 20);
  const Keys keys(4);
  Sums expected;
  for (int i = 0; i < 100; ++i) {
    std::vector<Update> updates;
    for (std::size_t item = 0; item < kGroupSize; ++item) {
      updates.push_back(Of(keys.Next(random, 50), static_cast<std::int64_t>(random() % 100)));
      expected[{i % 3, updates.back().key}] += updates.back().input;
    }
    helper.Apply(i % 3, updates);
  }
  EXPECT_EQ(helper.fragment().updates(), 100 * kGroupSize);
  EXPECT_EQ(helper.fragment().entries(), expected.size());
  helper.EndEpoch([] { FAIL() << "there are segments enough"; });
  Sums received;
  helper.Ship(received);
  EXPECT_EQ(received, expected);
}

TEST(Fragment, AMarkerEndsTheLogOfEveryLeader) {
  Helper helper(3, kMinSlotBytes, 4096);
  ASSERT_EQ(helper.geometry().entries_per_segment, 4U);
  std::vector<Update> updates;
  for (std::uint64_t key = 0; updates.size() < 6; ++key) {
    if (LeaderOfKey(key, 3) == 2) {
      updates.push_back(Of(key, 1));
    }
  }
  helper.Apply(7, updates);
  helper.EndEpoch([] { FAIL(); });
  EXPECT_EQ(helper.outbox().pending(), 3U);

  ASSERT_TRUE(helper.outbox().TrySend(ExecutorId{1}, helper.wire().sender()));
  const auto alone = helper.wire().Receive().value();
  EXPECT_EQ(alone.tag.entry_count, 0U);
  EXPECT_EQ(alone.tag.has_marker, 1U);
  EXPECT_EQ(alone.payload.size(), kMarkerBytes);
  EXPECT_EQ(alone.Marker().epoch, 1U);
  EXPECT_EQ(alone.Marker().watermark_ms, 1);

  ASSERT_TRUE(helper.outbox().TrySend(ExecutorId{2}, helper.wire().sender()));
  const auto full = helper.wire().Receive().value();
  EXPECT_EQ(full.tag.entry_count, 4U);
  EXPECT_EQ(full.tag.has_marker, 0U);
  EXPECT_EQ(full.payload.size(), 4 * sizeof(Entry));
  EXPECT_EQ(full.tag.epoch, 1U);
  ASSERT_TRUE(helper.outbox().TrySend(ExecutorId{2}, helper.wire().sender()));
  const auto last = helper.wire().Receive().value();
  EXPECT_EQ(last.tag.entry_count, 2U);
  EXPECT_EQ(last.tag.has_marker, 1U);
  EXPECT_EQ(last.payload.size(), MarkerOffset(2, sizeof(Entry)) + kMarkerBytes);
  EXPECT_EQ(last.Marker().executor, 0U);
  EXPECT_EQ(last.Entries<Entry>().front().slice, SliceId{7});
  EXPECT_FALSE(helper.outbox().HasPending(ExecutorId{2}));
}

TEST(Fragment, StartsEveryEpochFromNewValues) {
  Helper helper(2, 1024, 4096);
  std::uint64_t key = 0;
  while (LeaderOfKey(key, 2) != 1) {
    ++key;
  }
  for (int epoch = 0; epoch < 5; ++epoch) {
    helper.Apply(1, {Of(key, 3), Of(key, 4)});
    helper.EndEpoch([] { FAIL(); });
    Sums received;
    helper.Ship(received);
    EXPECT_EQ(received, (Sums{{{1, key}, 7}}));
  }
  EXPECT_EQ(helper.fragment().updates(), 10U);
  EXPECT_EQ(helper.fragment().entries(), 5U);
}

TEST(Fragment, WithoutASegmentForAMarkerItSaysNotNow) {
  Helper helper(2, kMinSlotBytes, 0);
  std::vector<rdma::SegmentId> held;
  while (const auto segment = helper.wire().pool().TryAcquire()) {
    held.push_back(*segment);
  }
  EXPECT_FALSE(helper.TrySeal(1));
  EXPECT_FALSE(helper.fragment().HasRoom(1));
  EXPECT_FALSE(helper.fragment().IsFull(1)) << "an epoch's end would make no room";
  helper.wire().pool().Release(held.back());
  EXPECT_TRUE(helper.fragment().HasRoom(1));
  EXPECT_TRUE(helper.TrySeal(1));
  EXPECT_EQ(helper.outbox().pending(), 1U);
}

// The same key of many slices has many entries; they must not all fall into one bucket.
TEST(Fragment, HoldsFewKeysOfVeryManySlices) {
  Helper helper(2, 65'536, 1 << 20);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; keys.size() < 4; ++key) {
    if (LeaderOfKey(key, 2) == 1) {
      keys.push_back(key);
    }
  }
  Sums expected;
  for (std::int64_t slice = 0; helper.fragment().HasRoom(4); slice += 60'000) {
    std::vector<Update> updates;
    for (const std::uint64_t key : keys) {
      updates.push_back(Of(key, slice + 1));
      expected[{slice, key}] += slice + 1;
    }
    helper.Apply(slice, updates);
    if (testing::Test::HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(expected.size(), 20'000U);
  helper.EndEpoch([] { FAIL(); });
  Sums received;
  helper.Ship(received);
  EXPECT_EQ(received, expected);
}

TEST(Fragment, WhileOneEpochIsOnItsWayTheNextFillsAFragment) {
  std::mt19937_64 random(2);
  for (const std::uint32_t executors : {2U, 5U, 160U}) {
    Helper helper(executors, kMinSlotBytes, 16'384);
    const Keys keys(executors);
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (!helper.fragment().IsFull(kGroupSize)) {
        ASSERT_TRUE(helper.fragment().HasRoom(kGroupSize)) << executors << " executors, epoch " << epoch;
        std::vector<Update> updates;
        for (std::size_t item = 0; item < kGroupSize; ++item) {
          updates.push_back(Of(keys.Next(random, 1 << 30), 1));
        }
        helper.Apply(0, updates);
      }
      if (epoch == 0) {
        helper.EndEpoch([] { FAIL() << "the first epoch finds segments for all markers"; });
      }
    }
  }
}

struct RoomCase {
  std::uint32_t executors;
  std::uint32_t slot_bytes;
  std::uint64_t fragment_bytes;
  std::uint32_t leader;     // 0: any
  std::uint64_t key_limit;  // few keys fold, many don't
};

void PrintTo(const RoomCase& param, std::ostream* out) {
  *out << param.executors << " executors, leader " << param.leader << ", keys below " << param.key_limit;
}

class FragmentRoom : public testing::TestWithParam<RoomCase> {};

// HasRoom promises that no item of a group fails for want of a segment; the fragment CHECKs that it was kept.
TEST_P(FragmentRoom, IsNeverPromisedInVainAndNothingIsLost) {
  const RoomCase& param = GetParam();
  std::mt19937_64 random(3);
  Helper helper(param.executors, param.slot_bytes, param.fragment_bytes);
  const Keys keys(param.executors, param.leader);
  Sums expected;
  Sums received;
  for (int group = 0; group < 400; ++group) {
    std::vector<Update> updates;
    for (std::uint64_t left = 1 + random() % kGroupSize; left > 0; --left) {
      updates.push_back(Of(keys.Next(random, param.key_limit), static_cast<std::int64_t>(random() % 100) - 50));
    }
    if (helper.fragment().IsFull(updates.size())) {
      helper.EndEpoch([&] { helper.Ship(received); });
    }
    if (!helper.fragment().HasRoom(updates.size())) {
      ASSERT_GT(helper.outbox().pending(), 0U) << "nothing is on its way that could make room";
      helper.Ship(received);
      ASSERT_TRUE(helper.fragment().HasRoom(updates.size())) << "after an epoch's end a group always fits";
    }
    const std::int64_t slice = group / 100;
    helper.Apply(slice, updates);
    for (const Update& update : updates) {
      expected[{slice, update.key}] += update.input;
    }
  }
  helper.EndEpoch([&] { helper.Ship(received); });
  helper.Ship(received);
  EXPECT_EQ(received, expected);
  EXPECT_EQ(helper.wire().pool().available(), helper.wire().pool().size()) << "all segments came back";
  if (param.fragment_bytes == 0 && param.key_limit > 100'000) {
    EXPECT_GT(helper.epoch(), 3U) << "the fragment was never full";
  }
}

INSTANTIATE_TEST_SUITE_P(RandomKeys, FragmentRoom,
                         testing::Values(RoomCase{2, kMinSlotBytes, 0, 0, 1 << 30},
                                         RoomCase{3, kMinSlotBytes, 0, 0, 1 << 30},
                                         RoomCase{16, kMinSlotBytes, 0, 0, 1 << 30},
                                         RoomCase{160, kMinSlotBytes, 0, 0, 1 << 30},
                                         RoomCase{160, kMinSlotBytes, 0, 0, 500}, RoomCase{16, 320, 16'384, 0, 1000},
                                         RoomCase{3, 65'536, 1 << 20, 0, 1 << 30}));
INSTANTIATE_TEST_SUITE_P(AllToOneLeader, FragmentRoom,
                         testing::Values(RoomCase{2, kMinSlotBytes, 0, 1, 1 << 30},
                                         RoomCase{16, kMinSlotBytes, 0, 7, 1 << 30},
                                         RoomCase{160, kMinSlotBytes, 0, 159, 1 << 30},
                                         RoomCase{160, kMinSlotBytes, 4096, 1, 100'000}));

// Every leader's open segment is full when a group brings each of them one more key.
TEST(Fragment, TheWorstGroupFindsRoom) {
  constexpr std::uint32_t kExecutors = 24;
  Helper helper(kExecutors, kMinSlotBytes, 0);
  std::vector<std::vector<Update>> by_leader(kExecutors);
  for (std::uint64_t key = 0; key < 20'000; ++key) {
    by_leader[LeaderOfKey(key, kExecutors)].push_back(Of(key, 1));
  }
  const std::uint32_t per_segment = helper.geometry().entries_per_segment;
  for (std::uint32_t filled = 0; filled < per_segment; ++filled) {
    std::vector<Update> group;
    for (std::uint32_t leader = 1; leader < kExecutors; ++leader) {
      group.push_back(by_leader[leader][filled]);
    }
    ASSERT_TRUE(helper.fragment().HasRoom(group.size()));
    helper.Apply(0, group);
  }
  std::vector<Update> worst;
  for (std::uint32_t leader = 1; leader < kExecutors; ++leader) {
    worst.push_back(by_leader[leader][per_segment]);
  }
  while (worst.size() < kGroupSize) {
    worst.push_back(by_leader[1][worst.size()]);
  }
  if (!helper.fragment().HasRoom(worst.size())) {
    helper.EndEpoch([] { FAIL(); });
  }
  ASSERT_TRUE(helper.fragment().HasRoom(worst.size()));
  helper.Apply(0, worst);
}

TEST(FragmentDeathTest, AGroupWithoutRoomIsABrokenPromise) {
  Helper helper(2, kMinSlotBytes, 0);
  while (helper.wire().pool().TryAcquire()) {
  }
  std::uint64_t key = 0;
  while (LeaderOfKey(key, 2) != 1) {
    ++key;
  }
  EXPECT_DEATH(helper.Apply(0, {Of(key, 1)}), "I6: a fragment with 0 of .* segments found the pool of .* empty");
}

TEST(FragmentDeathTest, ThePoolMustBeTheOneThatWasPlanned) {
  StateMemory memory(kLimitBytes);
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Entry), 0).value();
  rdma::SegmentPool few = rdma::SegmentPool::Create(1024, geometry.pool_segments - 1).value();
  EXPECT_DEATH((void)SumFragment::Create(memory, few, 2, geometry), "on a pool of");
  rdma::SegmentPool small = rdma::SegmentPool::Create(512, geometry.pool_segments).value();
  EXPECT_DEATH((void)SumFragment::Create(memory, small, 2, geometry), "on slots of 512");
}

TEST(Fragment, PastTheBudgetThereIsNoFragment) {
  StateMemory memory(0);
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Entry), 0).value();
  rdma::SegmentPool pool = rdma::SegmentPool::Create(1024, geometry.pool_segments).value();
  EXPECT_EQ(SumFragment::Create(memory, pool, 2, geometry).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::state
