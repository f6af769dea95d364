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
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/state/fragment_helper.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

TEST(Fragment, BringsEveryEntryToTheLeaderOfItsKey) {
  constexpr std::uint32_t kExecutors = 4;
  std::mt19937_64 random(1);
  FragmentHelper helper(kExecutors, 65'536, 1 << 20);
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
  FragmentHelper helper(2, 4096, 0);
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
  EXPECT_EQ(delta.tag.runs_bytes, (24U + 5 * 16) + (24 + 5 * 24) + (24 + 16)) << "each behind a header of 24 bytes";
  EXPECT_EQ(helper.fragment().entries(), 11U);
}

TEST(Fragment, ARunSaysWhenTheBatchOfItsFirstEntryWasRead) {
  FragmentHelper helper(2, 4096, 0);
  const std::vector<Update> updates = UpdatesFor(1, 2, 2);
  helper.fragment().BeginBatch(100);
  helper.Append(7, updates);
  helper.fragment().BeginBatch(200);
  helper.Append(8, updates);
  helper.EndEpoch(NoWait);
  const auto delta = helper.Take(1).value();
  const std::vector<ReceivedRun> runs = delta.Runs(kEntryBytes);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].header.read_ns, 100);
  EXPECT_EQ(runs[1].header.read_ns, 200);
}

/// The most entries of a segment of so many bytes, and their bytes.
constexpr std::uint32_t kFull = (kMinRunsBytes - sizeof(DeltaRunHeader)) / sizeof(Update);
static_assert(kFull == 6);
constexpr std::uint32_t kFullBytes = 24 + kFull * 16;

TEST(Fragment, AFullSegmentLeavesAtOnce) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  helper.Append(1, UpdatesFor(1, 2, kFull));
  EXPECT_EQ(helper.outbox().pending(), 0U);
  helper.Append(1, UpdatesFor(1, 2, 1));
  EXPECT_EQ(helper.outbox().pending(), 1U);
  const auto full = helper.Take(1).value();
  EXPECT_EQ(full.tag, (DeltaTag{.epoch = 1, .runs_bytes = kFullBytes, .has_marker = 0, .input = kInput}));
  EXPECT_EQ(full.payload.size(), kFullBytes);
  EXPECT_EQ(CountsOf(full), Counts{kFull});
}

TEST(Fragment, ARunThatFindsNoRoomGoesOnInTheNextSegment) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  helper.Append(4, UpdatesFor(1, 2, 20));
  helper.EndEpoch(NoWait);
  std::size_t met = 0;
  for (const std::uint32_t count : {kFull, kFull, kFull, 20 - 3 * kFull}) {
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
  FragmentHelper fits(2, kMinSlotBytes, 0);
  fits.Append(1, std::vector<Update>(updates.begin(), updates.begin() + 3));  // 72 of 128 bytes
  fits.Append(1, two_forms);                                                  // 48 with the first, 72 with both
  fits.EndEpoch(NoWait);
  EXPECT_EQ(CountsOf(fits.Take(1).value()), (Counts{3, 1}));
  EXPECT_EQ(CountsOf(fits.Take(1).value()), (Counts{1}));
  FragmentHelper does_not(2, kMinSlotBytes, 0);
  does_not.Append(1, updates);  // 104 bytes
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
    FragmentHelper helper(2, kMinSlotBytes, 0);
    std::uint32_t key = 0;
    std::vector<Odd> entries;
    while (entries.size() < count) {
      ++key;
      if (LeaderOf(kTestHash(key), 2) == ExecutorId{1}) {
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
      for (const ReceivedRun& run : delta->Runs(kOddBytes)) {  // which checks the padding
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
  FragmentHelper helper(3, kMinSlotBytes, 4096);
  helper.Append(7, UpdatesFor(2, 3, kFull + 2));
  helper.EndEpoch(NoWait);
  EXPECT_EQ(helper.outbox().pending(), 3U);

  const auto alone = helper.Take(1).value();
  EXPECT_EQ(alone.tag, (DeltaTag{.epoch = 1, .runs_bytes = 0, .has_marker = 1, .input = kInput}));
  EXPECT_EQ(alone.payload.size(), 64U);
  EXPECT_EQ(alone.Marker().epoch, 1U);
  EXPECT_EQ(alone.Marker().watermark_ms, 1);

  EXPECT_EQ(helper.Take(2).value().tag.has_marker, 0U);
  const auto last = helper.Take(2).value();
  EXPECT_EQ(last.tag, (DeltaTag{.epoch = 1, .runs_bytes = 24 + 2 * 16, .has_marker = 1, .input = kInput}));
  EXPECT_EQ(last.payload.size(), 24U + 2 * 16 + 64);
  EXPECT_EQ(last.Marker().executor, 0U);
  EXPECT_EQ(CountsOf(last), Counts{2});
  EXPECT_FALSE(helper.outbox().HasPending(ExecutorId{2}));
}

TEST(Fragment, AFullSegmentHasRoomForTheMarker) {
  FragmentHelper helper(2, kMinSlotBytes, 0);
  helper.Append(1, UpdatesFor(1, 2, kFull));
  helper.EndEpoch(NoWait);
  const auto delta = helper.Take(1).value();
  EXPECT_EQ(delta.tag.runs_bytes, kFullBytes);
  EXPECT_EQ(delta.Marker().epoch, 1U);
  EXPECT_EQ(CountsOf(delta), Counts{kFull});
}

TEST(Fragment, ARunThatIsOpenAtAnEpochsEndBeginsAnewInTheNext) {
  FragmentHelper helper(2, 1024, 4096);
  const std::vector<Update> updates = UpdatesFor(1, 2, 5);
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    if (epoch == 1) {
      helper.fragment().Begin(SliceId{1}, DeltaKind::kUpdate);
    }
    for (const Update& update : updates) {
      helper.fragment().Append(/*leader=*/1, update);
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
  FragmentHelper helper(2, kMinSlotBytes, 0);
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

TEST(Fragment, AnObserverSeesTheEntriesThatAreQueued) {
  struct Seen final : DeltaObserver {
    void OnQueued(ExecutorId to, const DeltaChunk& chunk) override {
      leader = to;
      epoch = chunk.tag.epoch;
      runs_bytes = chunk.runs.size();
      text_bytes = chunk.texts.size();
      watermark_ms = chunk.marker ? chunk.marker->watermark_ms : 0;
    }
    void OnMerged(ExecutorId /*sender*/, const DeltaChunk& /*chunk*/) override {}
    ExecutorId leader{};
    std::uint64_t epoch = 0;
    std::size_t runs_bytes = 0;
    std::size_t text_bytes = 0;
    std::int64_t watermark_ms = 0;
  } seen;
  FragmentHelper helper(2, 1'024, 1 << 20, &seen);
  helper.Append(0, UpdatesFor(1, 2, 3));
  EXPECT_EQ(seen.runs_bytes, 0U) << "the segment is not full";
  const std::uint64_t epoch = helper.epoch();
  helper.EndEpoch(NoWait);
  EXPECT_EQ(seen.leader, ExecutorId{1});
  EXPECT_EQ(seen.epoch, epoch);
  EXPECT_EQ(seen.runs_bytes, RunBytes(3, sizeof(Update)));
  EXPECT_EQ(seen.text_bytes, 0U);
  EXPECT_EQ(seen.watermark_ms, static_cast<std::int64_t>(epoch));
}

TEST(Fragment, WithoutASegmentForAMarkerItSaysNotNow) {
  FragmentHelper helper(3, kMinSlotBytes, 0);
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

}  // namespace
}  // namespace glaive::state
