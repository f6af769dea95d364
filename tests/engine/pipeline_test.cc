// The stateless steps and the stage they feed: what is kept, what is grouped, what is late.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/sink/discard.h"

namespace glaive::engine {
namespace {

struct Reading {
  std::uint64_t sensor;
  std::int64_t value;
};

template <typename S>
std::vector<typename S::Out> RunChain(const S& step, const std::vector<typename S::In>& records) {
  std::vector<typename S::Out> out;
  for (const auto& record : records) {
    if (step.Selects(record)) {
      step.Push(record, [&](const typename S::Out& value) { out.push_back(value); });
    }
  }
  return out;
}

TEST(Steps, LeadingFiltersAreAskedApartAndTheirConjunctionDecides) {
  const auto positive = [](int x) { return x > 0; };
  const auto even = [](int x) { return x % 2 == 0; };
  const FilterStep<FilterStep<SourceStep<int>, decltype(positive)>, decltype(even)> chain{{{}, positive}, even};
  EXPECT_TRUE(chain.Selects(4));
  EXPECT_FALSE(chain.Selects(3));
  EXPECT_FALSE(chain.Selects(-4));
  EXPECT_EQ(RunChain(chain, {-2, -1, 1, 2, 3, 4}), (std::vector<int>{2, 4}));
}

TEST(Steps, AFilterBehindAMapSeesTheMappedValue) {
  const auto half = [](int x) { return x / 2; };
  const auto odd = [](int x) { return x % 2 != 0; };
  const FilterStep<MapStep<SourceStep<int>, decltype(half)>, decltype(odd)> chain{{{}, half}, odd};
  EXPECT_TRUE(chain.Selects(4)) << "nothing filters before the map";
  EXPECT_EQ(RunChain(chain, {1, 2, 4, 6}), (std::vector<int>{1, 3}));
}

TEST(Steps, FilterMapDropsWhatHasNoValue) {
  const auto root = [](int x) { return x == 4 ? std::optional<std::string>("two") : std::nullopt; };
  const FilterMapStep<SourceStep<int>, decltype(root)> chain{{}, root};
  EXPECT_EQ(RunChain(chain, {1, 4, 9}), (std::vector<std::string>{"two"}));
}

TEST(Aggregates, ReadTheFieldTheyAreGiven) {
  const Reading reading{.sensor = 1, .value = -5};
  EXPECT_EQ(Sum{&Reading::value}.Input(reading), -5);
  EXPECT_EQ((Max{[](const Reading& r) { return r.value * 2; }}.Input(reading)), -10);
  static_assert(AggregateOf<decltype(Mean{&Reading::value}), Reading>);
  static_assert(AggregateOf<decltype(Min{&Reading::value}), Reading>);
  static_assert(AggregateOf<Count, Reading>);
}

struct Time {
  std::int64_t operator()(const Reading& reading) const { return reading.value; }
};
using CountPlan =
    AggregationPlan<SourceOrigin<Reading, Time>, SourceStep<Reading>, std::uint64_t Reading::*, Tumbling, Count>;

class RecordStageTest : public ::testing::Test {
 protected:
  using Waiting = WaitingUpdates<std::uint64_t, state::Nothing>;
  /// So many may wait, and one more of a chunk makes the oldest chunk be tried.
  static constexpr std::size_t kMostWaiting = Waiting::kCapacity - Waiting::kChunk;

  /// Takes some keys' updates at once, as a store does (PartitionedStore::UseEager).
  template <bool kWaitsT>
  struct Eager {
    static constexpr bool kWaits = kWaitsT;

    state::SlotHome Locate(std::uint64_t key) const {
      test->located_.push_back(key);
      return state::SlotHome{state::HashKey(key)};
    }
    std::uint64_t HashOf(state::SlotHome home, std::uint64_t key) const {
      EXPECT_EQ(home, state::SlotHome{state::HashKey(key)});
      return state::HashKey(key);
    }
    bool TryUpdate(state::SlotHome home, std::uint64_t key, const state::Nothing& /*input*/) const {
      EXPECT_EQ(home, state::SlotHome{state::HashKey(key)});
      if (!test->taken_at_once_.contains(key)) {
        return false;
      }
      test->at_once_[slice].push_back(key);
      return true;
    }
    void Finish(std::size_t taken) const { test->counted_ += taken; }

    RecordStageTest* test;
    std::int64_t slice;
  };

  auto UseEager() {
    return [this](state::SliceId slice, const auto& use) {
      if (waits_) {
        use(Eager<true>{this, static_cast<std::int64_t>(slice)});
      } else {
        use(Eager<false>{this, static_cast<std::int64_t>(slice)});
      }
    };
  }

  /// Adds readings of {sensor, event time}, all in one call.
  void Add(const std::vector<Reading>& readings, const RecordStage<CountPlan>::Stretch& stretch = {}) {
    stage_.Add(std::span<const Reading>(readings), stretch, UseEager(), flush_);
  }
  /// Likewise, by pointers to them, as where filters lead the chain.
  void AddPointers(const std::vector<Reading>& readings) {
    std::vector<const Reading*> pointers;
    for (const Reading& reading : readings) {
      pointers.push_back(&reading);
    }
    stage_.Add(std::span<const Reading* const>(pointers), {}, UseEager(), flush_);
  }

  CountPlan plan_{
      .origin = {}, .chain = {}, .key = &Reading::sensor, .window = {absl::Milliseconds(10)}, .aggregate = {}};
  RecordStage<CountPlan> stage_{plan_, Windows(plan_.window)};
  std::map<std::int64_t, std::vector<std::uint64_t>> folded_;  // by slice: the keys
  std::vector<std::size_t> group_sizes_;
  std::set<std::uint64_t> taken_at_once_;
  std::map<std::int64_t, std::vector<std::uint64_t>> at_once_;  // by slice: the keys
  std::vector<std::uint64_t> located_;
  bool waits_ = false;  // whether updates are tried some records later
  std::size_t counted_ = 0;
  std::function<void(state::SliceId, std::span<const RecordStage<CountPlan>::Update>)> flush_ =
      [this](state::SliceId slice, std::span<const RecordStage<CountPlan>::Update> updates) {
        group_sizes_.push_back(updates.size());
        for (const auto& update : updates) {
          EXPECT_EQ(update.hash, state::HashKey(update.key));
          folded_[static_cast<std::int64_t>(slice)].push_back(update.key);
        }
      };
};

TEST_F(RecordStageTest, RecordsOfOneWindowAreFoldedInFullGroups) {
  stage_.BeginBatch(kMinEventTimeMs);
  for (std::uint64_t i = 0; i < 70; i += 10) {  // groups fill across calls
    Add(std::vector<Reading>(10, {.sensor = i, .value = 3}));
  }
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(group_sizes_, (std::vector<std::size_t>{32, 32, 6}));
  EXPECT_EQ(folded_[0].size(), 70U);
  EXPECT_EQ(stage_.kept(), 70U);
}

TEST_F(RecordStageTest, AGroupNeverMixesWindowsEvenWhenRecordsAreOutOfOrder) {
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{105, 5}, {115, 15}, {106, 6}, {125, 25}, {99, -1}, {107, 7}});
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(folded_[0], (std::vector<std::uint64_t>{105, 106, 107}));
  EXPECT_EQ(folded_[1], (std::vector<std::uint64_t>{115}));
  EXPECT_EQ(folded_[2], (std::vector<std::uint64_t>{125}));
  EXPECT_EQ(folded_[-1], (std::vector<std::uint64_t>{99}));
}

TEST_F(RecordStageTest, WhatIsTakenAtOnceIsNotStaged) {
  taken_at_once_ = {1, 3};
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}, {1, 6}});  // the first step finds the slice; nothing is tried before
  EXPECT_TRUE(at_once_.empty());
  located_.clear();
  Add({{1, 7}, {2, 8}, {3, 9}, {3, 10}, {2, 4}});
  EXPECT_EQ(at_once_, (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, {1, 3}}}));
  EXPECT_EQ(located_.size(), 4U) << "all but the one of another slice";
  EXPECT_EQ(located_.back(), 2U);
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(folded_[0], (std::vector<std::uint64_t>{1, 1, 2, 2}));
  EXPECT_EQ(folded_[1], (std::vector<std::uint64_t>{3})) << "in another slice than what is tried";
  EXPECT_EQ(counted_, 2U);
  EXPECT_EQ(stage_.kept(), 7U);
}

TEST_F(RecordStageTest, WhatIsTakenLaterWaitsForOthersBehindIt) {
  waits_ = true;
  taken_at_once_ = {1, 3};
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}});  // finds the slice
  std::vector<Reading> readings(kMostWaiting, {.sensor = 3, .value = 9});
  readings[1].sensor = 2;
  Add(readings);
  EXPECT_TRUE(at_once_.empty()) << "none has enough behind it";
  EXPECT_EQ(located_.size(), readings.size());
  Add({{3, 1}, {4, 2}, {3, 3}});
  EXPECT_EQ(
      at_once_,
      (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, std::vector<std::uint64_t>(Waiting::kChunk - 1, 3)}}));
  EXPECT_EQ(counted_, Waiting::kChunk - 1);
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(at_once_[0].size(), readings.size() + 1) << "all of them but keys 2 and 4";
  EXPECT_EQ(counted_, at_once_[0].size());
  EXPECT_EQ(folded_, (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, {1, 2, 4}}})) << "tried in vain";
  EXPECT_EQ(stage_.kept(), readings.size() + 4);
}

TEST_F(RecordStageTest, WhatWaitsIsFinishedBeforeAnotherSlice) {
  waits_ = true;
  taken_at_once_ = {1};
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}});
  Add({{1, 6}, {2, 7}, {1, 25}, {1, 8}});
  EXPECT_EQ(at_once_, (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, {1, 1}}}));
  EXPECT_EQ(folded_, (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, {1, 2}}}));
  Add({{1, 26}, {2, 27}});
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(at_once_[2], (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(folded_[2], (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(stage_.kept(), 7U);
}

TEST_F(RecordStageTest, WhatWaitsIsStagedOnceNothingWaitsAnyMore) {
  waits_ = true;
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}});
  Add(std::vector<Reading>(kMostWaiting + Waiting::kChunk, {.sensor = 2, .value = 3}));
  EXPECT_TRUE(folded_.empty()) << "less than a group, and those that wait";
  waits_ = false;
  taken_at_once_ = {2};  // only of records that come from now on: homes are not those that were looked up
  Add(std::vector<Reading>(RecordStage<CountPlan>::kMaxRecords, {.sensor = 3, .value = 3}));
  stage_.Flush(UseEager(), flush_);
  EXPECT_TRUE(at_once_.empty());
  EXPECT_EQ(std::ranges::count(folded_[0], 1), 1);
  EXPECT_EQ(std::ranges::count(folded_[0], 2), kMostWaiting + Waiting::kChunk);
  EXPECT_EQ(std::ranges::count(folded_[0], 3), RecordStage<CountPlan>::kMaxRecords);
  EXPECT_EQ(stage_.kept(), folded_[0].size());
}

TEST_F(RecordStageTest, WhatIsTakenLaterIsTakenOnce) {
  waits_ = true;
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1'000, 5}});
  std::multiset<std::uint64_t> expected = {1'000};
  std::uint64_t sensor = 0;
  for (const std::size_t records : {1U, 31U, 32U, 33U, 128U, 0U, 2U, 100U, 128U, 64U, 128U, 128U}) {
    std::vector<Reading> readings(records);
    for (Reading& reading : readings) {
      reading = {.sensor = sensor++, .value = 3};
      expected.insert(reading.sensor);
    }
    taken_at_once_.clear();
    for (std::uint64_t key = 0; key < 1'000; key += 1 + records % 5) {  // all of them, or some
      taken_at_once_.insert(key);
    }
    waits_ = records != 2;  // in between, nothing does
    Add(readings);
  }
  stage_.Flush(UseEager(), flush_);
  std::multiset<std::uint64_t> once(at_once_[0].begin(), at_once_[0].end());
  EXPECT_EQ(once.size(), counted_);
  EXPECT_GT(once.size(), 100U);
  once.insert(folded_[0].begin(), folded_[0].end());
  EXPECT_EQ(once, expected);
  EXPECT_EQ(stage_.kept(), expected.size());
}

TEST_F(RecordStageTest, AStepMayFillAGroupAndHaveRecordsOfOtherSlicesBeside) {
  stage_.BeginBatch(kMinEventTimeMs);
  Add(std::vector<Reading>(31, {.sensor = 1, .value = 3}));  // one short of a group
  Add({{2, 3}, {3, 17}, {4, 9}, {5, -4}, {6, 0}, {7, 10}});
  AddPointers({{8, 19}, {9, 20}, {10, 11}});
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(group_sizes_.front(), 32U);
  EXPECT_EQ(folded_[-1], (std::vector<std::uint64_t>{5}));
  std::vector<std::uint64_t> first(31, 1);
  first.insert(first.end(), {2, 4, 6});
  EXPECT_EQ(folded_[0], first);
  EXPECT_EQ(folded_[1], (std::vector<std::uint64_t>{3, 7, 8, 10}));
  EXPECT_EQ(folded_[2], (std::vector<std::uint64_t>{9}));
  EXPECT_EQ(stage_.kept(), 40U);
}

TEST_F(RecordStageTest, EventTimesAreShifted) {
  stage_.BeginBatch(kMinEventTimeMs);
  for (const std::int64_t shift_ms : {1'000, -1'000}) {
    Add({{1, 5}}, {.event_time_shift_ms = shift_ms});  // its slice becomes the current one
    Add({{2, 0}, {3, 9}, {4, 10}, {5, -1}}, {.event_time_shift_ms = shift_ms});
    stage_.Flush(UseEager(), flush_);
    const std::int64_t slice = shift_ms / 10;
    EXPECT_EQ(folded_[slice], (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(folded_[slice + 1], (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(folded_[slice - 1], (std::vector<std::uint64_t>{5}));
  }
}

TEST_F(RecordStageTest, OfRecordsInOrderTheFirstAndTheLastTellWhereAllAre) {
  const auto in_order = [](std::int64_t shift_ms) {
    return RecordStage<CountPlan>::Stretch{.event_time_shift_ms = shift_ms, .in_order = true};
  };
  for (const std::int64_t shift_ms : {0, 1'000, -1'000}) {
    SCOPED_TRACE(shift_ms);
    const std::int64_t slice = shift_ms / 10;
    stage_.BeginBatch(kMinEventTimeMs);
    Add({{1, 0}, {2, 5}}, in_order(shift_ms));            // no slice is the current one before
    Add({{3, 0}, {4, 4}, {5, 9}}, in_order(shift_ms));    // all of it
    Add({{6, 9}, {7, 10}, {8, 29}}, in_order(shift_ms));  // the last ones of others
    Add({}, in_order(shift_ms));
    Add({{9, 1}, {10, 29}}, in_order(shift_ms));  // the first one of another
    stage_.Flush(UseEager(), flush_);
    EXPECT_EQ(folded_[slice], (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 9}));
    EXPECT_EQ(folded_[slice + 1], (std::vector<std::uint64_t>{7}));
    EXPECT_EQ(folded_[slice + 2], (std::vector<std::uint64_t>{8, 10}));
  }
  EXPECT_EQ(stage_.late(), 0U);
}

TEST_F(RecordStageTest, WhatLiesBetweenIsTakenForGranted) {
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}});
  Add({{2, 6}, {3, 15}, {4, 7}}, {.in_order = true});  // it is not: who says so is believed
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(folded_, (std::map<std::int64_t, std::vector<std::uint64_t>>{{0, {1, 2, 3, 4}}}));
}

TEST_F(RecordStageTest, LateRecordsInOrderAreFound) {
  stage_.BeginBatch(kMinEventTimeMs);
  Add({{1, 5}}, {.in_order = true});
  stage_.Flush(UseEager(), flush_);
  stage_.BeginBatch(10);
  Add({{2, 6}, {3, 9}, {4, 10}}, {.in_order = true});
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(stage_.late(), 2U);
  EXPECT_EQ(folded_[0], (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(folded_[1], (std::vector<std::uint64_t>{4}));
}

TEST_F(RecordStageTest, ARecordIsLateOnlyOnceItsWindowIsClosed) {
  stage_.BeginBatch(12);
  Add({{1, 11},  // behind the watermark, but its window is open
       {2, 9},   // its window ended at 10
       {3, 12}});
  stage_.Flush(UseEager(), flush_);
  stage_.BeginBatch(20);
  Add({{4, 19},  // the window of the last record has closed meanwhile
       {5, 20}});
  stage_.Flush(UseEager(), flush_);
  EXPECT_EQ(folded_[1], (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(folded_[2], (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(stage_.late(), 2U);
  EXPECT_EQ(stage_.kept(), 3U);
}

}  // namespace
}  // namespace glaive::engine
