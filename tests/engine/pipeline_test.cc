// The stateless steps and the loop behind them: which records are accepted, which are grouped, which are late.

#include <algorithm>
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

TEST(Steps, InspectIsCalledOnceForEachRecordThatReachesIt) {
  std::vector<int> seen;
  const auto positive = [](int x) { return x > 0; };
  const auto note = [&seen](int x) { seen.push_back(x); };
  const auto even = [](int x) { return x % 2 == 0; };
  const FilterStep<InspectStep<FilterStep<SourceStep<int>, decltype(positive)>, decltype(note)>, decltype(even)> chain{
      {{{}, positive}, note}, even};
  EXPECT_EQ(RunChain(chain, {-2, -1, 1, 2, 3, 4}), (std::vector<int>{2, 4}));
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4})) << "the filter behind it does not matter";
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

class FoldLoopTest : public ::testing::Test {
 protected:
  using Loop = FoldLoop<CountPlan>;

  /// Takes what comes to the store, and folds some keys at once.
  class Host {
   public:
    /// Folds records of some keys, of the slice that was entered last.
    template <bool kAhead>
    struct Folder {
      static constexpr bool kFoldsAhead = kAhead;

      void Prefetch(std::uint64_t key) const { host->prefetched.push_back(key); }
      bool TryFold(std::uint64_t key, const state::Nothing& /*input*/) {
        if (slice != host->entered_ || !host->keys_folded.contains(key)) {
          return false;
        }
        host->folded[slice].push_back(key);
        ++count;
        return true;
      }
      std::size_t folded() const { return count; }

      Host* host;
      std::int64_t slice;
      std::size_t count = 0;
    };

    template <typename UseFn>
    void UseFolder(state::SliceId piece, const UseFn& use) {
      const auto slice = static_cast<std::int64_t>(piece);
      counted += folds_ahead ? use(Folder<true>{this, slice}).folded() : use(Folder<false>{this, slice}).folded();
    }
    void Enter(state::SliceId piece) {
      entered_ = static_cast<std::int64_t>(piece);
      entries.push_back(entered_);
    }
    void Take(state::SliceId piece, std::span<Loop::Update> updates) {
      sizes.push_back(updates.size());
      for (Loop::Update& update : updates) {
        taken[static_cast<std::int64_t>(piece)].push_back(update.key);
        update = {};  // as a store may
      }
    }
    void Late(std::int64_t /*event_time_ms*/, const Reading& /*record*/) {
      FAIL() << "the plan has no sink for late records";
    }

    bool folds_ahead = false;
    std::set<std::uint64_t> keys_folded;
    std::vector<std::uint64_t> prefetched;                      // keys, as often as they were
    std::map<std::int64_t, std::vector<std::uint64_t>> folded;  // by slice: the keys
    std::map<std::int64_t, std::vector<std::uint64_t>> taken;   // by slice: the keys
    std::vector<std::size_t> sizes;                             // of what was taken at a time
    std::vector<std::int64_t> entries;                          // slices entered
    std::size_t counted = 0;

   private:
    std::int64_t entered_ = -1'000'000;
  };

  /// Adds readings of {sensor, event time}, all in one call.
  void Add(const std::vector<Reading>& readings, const Loop::Stretch& stretch = {}) {
    loop_.Add(std::span<const Reading>(readings), stretch, host_, [this] { ++meanwhile_; });
  }
  /// Likewise, by pointers to them, as where filters lead the chain.
  void AddPointers(const std::vector<Reading>& readings) {
    std::vector<const Reading*> pointers;
    for (const Reading& reading : readings) {
      pointers.push_back(&reading);
    }
    loop_.Add(std::span<const Reading* const>(pointers), {}, host_, [] {});
  }
  /// Makes the slice from 0 to 10 ms the current one, by records of sensor 0.
  void EnterFirstSlice() {
    loop_.BeginBatch(kMinEventTimeMs);
    Add(std::vector<Reading>(Loop::kMaxRecords, {.sensor = 0, .value = 3}));
    ASSERT_EQ(host_.entries, (std::vector<std::int64_t>{0}));
    loop_.Flush(host_);
    host_.taken.clear();
    host_.sizes.clear();
    meanwhile_ = 0;
  }

  CountPlan plan_{
      .origin = {}, .chain = {}, .key = &Reading::sensor, .window = {absl::Milliseconds(10)}, .aggregate = {}};
  Loop loop_{plan_, Windows(plan_.window)};
  Host host_;
  std::size_t meanwhile_ = 0;
};

using Keys = std::vector<std::uint64_t>;
using KeysBySlice = std::map<std::int64_t, Keys>;

TEST_F(FoldLoopTest, RecordsOfTheCurrentSliceAreHandedOverManyAtATime) {
  EnterFirstSlice();
  for (std::uint64_t i = 0; i < 3'000; i += 100) {
    Add(std::vector<Reading>(100, {.sensor = i, .value = 3}));
  }
  loop_.Flush(host_);
  EXPECT_EQ(host_.taken[0].size(), 3'000U);
  EXPECT_LE(host_.sizes.size(), 6U);
  EXPECT_LE(std::ranges::max(host_.sizes), state::kMostEntries);
  EXPECT_EQ(loop_.accepted(), 3'000U + Loop::kMaxRecords);
  EXPECT_EQ(meanwhile_, 3'000U);
}

TEST_F(FoldLoopTest, WhatIsHandedOverNeverMixesWindowsEvenWhenRecordsAreOutOfOrder) {
  loop_.BeginBatch(kMinEventTimeMs);
  Add({{105, 5}, {115, 15}, {106, 6}, {125, 25}, {99, -1}, {107, 7}});
  loop_.Flush(host_);
  EXPECT_EQ(host_.taken, (KeysBySlice{{-1, {99}}, {0, {105, 106, 107}}, {1, {115}}, {2, {125}}}));
  EXPECT_EQ(host_.sizes.size(), 4U) << "each slice's records together";
  EXPECT_EQ(loop_.accepted(), 6U);
}

TEST_F(FoldLoopTest, WhatTheFolderTakesIsNotPending) {
  EnterFirstSlice();
  host_.keys_folded = {1, 3};
  Add({{1, 7}, {2, 8}, {3, 19}, {3, 9}, {2, 4}});
  loop_.Flush(host_);
  EXPECT_EQ(host_.folded, (KeysBySlice{{0, {1, 3}}}));
  EXPECT_EQ(host_.taken, (KeysBySlice{{0, {2, 2}}, {1, {3}}})) << "key 3 in another slice is not of the folder";
  EXPECT_EQ(host_.counted, 2U);
  EXPECT_EQ(loop_.accepted(), 5U + Loop::kMaxRecords);
}

TEST_F(FoldLoopTest, AFolderThatFoldsAheadTakesTheOldestOnceOthersArePendingBehindThem) {
  EnterFirstSlice();
  host_.folds_ahead = true;
  host_.keys_folded = {1};
  Add(std::vector<Reading>(60, {.sensor = 1, .value = 7}));
  EXPECT_EQ(host_.prefetched, Keys(60, 1));
  EXPECT_EQ(host_.counted, 0U) << "too few to have come into the cache";
  Add(std::vector<Reading>(20, {.sensor = 1, .value = 7}));
  EXPECT_GT(host_.counted, 0U);
  EXPECT_LT(host_.counted, 80U);
  loop_.Flush(host_);
  EXPECT_EQ(host_.folded[0].size(), host_.counted);
  EXPECT_EQ(host_.taken[0].size(), 80U - host_.counted);
  EXPECT_EQ(loop_.accepted(), 80U + Loop::kMaxRecords);
}

TEST_F(FoldLoopTest, WhatAFolderThatFoldsAheadRefusesIsHandedOverInOrder) {
  EnterFirstSlice();
  host_.folds_ahead = true;
  Keys all;
  for (std::uint64_t step = 0; step < 4; ++step) {
    std::vector<Reading> readings;
    for (std::uint64_t key = 0; key < 100; ++key) {
      all.push_back(step * 100 + key);
      readings.push_back({.sensor = all.back(), .value = 7});
      if (all.back() % 3 == 0) {
        host_.keys_folded.insert(all.back());
      }
    }
    Add(readings, {.in_order = step % 2 == 0});
  }
  const Keys folded = host_.folded[0];
  loop_.Flush(host_);
  EXPECT_GT(folded.size(), 50U);
  EXPECT_EQ(host_.folded[0], folded) << "the rest is handed over as it is";
  std::erase_if(all, [&](std::uint64_t key) { return std::ranges::find(folded, key) != folded.end(); });
  EXPECT_EQ(host_.taken[0], all);
  EXPECT_EQ(host_.prefetched.size(), 400U);
}

TEST_F(FoldLoopTest, WhatWaitsForAFolderIsTakenBeforeAnotherSliceIsEntered) {
  EnterFirstSlice();
  host_.folds_ahead = true;
  host_.keys_folded = {1, 2};
  Add(std::vector<Reading>(100, {.sensor = 1, .value = 7}), {.in_order = true});
  Add(std::vector<Reading>(100, {.sensor = 2, .value = 17}), {.in_order = true});
  loop_.Flush(host_);
  EXPECT_EQ(host_.folded[0].size() + host_.taken[0].size(), 100U);
  EXPECT_EQ(host_.folded[1].size() + host_.taken[1].size(), 100U);
  EXPECT_EQ(std::ranges::count(host_.folded[0], 2U) + std::ranges::count(host_.taken[0], 2U), 0);
}

TEST_F(FoldLoopTest, TheSliceOfMostRecordsBecomesTheCurrentOne) {
  EnterFirstSlice();
  host_.keys_folded = {1};
  std::vector<Reading> readings;
  for (std::int64_t i = 0; i < 100; ++i) {
    readings.push_back({.sensor = 1, .value = i % 3 == 0 ? 5 : 15});  // two of three are of the next slice
  }
  Add(readings);
  EXPECT_EQ(host_.entries, (std::vector<std::int64_t>{0})) << "too few records to tell";
  Add(readings);
  EXPECT_EQ(host_.entries, (std::vector<std::int64_t>{0, 1}));
  Add(readings);
  loop_.Flush(host_);
  EXPECT_EQ(host_.folded[0].size(), 68U);
  EXPECT_EQ(host_.folded[1].size(), 66U);
  EXPECT_EQ(host_.taken[1].size(), 132U);
  EXPECT_EQ(host_.taken[0].size(), 34U);
}

TEST_F(FoldLoopTest, AFewRecordsOfAnotherSliceChangeNothing) {
  EnterFirstSlice();
  for (int step = 0; step < 20; ++step) {
    std::vector<Reading> readings(100, {.sensor = 1, .value = 3});
    std::fill_n(readings.begin(), 49, Reading{.sensor = 2, .value = 13});
    Add(readings);
  }
  loop_.Flush(host_);
  EXPECT_EQ(host_.entries, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(host_.taken[0].size(), 20U * 51);
  EXPECT_EQ(host_.taken[1].size(), 20U * 49);
}

TEST_F(FoldLoopTest, AStepMayHaveRecordsOfManySlices) {
  EnterFirstSlice();
  Add(std::vector<Reading>(31, {.sensor = 1, .value = 3}));
  Add({{2, 3}, {3, 17}, {4, 9}, {5, -4}, {6, 0}, {7, 10}});
  AddPointers({{8, 19}, {9, 20}, {10, 11}});
  loop_.Flush(host_);
  Keys first(31, 1);
  first.insert(first.end(), {2, 4, 6});
  EXPECT_EQ(host_.taken, (KeysBySlice{{-1, {5}}, {0, first}, {1, {3, 7, 8, 10}}, {2, {9}}}));
  EXPECT_EQ(loop_.accepted(), 40U + Loop::kMaxRecords);
}

TEST_F(FoldLoopTest, EventTimesAreShifted) {
  loop_.BeginBatch(kMinEventTimeMs);
  for (const std::int64_t shift_ms : {1'000, -1'000}) {
    Add(std::vector<Reading>(Loop::kMaxRecords, {.sensor = 1, .value = 5}), {.event_time_shift_ms = shift_ms});
    Add({{2, 0}, {3, 9}, {4, 10}, {5, -1}}, {.event_time_shift_ms = shift_ms});
    loop_.Flush(host_);
    const std::int64_t slice = shift_ms / 10;
    EXPECT_EQ(host_.entries.back(), slice);
    EXPECT_EQ(host_.taken[slice].size(), Loop::kMaxRecords + 2U);
    EXPECT_EQ(host_.taken[slice + 1], (Keys{4}));
    EXPECT_EQ(host_.taken[slice - 1], (Keys{5}));
  }
}

TEST_F(FoldLoopTest, OfRecordsInOrderTheFirstAndTheLastTellWhereAllAre) {
  const auto in_order = [](std::int64_t shift_ms) {
    return Loop::Stretch{.event_time_shift_ms = shift_ms, .in_order = true};
  };
  for (const std::int64_t shift_ms : {0, 1'000, -1'000}) {
    SCOPED_TRACE(shift_ms);
    const std::int64_t slice = shift_ms / 10;
    loop_.BeginBatch(kMinEventTimeMs);
    Add(std::vector<Reading>(100, {.sensor = 1, .value = 0}), in_order(shift_ms));
    EXPECT_EQ(host_.entries.back(), slice) << "at once: they are many";
    Add({{3, 0}, {4, 4}, {5, 9}}, in_order(shift_ms));
    Add({{6, 9}, {7, 10}, {8, 29}}, in_order(shift_ms));  // the last ones of others
    Add({}, in_order(shift_ms));
    Add({{9, 1}, {10, 29}}, in_order(shift_ms));
    loop_.Flush(host_);
    Keys first(100, 1);
    first.insert(first.end(), {3, 4, 5, 6, 9});
    EXPECT_EQ(host_.taken[slice], first);
    EXPECT_EQ(host_.taken[slice + 1], (Keys{7}));
    EXPECT_EQ(host_.taken[slice + 2], (Keys{8, 10}));
  }
  EXPECT_EQ(loop_.late(), 0U);
}

TEST_F(FoldLoopTest, RecordsInOrderEnterEachSliceWhereItBegins) {
  loop_.BeginBatch(kMinEventTimeMs);
  std::vector<Reading> readings;
  for (std::uint64_t i = 0; i < Loop::kMaxRecords; ++i) {
    readings.push_back({.sensor = i, .value = i < 30 ? 5 : 15});
  }
  Add(readings, {.in_order = true});
  EXPECT_EQ(host_.entries, (std::vector<std::int64_t>{0, 1}));
  loop_.Flush(host_);
  EXPECT_EQ(host_.taken[0].size(), 30U);
  EXPECT_EQ(host_.taken[1].size(), Loop::kMaxRecords - 30U);
}

TEST_F(FoldLoopTest, TheOrderOfABatchIsBelieved) {
  EnterFirstSlice();
  Add({{2, 6}, {3, 15}, {4, 7}}, {.in_order = true});  // it is not in order
  loop_.Flush(host_);
  EXPECT_EQ(host_.taken, (KeysBySlice{{0, {2, 3, 4}}}));
}

TEST_F(FoldLoopTest, LateRecordsInOrderAreFound) {
  loop_.BeginBatch(10);
  Add({{2, 6}, {3, 9}, {4, 10}}, {.in_order = true});
  Add(std::vector<Reading>(Loop::kMaxRecords, {.sensor = 5, .value = 8}), {.in_order = true});
  loop_.Flush(host_);
  EXPECT_EQ(loop_.late(), 2U + Loop::kMaxRecords);
  EXPECT_EQ(host_.taken, (KeysBySlice{{1, {4}}}));
}

TEST_F(FoldLoopTest, ARecordIsLateOnlyOnceItsWindowIsClosed) {
  loop_.BeginBatch(12);
  Add({{1, 11},  // behind the watermark, but its window is open
       {2, 9},   // its window ended at 10
       {3, 12}});
  loop_.Flush(host_);
  loop_.BeginBatch(20);
  Add({{4, 19},  // the window of the last record has closed meanwhile
       {5, 20}});
  loop_.Flush(host_);
  EXPECT_EQ(host_.taken, (KeysBySlice{{1, {1, 3}}, {2, {5}}}));
  EXPECT_EQ(loop_.late(), 2U);
  EXPECT_EQ(loop_.accepted(), 3U);
}

TEST_F(FoldLoopTest, ACurrentSliceThatCloses) {
  EnterFirstSlice();
  loop_.BeginBatch(10);
  Add({{1, 5}, {2, 11}});
  loop_.Flush(host_);
  EXPECT_EQ(loop_.late(), 1U);
  EXPECT_EQ(host_.taken, (KeysBySlice{{1, {2}}}));
}

}  // namespace
}  // namespace glaive::engine
