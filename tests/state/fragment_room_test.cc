// Fragment::HasRoom: that it is never promised in vain, and what breaks a promise.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/state/fragment_helper.h"

namespace glaive::state {
namespace {

struct RoomCase {
  std::uint32_t executors;
  std::uint32_t slot_bytes;
  std::uint64_t fragment_bytes;
  std::uint32_t leader;      // 0: any, the executor itself too
  std::size_t most_entries;  // at a time
};

void PrintTo(const RoomCase& param, std::ostream* out) {
  *out << param.executors << " executors, slots of " << param.slot_bytes << ", leader " << param.leader << ", "
       << param.most_entries << " entries";
}

class FragmentRoom : public testing::TestWithParam<RoomCase> {
 protected:
  /// A key that the case's leader leads.
  std::uint64_t NextKey(std::mt19937_64& random) const {
    std::uint64_t key = random();
    while (GetParam().leader != 0 && LeaderOfKey(key, GetParam().executors) != GetParam().leader) {
      key = random();
    }
    return key;
  }
};

// HasRoom promises that no append fails for want of a segment; the fragment CHECKs that it was kept.
TEST_P(FragmentRoom, IsNeverPromisedInVainAndNothingIsLost) {
  const RoomCase& param = GetParam();
  std::mt19937_64 random(3);
  FragmentHelper helper(param.executors, param.slot_bytes, param.fragment_bytes);
  Sums expected;
  Sums received;
  int waits = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<Update> updates;
    for (std::uint64_t left = 1 + random() % param.most_entries; left > 0; --left) {
      updates.push_back(Of(NextKey(random), static_cast<std::int64_t>(random() % 100) - 50));
    }
    const bool as_forms = random() % 2 == 0;
    if (!helper.fragment().HasRoom(updates.size(), as_forms ? sizeof(Form) : sizeof(Update))) {
      ++waits;
      ASSERT_GT(helper.outbox().pending(), 0U) << "nothing is on its way that could make room";
      helper.Ship(received);
      ASSERT_TRUE(helper.fragment().HasRoom(updates.size(), as_forms ? sizeof(Form) : sizeof(Update)))
          << "when all have come back, they fit";
    }
    const std::int64_t slice = turn / 100;
    if (as_forms) {
      helper.Append(slice, FormsOf(updates));
    } else {
      helper.Append(slice, updates);
    }
    for (const Update& update : updates) {
      if (LeaderOfKey(update.key, param.executors) != 0) {
        expected[{slice, update.key}] += update.input;
      }
    }
    if (random() % 16 == 0) {
      helper.EndEpoch([&] { helper.Ship(received); });
    }
  }
  helper.EndEpoch([&] { helper.Ship(received); });
  helper.Ship(received);
  EXPECT_EQ(received, expected);
  EXPECT_EQ(helper.wire().pool().available(), helper.wire().pool().size()) << "all segments came back";
  EXPECT_EQ(waits > 0, param.slot_bytes < 65'536) << "the pool was never short of segments";
}

INSTANTIATE_TEST_SUITE_P(RandomKeys, FragmentRoom,
                         testing::Values(RoomCase{2, kMinSlotBytes, 0, 0, 500}, RoomCase{3, kMinSlotBytes, 0, 0, 200},
                                         RoomCase{16, kMinSlotBytes, 0, 0, kMostEntries},
                                         RoomCase{160, kMinSlotBytes, 0, 0, kMostEntries},
                                         RoomCase{160, kMinSlotBytes, 0, 0, 500}, RoomCase{16, 320, 4096, 0, 100},
                                         RoomCase{3, 65'536, 1 << 24, 0, kMostEntries}));
INSTANTIATE_TEST_SUITE_P(AllToOneLeader, FragmentRoom,
                         testing::Values(RoomCase{2, kMinSlotBytes, 0, 1, kMostEntries},
                                         RoomCase{16, kMinSlotBytes, 0, 7, 100},
                                         RoomCase{160, kMinSlotBytes, 4096, 1, 300}));

// Every leader's open segment is full when each of them gets more, and there are no more segments than were asked for.
TEST(Fragment, TheWorstEntriesFindRoom) {
  constexpr std::uint32_t kExecutors = 6;
  for (std::size_t items = 1; items < 60; ++items) {
    FragmentHelper helper(kExecutors, kMinSlotBytes, 4096);
    for (std::uint32_t leader = 1; leader < kExecutors; ++leader) {
      helper.Append(0, UpdatesFor(leader, kExecutors, 7));
    }
    std::vector<rdma::SegmentId> free;
    while (const auto segment = helper.wire().pool().TryAcquire()) {
      free.push_back(*segment);
    }
    while (!helper.fragment().HasRoom(items, sizeof(Form))) {
      ASSERT_FALSE(free.empty());
      helper.wire().pool().Release(free.back());
      free.pop_back();
    }
    std::vector<Update> worst;  // for one leader all that is left over when the others have one
    for (std::uint32_t leader = 2; leader < kExecutors && worst.size() < items; ++leader) {
      worst.push_back(UpdatesFor(leader, kExecutors, 1).front());
    }
    const std::vector<Update> rest = UpdatesFor(1, kExecutors, items - worst.size());
    worst.insert(worst.end(), rest.begin(), rest.end());
    helper.Append(0, FormsOf(worst));
  }
}

TEST(FragmentDeathTest, AppendingWithoutRoomIsABrokenPromise) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  while (helper.wire().pool().TryAcquire()) {
  }
  EXPECT_DEATH(helper.Append(0, UpdatesFor(1, 2, 1)), "I6: a fragment found the pool of .* segments empty");
}

TEST(FragmentDeathTest, MoreOfItsOwnThanItHasABufferForIsABrokenPromise) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  EXPECT_DEATH(helper.Append(0, FormsOf(UpdatesFor(0, 2, kMostEntries + 1))),
               "more than 1024 entries of the executor's own at a time");
}

TEST(FragmentDeathTest, AMarkerIsThatOfTheEpoch) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  EXPECT_DEATH((void)helper.fragment().TrySeal(ExecutorId{1}, MarkerOf(0, 2, 0)), "the marker of epoch 2 in epoch 1");
}

TEST(FragmentDeathTest, ThePoolMustBeTheOneThatWasPlanned) {
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Form), 0).value();
  const auto create = [&](rdma::SegmentPool& pool) {
    Outbox outbox(2, pool);
    const Fragment fragment(pool, outbox, ExecutorId{0}, Leaders(2), geometry, sizeof(Form), 0);
  };
  rdma::SegmentPool few = rdma::SegmentPool::Create(1024, geometry.pool_segments - 1).value();
  EXPECT_DEATH(create(few), "on a pool of");
  rdma::SegmentPool small = rdma::SegmentPool::Create(512, geometry.pool_segments).value();
  EXPECT_DEATH(create(small), "on slots of 512");
}

}  // namespace
}  // namespace glaive::state
