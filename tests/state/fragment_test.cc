#include "state/store/fragment.h"

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

#include "state/store/delta_entry.h"
#include "tests/state/delta_wire.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

constexpr std::uint32_t kMinSlotBytes = 256;
constexpr std::size_t kMinRunsBytes = 128;  // of a slot of so many
constexpr std::uint32_t kInput = 3;

using SliceKey = std::pair<std::int64_t, std::uint64_t>;
using Sums = std::map<SliceKey, std::int64_t>;

constexpr DeltaEntryBytes kEntryBytes{.update = sizeof(Update), .form = sizeof(Form)};
static_assert(sizeof(Update) == 16 && sizeof(Form) == 24);

std::uint32_t LeaderOfKey(std::uint64_t key, std::uint32_t executors) {
  return Value(LeaderOf(HashKey(key), executors));
}

std::int64_t SumOf(const Update& update) { return update.input; }
std::int64_t SumOf(const Form& form) { return static_cast<std::int64_t>(form.form.Result()); }

/// Updates of so many different keys that `leader` leads, each by 1.
std::vector<Update> UpdatesFor(std::uint32_t leader, std::uint32_t executors, std::size_t count) {
  std::vector<Update> updates;
  for (std::uint64_t key = 0; updates.size() < count; ++key) {
    if (LeaderOfKey(key, executors) == leader) {
      updates.push_back(Of(key, 1));
    }
  }
  return updates;
}

/// Executor 0's fragment of a run of `executors`, and a wire that takes what it ships to any leader.
class Helper {
 public:
  Helper(std::uint32_t executors, std::uint32_t slot_bytes, std::uint64_t fragment_bytes)
      : executors_(executors),
        geometry_(FragmentGeometry::Plan(executors, slot_bytes, sizeof(Form), fragment_bytes).value()),
        wire_(slot_bytes, geometry_.pool_segments),
        outbox_(executors, wire_.pool()),
        fragment_(wire_.pool(), outbox_, ExecutorId{0}, executors, geometry_, sizeof(Form), kInput) {}

  Fragment& fragment() { return fragment_; }
  DeltaOutbox& outbox() { return outbox_; }
  DeltaWire& wire() { return wire_; }
  std::uint64_t epoch() const { return epoch_; }

  template <typename E>
  void Append(std::int64_t slice, const std::vector<E>& entries) {
    fragment_.Begin(SliceId{slice}, E::kKind);
    for (const E& entry : entries) {
      fragment_.Append(LeaderOf(HashKey(entry.key), executors_), entry);
    }
  }

  bool TrySeal(std::uint32_t leader) {
    return fragment_.TrySeal(ExecutorId{leader}, MarkerOf(0, epoch_, static_cast<std::int64_t>(epoch_)));
  }

  /// Seals everything into the outbox, calling `wait` while there is no segment for a marker.
  void EndEpoch(const std::function<void()>& wait) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (!TrySeal(leader)) {
        wait();
      }
    }
    fragment_.AllSealed();
    ++epoch_;
  }

  /// What is the next for a leader.
  std::optional<ReceivedDelta> Take(std::uint32_t leader) {
    if (!outbox_.TrySend(ExecutorId{leader}, wire_.sender())) {
      return std::nullopt;
    }
    return wire_.Receive();
  }

  /// Ships everything in the outbox; what a leader got is added to `received`, checked chunk by chunk.
  void Ship(Sums& received) {
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (const auto delta = Take(leader)) {
        ASSERT_EQ(delta->tag.input, kInput);
        ASSERT_EQ(delta->payload.size(), delta->tag.runs_bytes + delta->tag.has_marker * kMarkerBytes);
        for (const ReceivedRun& run : delta->Runs(kEntryBytes)) {
          if (run.header.kind == DeltaKind::kUpdate) {
            AddTo(received, leader, run.header.slice, run.Entries<Update>());
          } else {
            AddTo(received, leader, run.header.slice, run.Entries<Form>());
          }
        }
      }
    }
  }

 private:
  template <typename E>
  void AddTo(Sums& sums, std::uint32_t leader, SliceId slice, const std::vector<E>& entries) {
    for (const E& entry : entries) {
      ASSERT_EQ(LeaderOfKey(entry.key, executors_), leader);
      sums[{Value(slice), entry.key}] += SumOf(entry);
    }
  }

  std::uint32_t executors_;
  FragmentGeometry geometry_;
  DeltaWire wire_;
  DeltaOutbox outbox_;
  Fragment fragment_;
  std::uint64_t epoch_ = 1;
};

void NoWait() { FAIL() << "there are segments enough"; }

/// The sizes of a chunk's runs.
std::vector<std::uint32_t> CountsOf(const ReceivedDelta& delta) {
  std::vector<std::uint32_t> counts;
  for (const ReceivedRun& run : delta.Runs(kEntryBytes)) {
    counts.push_back(run.header.entry_count);
  }
  return counts;
}

using Counts = std::vector<std::uint32_t>;

TEST(Fragment, BringsEveryEntryToTheLeaderOfItsKey) {
  constexpr std::uint32_t kExecutors = 4;
  std::mt19937_64 random(1);
  Helper helper(kExecutors, 65'536, 1 << 20);
  Sums expected;
  Sums own;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t slice = i % 3;
    std::vector<Update> updates;
    for (std::size_t item = 0; item < 40; ++item) {
      const Update update = Of(random() % 50, static_cast<std::int64_t>(random() % 100));
      expected[{slice, update.key}] += update.input;
      updates.push_back(update);
    }
    if (i % 2 == 0) {
      helper.Append(slice, updates);
      for (const Update& update : helper.fragment().own<Update>()) {
        own[{slice, update.key}] += update.input;
      }
    } else {
      helper.Append(slice, FormsOf(updates));
      for (const Form& form : helper.fragment().own<Form>()) {
        own[{slice, form.key}] += SumOf(form);
      }
    }
  }
  helper.EndEpoch(NoWait);
  Sums received;
  helper.Ship(received);
  for (const auto& [slice_key, sum] : own) {
    EXPECT_EQ(LeaderOfKey(slice_key.second, kExecutors), 0U);
    EXPECT_TRUE(received.emplace(slice_key, sum).second);
  }
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(received, expected);
}

TEST(Fragment, EntriesOfOneSliceAndKindAreOneRun) {
  Helper helper(2, 4096, 0);
  const std::vector<Update> updates = UpdatesFor(1, 2, 5);
  helper.Append(7, updates);
  helper.Append(-8, FormsOf(updates));
  helper.Append(9, std::vector<Update>());  // of which no run comes
  helper.Append(9, std::vector<Update>{updates[0]});
  helper.EndEpoch(NoWait);
  const auto delta = helper.Take(1).value();
  const std::vector<ReceivedRun> runs = delta.Runs(kEntryBytes);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].header.slice, SliceId{7});
  EXPECT_EQ(runs[0].Entries<Update>().size(), 5U);
  EXPECT_EQ(runs[0].Entries<Update>()[4].key, updates[4].key) << "in their order";
  EXPECT_EQ(runs[1].header.slice, SliceId{-8});
  EXPECT_EQ(runs[1].Entries<Form>().size(), 5U);
  EXPECT_EQ(runs[2].header.slice, SliceId{9});
  EXPECT_EQ(runs[2].Entries<Update>().size(), 1U);
  EXPECT_EQ(delta.tag.runs_bytes, RunBytes(5, 16) + RunBytes(5, 24) + RunBytes(1, 16));
  EXPECT_EQ(helper.fragment().entries(), 11U);
}

TEST(Fragment, AFullSegmentLeavesAtOnce) {
  Helper helper(2, kMinSlotBytes, 0);
  constexpr std::size_t kFull = (kMinRunsBytes - sizeof(DeltaRunHeader)) / sizeof(Update);
  static_assert(kFull == 7);
  helper.Append(1, UpdatesFor(1, 2, kFull));
  EXPECT_EQ(helper.outbox().pending(), 0U);
  helper.Append(1, UpdatesFor(1, 2, 1));
  EXPECT_EQ(helper.outbox().pending(), 1U);
  const auto full = helper.Take(1).value();
  EXPECT_EQ(full.tag, (DeltaTag{.epoch = 1, .runs_bytes = kMinRunsBytes, .has_marker = 0, .input = kInput}));
  EXPECT_EQ(full.payload.size(), kMinRunsBytes);
  EXPECT_EQ(CountsOf(full), Counts{kFull});
}

TEST(Fragment, ARunThatFindsNoRoomGoesOnInTheNextSegment) {
  Helper helper(2, kMinSlotBytes, 0);
  helper.Append(4, UpdatesFor(1, 2, 20));
  helper.EndEpoch(NoWait);
  std::size_t met = 0;
  for (const std::uint32_t count : {7U, 7U, 6U}) {
    const auto delta = helper.Take(1).value();
    ASSERT_EQ(CountsOf(delta), Counts{count});
    const ReceivedRun run = delta.Runs(kEntryBytes).front();
    EXPECT_EQ(run.header.slice, SliceId{4});
    for (const Update& update : run.Entries<Update>()) {
      EXPECT_EQ(update.key, UpdatesFor(1, 2, 20)[met++].key);
    }
  }
  EXPECT_FALSE(helper.Take(1).has_value());
}

TEST(Fragment, ARunBeginsInTheOpenSegmentWhereItHasRoomForAnEntry) {
  const std::vector<Update> updates = UpdatesFor(1, 2, 5);
  const std::vector<Form> two_forms = FormsOf({updates[0], updates[1]});
  Helper fits(2, kMinSlotBytes, 0);
  fits.Append(1, std::vector<Update>(updates.begin(), updates.begin() + 4));  // 80 of 128 bytes
  fits.Append(1, two_forms);                                                  // 40 with the first, 64 with both
  fits.EndEpoch(NoWait);
  EXPECT_EQ(CountsOf(fits.Take(1).value()), (Counts{4, 1}));
  EXPECT_EQ(CountsOf(fits.Take(1).value()), (Counts{1}));
  Helper does_not(2, kMinSlotBytes, 0);
  does_not.Append(1, updates);  // 96 bytes
  does_not.Append(1, two_forms);
  does_not.EndEpoch(NoWait);
  EXPECT_EQ(CountsOf(does_not.Take(1).value()), (Counts{5}));
  EXPECT_EQ(CountsOf(does_not.Take(1).value()), (Counts{2}));
}

TEST(Fragment, PadsEntriesOfAnOddSize) {
  using Odd = DeltaUpdate<std::uint32_t, std::array<std::uint32_t, 2>>;
  static_assert(sizeof(Odd) == 12);
  constexpr DeltaEntryBytes kOddBytes{.update = sizeof(Odd)};
  for (std::uint32_t count = 1; count <= 9; ++count) {
    Helper helper(2, kMinSlotBytes, 0);
    std::uint32_t key = 0;
    std::vector<Odd> entries;
    while (entries.size() < count) {
      ++key;
      if (LeaderOf(HashKey(key), 2) == ExecutorId{1}) {
        entries.push_back({.key = key, .input = {~key, key}});
      }
    }
    // Where a segment comes from another use, what lies in it is not zero.
    while (const auto segment = helper.wire().pool().TryAcquire()) {
      std::fill_n(helper.wire().pool().Data(*segment), helper.wire().pool().payload_capacity(), std::byte{0xAA});
    }
    for (std::uint32_t segment = 0; segment < helper.wire().pool().size(); ++segment) {
      helper.wire().pool().Release(rdma::SegmentId{segment});
    }
    helper.Append(1, entries);
    helper.Append(2, entries);
    helper.EndEpoch(NoWait);
    std::map<std::int64_t, std::uint32_t> met;
    while (const auto delta = helper.Take(1)) {
      for (const ReceivedRun& run : delta->Runs(kOddBytes)) {  // which looks at the padding
        for (const Odd& entry : run.Entries<Odd>()) {
          const Odd& expected = entries[met[Value(run.header.slice)]++];
          EXPECT_EQ(entry.key, expected.key);
          EXPECT_EQ(entry.input, expected.input);
        }
      }
    }
    EXPECT_EQ(met, (std::map<std::int64_t, std::uint32_t>{{1, count}, {2, count}}));
  }
}

TEST(Fragment, AMarkerEndsTheEpochOfEveryLeader) {
  Helper helper(3, kMinSlotBytes, 4096);
  helper.Append(7, UpdatesFor(2, 3, 9));
  helper.EndEpoch(NoWait);
  EXPECT_EQ(helper.outbox().pending(), 3U);

  const auto alone = helper.Take(1).value();
  EXPECT_EQ(alone.tag, (DeltaTag{.epoch = 1, .runs_bytes = 0, .has_marker = 1, .input = kInput}));
  EXPECT_EQ(alone.payload.size(), kMarkerBytes);
  EXPECT_EQ(alone.Marker().epoch, 1U);
  EXPECT_EQ(alone.Marker().watermark_ms, 1);

  EXPECT_EQ(helper.Take(2).value().tag.has_marker, 0U);
  const auto last = helper.Take(2).value();
  EXPECT_EQ(last.tag, (DeltaTag{.epoch = 1,
                                .runs_bytes = static_cast<std::uint32_t>(RunBytes(2, sizeof(Update))),
                                .has_marker = 1,
                                .input = kInput}));
  EXPECT_EQ(last.payload.size(), RunBytes(2, sizeof(Update)) + kMarkerBytes);
  EXPECT_EQ(last.Marker().executor, 0U);
  EXPECT_EQ(CountsOf(last), Counts{2});
  EXPECT_FALSE(helper.outbox().HasPending(ExecutorId{2}));
}

TEST(Fragment, AFullSegmentHasRoomForTheMarker) {
  Helper helper(2, kMinSlotBytes, 0);
  helper.Append(1, UpdatesFor(1, 2, 7));
  helper.EndEpoch(NoWait);
  const auto delta = helper.Take(1).value();
  EXPECT_EQ(delta.tag.runs_bytes, kMinRunsBytes);
  EXPECT_EQ(delta.Marker().epoch, 1U);
  EXPECT_EQ(CountsOf(delta), Counts{7});
}

TEST(Fragment, ARunThatIsOpenAtAnEpochsEndBeginsAnewInTheNext) {
  Helper helper(2, 1024, 4096);
  const std::vector<Update> updates = UpdatesFor(1, 2, 5);
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    if (epoch == 1) {
      helper.fragment().Begin(SliceId{1}, DeltaKind::kUpdate);
    }
    for (const Update& update : updates) {
      helper.fragment().Append(ExecutorId{1}, update);
    }
    helper.EndEpoch(NoWait);
    const auto delta = helper.Take(1).value();
    EXPECT_EQ(delta.tag.epoch, epoch);
    EXPECT_EQ(delta.Marker().epoch, epoch);
    EXPECT_EQ(CountsOf(delta), Counts{5});
  }
  EXPECT_EQ(helper.fragment().entries(), 25U);
}

TEST(Fragment, EntriesOfTheExecutorsOwnAreThoseSinceTheLastBegin) {
  Helper helper(2, kMinSlotBytes, 0);
  const std::uint32_t free_before = helper.wire().pool().available();
  const std::vector<Update> most = UpdatesFor(0, 2, kMostEntries);
  helper.Append(1, FormsOf(most));
  ASSERT_EQ(helper.fragment().own<Form>().size(), kMostEntries);
  for (std::size_t i = 0; i < kMostEntries; ++i) {
    ASSERT_EQ(helper.fragment().own<Form>()[i].key, most[i].key);
  }
  helper.Append(2, std::vector<Update>{most[3], UpdatesFor(1, 2, 1).front(), most[5]});
  ASSERT_EQ(helper.fragment().own<Update>().size(), 2U);
  EXPECT_EQ(helper.fragment().own<Update>()[0].key, most[3].key);
  EXPECT_EQ(helper.fragment().own<Update>()[1].key, most[5].key);
  helper.fragment().Begin(SliceId{2}, DeltaKind::kUpdate);
  EXPECT_TRUE(helper.fragment().own<Update>().empty());
  EXPECT_EQ(helper.wire().pool().available(), free_before - 1) << "they take no segment";
  helper.EndEpoch(NoWait);
  EXPECT_EQ(helper.fragment().entries(), 1U) << "nor are they sent";
}

TEST(Fragment, WithoutASegmentForAMarkerItSaysNotNow) {
  Helper helper(3, kMinSlotBytes, 0);
  helper.Append(1, UpdatesFor(2, 3, 1));
  std::vector<rdma::SegmentId> held;
  while (const auto segment = helper.wire().pool().TryAcquire()) {
    held.push_back(*segment);
  }
  EXPECT_FALSE(helper.TrySeal(1));
  EXPECT_FALSE(helper.fragment().HasRoom(1, sizeof(Update)));
  EXPECT_TRUE(helper.TrySeal(2)) << "its open segment takes the marker";
  helper.wire().pool().Release(held.back());
  EXPECT_TRUE(helper.fragment().HasRoom(1, sizeof(Update)));
  EXPECT_TRUE(helper.TrySeal(1));
  EXPECT_EQ(helper.outbox().pending(), 2U);
}

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
  Helper helper(param.executors, param.slot_bytes, param.fragment_bytes);
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
    Helper helper(kExecutors, kMinSlotBytes, 4096);
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
  Helper helper(2, kMinSlotBytes, 0);
  while (helper.wire().pool().TryAcquire()) {
  }
  EXPECT_DEATH(helper.Append(0, UpdatesFor(1, 2, 1)), "I6: a fragment found the pool of .* segments empty");
}

TEST(FragmentDeathTest, MoreOfItsOwnThanItHasABufferForIsABrokenPromise) {
  Helper helper(2, kMinSlotBytes, 0);
  EXPECT_DEATH(helper.Append(0, FormsOf(UpdatesFor(0, 2, kMostEntries + 1))),
               "more than 1024 entries of the executor's own at a time");
}

TEST(FragmentDeathTest, AMarkerIsThatOfTheEpoch) {
  Helper helper(2, kMinSlotBytes, 0);
  EXPECT_DEATH((void)helper.fragment().TrySeal(ExecutorId{1}, MarkerOf(0, 2, 0)), "the marker of epoch 2 in epoch 1");
}

TEST(FragmentDeathTest, ThePoolMustBeTheOneThatWasPlanned) {
  const FragmentGeometry geometry = FragmentGeometry::Plan(2, 1024, sizeof(Form), 0).value();
  const auto create = [&](rdma::SegmentPool& pool) {
    DeltaOutbox outbox(2, pool);
    const Fragment fragment(pool, outbox, ExecutorId{0}, 2, geometry, sizeof(Form), 0);
  };
  rdma::SegmentPool few = rdma::SegmentPool::Create(1024, geometry.pool_segments - 1).value();
  EXPECT_DEATH(create(few), "on a pool of");
  rdma::SegmentPool small = rdma::SegmentPool::Create(512, geometry.pool_segments).value();
  EXPECT_DEATH(create(small), "on slots of 512");
}

}  // namespace
}  // namespace glaive::state
