// Process: functions of all records of a window of event time: tumbling, sliding, sessions; with disorder and late
// records, split tables, keys with texts and without a key. ordered_windows_test.cc has those of windows by order.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/numbered_records.h"
#include "tests/engine/typed_keys.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// A window and a key.
using Cell = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;
using TimesOfCells = std::map<Cell, std::vector<std::int64_t>>;
using ValuesOfCells = std::map<Cell, std::vector<absl::int128>>;

/// Depends on the order of the times.
std::uint64_t MixedTimes(const std::vector<std::int64_t>& times) {
  std::uint64_t state = 7;
  for (const std::int64_t time : times) state = Mixed(state, static_cast<std::uint64_t>(time));
  return state;
}
std::uint64_t MixedRecords(std::uint64_t key, const TimeWindow& window, std::span<const TestRecord> records) {
  std::uint64_t state = 7;
  for (const TestRecord& record : records) {
    const bool fits =
        record.key == key && record.event_time_ms >= window.start_ms && record.event_time_ms < window.end_ms;
    state = fits ? Mixed(state, static_cast<std::uint64_t>(record.event_time_ms)) : 0;
  }
  return state;
}

/// The records of each key with the watermarks by which they are judged.
struct JudgedTime {
  std::int64_t time_ms;
  std::int64_t watermark_ms;
};
using Judged = std::map<std::uint64_t, std::vector<JudgedTime>>;

/// By the definition, each window by itself.
void AddToWindows(std::uint64_t key, const std::vector<JudgedTime>& records, std::int64_t size_ms,
                  std::int64_t slide_ms, TimesOfCells& cells) {
  for (const auto& [time_ms, watermark_ms] : records) {
    std::int64_t start_ms = time_ms - (time_ms % slide_ms + slide_ms) % slide_ms;
    for (; start_ms + size_ms > time_ms; start_ms -= slide_ms) {
      if (start_ms + size_ms > watermark_ms) cells[{start_ms, start_ms + size_ms, key}].push_back(time_ms);
    }
  }
}
/// Records behind the watermark are late.
void AddToSessions(std::uint64_t key, const std::vector<JudgedTime>& records, std::int64_t gap_ms,
                   TimesOfCells& cells) {
  std::vector<std::int64_t> times;
  for (const auto& [time_ms, watermark_ms] : records) {
    if (time_ms >= watermark_ms) times.push_back(time_ms);
  }
  std::ranges::sort(times);
  for (std::size_t begin = 0, end = 0; begin < times.size(); begin = end) {
    for (end = begin + 1; end < times.size() && times[end] - times[end - 1] < gap_ms; ++end) {
    }
    cells[{times[begin], times[end - 1] + gap_ms, key}].assign(times.begin() + static_cast<std::ptrdiff_t>(begin),
                                                               times.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

ValuesOfCells MixedOfCells(const TimesOfCells& cells) {
  ValuesOfCells values;
  for (auto [cell, times] : cells) {
    std::ranges::sort(times);
    values[cell] = {MixedTimes(times)};
  }
  return values;
}

template <typename K, typename T>
ValuesOfCells ValuesOf(const std::vector<std::vector<WindowResult<K, T>>>& rows) {
  ValuesOfCells values;
  for (const auto& row : Joined(rows)) {
    std::uint64_t key = 0;
    if constexpr (std::is_same_v<K, std::uint64_t>) key = row.key;
    values[{row.window_start_ms, row.window_end_ms, key}].push_back(row.value);
  }
  return values;
}

class ProcessedWindows : public OnEachShape {
 protected:
  Workload disordered() const {
    Workload workload = this->workload();
    workload.records = 4'000;
    workload.keys = 50;
    workload.span_ms = 20'000;
    workload.slot_bytes = 1'024;
    workload.epochs = {.epoch_bytes = 1, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
    return workload;
  }

  template <typename W>
  void ExpectWindows(const Workload& workload, const W& window, const Disorder& disorder,
                     const TimesOfCells& expected) const {
    std::vector<std::vector<TestRow>> rows(executors());
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload,
                              *From(DisorderedRecords(workload, disorder))
                                   .KeyBy(&TestRecord::key)
                                   .Window(window)
                                   .Process(&MixedRecords)
                                   .To(Collect(rows)),
                              outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(ValuesOf(rows), MixedOfCells(expected)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records) > 0, disorder.range_ms > disorder.bound_ms);
  }
  static Judged JudgedOf(const Workload& workload, const Disorder& disorder) {
    Judged judged;
    ForEachRecord(workload, disorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
      judged[record.key].push_back({record.event_time_ms, watermark_ms});
    });
    return judged;
  }
  void ExpectRegular(const Workload& workload, std::int64_t size_ms, std::int64_t slide_ms,
                     const Disorder& disorder) const {
    TimesOfCells expected;
    for (const auto& [key, records] : JudgedOf(workload, disorder)) {
      AddToWindows(key, records, size_ms, slide_ms, expected);
    }
    if (size_ms == slide_ms) {
      ExpectWindows(workload, Tumbling{absl::Milliseconds(size_ms)}, disorder, expected);
    } else {
      ExpectWindows(workload, Sliding{absl::Milliseconds(size_ms), absl::Milliseconds(slide_ms)}, disorder, expected);
    }
  }
  void ExpectSessions(const Workload& workload, std::int64_t gap_ms, const Disorder& disorder) const {
    TimesOfCells expected;
    for (const auto& [key, records] : JudgedOf(workload, disorder)) AddToSessions(key, records, gap_ms, expected);
    ExpectWindows(workload, Session{absl::Milliseconds(gap_ms)}, disorder, expected);
  }
};
GLAIVE_ON_EACH_SHAPE(ProcessedWindows);

constexpr Disorder kAllInTime = {.range_ms = 900, .bound_ms = 900};
constexpr Disorder kSomeLate = {.range_ms = 2'900, .bound_ms = 300};

TEST_P(ProcessedWindows, TumblingWindowsHaveAllTheirRecordsInTheOrderOfTheirTimes) {
  ExpectRegular(disordered(), 1'000, 1'000, {});
  ExpectRegular(disordered(), 1'000, 1'000, kAllInTime);
  ExpectRegular(disordered(), 1'000, 1'000, kSomeLate);
}

TEST_P(ProcessedWindows, SlidingWindowsShareTheirRecords) {
  ExpectRegular(disordered(), 1'000, 250, kAllInTime);
  ExpectRegular(disordered(), 1'000, 300, kAllInTime);
  ExpectRegular(disordered(), 700, 300, kSomeLate);
}

TEST_P(ProcessedWindows, SessionsEndWithAGap) {
  ExpectSessions(disordered(), 300, kAllInTime);
  ExpectSessions(disordered(), 300, kSomeLate);
}

/// Small thresholds split the tables of small inputs, while others are not.
TEST_P(ProcessedWindows, SplitTablesArePutTogetherLogByLog) {
  Workload workload = disordered();
  workload.thresholds.split_bytes = 2'048;
  workload.thresholds.split_bits = 3;
  workload.thresholds.entries_per_turn = 16;
  ExpectRegular(workload, 1'000, 1'000, kAllInTime);
  ExpectRegular(workload, 1'000, 300, kSomeLate);
  ExpectSessions(workload, 300, kAllInTime);
}

TEST_P(ProcessedWindows, WithoutAKeyWindowsAreOfAllRecords) {
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> rows(executors());
  Run(*From(TestSource(workload()))
           .Window(Tumbling{absl::Milliseconds(500)})
           .Process([](const TimeWindow& window, std::span<const TestRecord> records) {
             std::vector<std::int64_t> times;
             for (const TestRecord& record : records) times.push_back(record.event_time_ms);
             return window.end_ms - window.start_ms == 500 ? MixedTimes(times) : 0;
           })
           .To(Collect(rows)));
  TimesOfCells expected;
  ForEachTestRecord([&](const TestRecord& record) {
    AddToWindows(0, {{record.event_time_ms, kMinEventTimeMs}}, 500, 500, expected);
  });
  EXPECT_TRUE(SameElements(ValuesOf(rows), MixedOfCells(expected)));
}

/// None, one or many rows of a window; results are a stream with event times, late records go to a sink.
TEST_P(ProcessedWindows, MakeAnyNumberOfRowsWhichAreAStream) {
  std::vector<std::vector<TestRow>> some(executors());
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> counted(executors());
  std::vector<std::vector<LateRecord<TestRecord>>> late(executors());
  const Workload workload = disordered();
  const auto records = From(DisorderedRecords(workload, kSomeLate));
  ClusterOutcome outcome;
  outcome.status =
      RunNodes(workload,
               *Together(Stream(records)
                             .KeyBy(&TestRecord::key)
                             .Window(Tumbling{absl::Milliseconds(1'000)})
                             .AllowedLateness(absl::Milliseconds(200))
                             .LateTo(Collect(late))
                             .Process([](std::uint64_t key, const TimeWindow&, std::span<const TestRecord> all) {
                               return key % 2 == 0 ? std::optional(std::uint64_t{all.size()}) : std::nullopt;
                             })
                             .To(Collect(some)),
                         Stream(records)
                             .KeyBy(&TestRecord::key)
                             .Window(Tumbling{absl::Milliseconds(1'000)})
                             .Process([](std::uint64_t, const TimeWindow&, std::span<const TestRecord> all) {
                               return std::vector<std::uint64_t>(all.size() % 4, all.size());
                             })
                             .Window(Tumbling{absl::Milliseconds(2'000)})
                             .Aggregate(Count{})
                             .To(Collect(counted))),
               outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  std::map<Cell, std::uint64_t> in_time;
  std::map<Cell, std::uint64_t> all_in_time;
  std::uint64_t late_count = 0;
  ForEachRecord(workload, kSomeLate, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const std::int64_t start_ms = record.event_time_ms - (record.event_time_ms % 1'000 + 1'000) % 1'000;
    const Cell cell(start_ms, start_ms + 1'000, record.key);
    if (start_ms + 1'000 > watermark_ms) ++all_in_time[cell];
    if (start_ms + 1'000 > AfterLateness(watermark_ms, 200)) {
      ++in_time[cell];
    } else {
      ++late_count;
    }
  });
  ValuesOfCells expected_some;
  for (const auto& [cell, count] : in_time) {
    if (std::get<2>(cell) % 2 == 0) expected_some[cell] = {count};
  }
  ValuesOfCells expected_counts;
  for (const auto& [cell, count] : all_in_time) {
    if (count % 4 == 0) continue;
    const std::int64_t start_ms = std::get<0>(cell) - (std::get<0>(cell) % 2'000 + 2'000) % 2'000;
    auto& value = expected_counts[{start_ms, start_ms + 2'000, 0}];
    value = {(value.empty() ? 0 : value.front()) + count % 4};
  }
  EXPECT_TRUE(SameElements(ValuesOf(some), expected_some));
  EXPECT_TRUE(SameElements(ValuesOf(counted), expected_counts));
  EXPECT_EQ(Joined(late).size(), late_count);
  EXPECT_GT(late_count, 0U);
}

TEST_P(ProcessedWindows, KeysMayHaveTexts) {
  const KeyNumbers numbers = NumbersOf<Text>(workload().keys);
  std::vector<std::vector<WindowResult<Text, std::uint64_t>>> rows(executors());
  CollectedTexts texts(executors());
  Run(*From(TestSource(workload()))
           .KeyBy([](const TestRecord& record) { return KeyOf<Text>(record.key); })
           .Window(Session{absl::Milliseconds(40)})
           .Process([](const Text&, const TimeWindow&, std::span<const TestRecord> records) { return records.size(); })
           .To(Collect(rows, texts)));
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& row : Joined(rows)) counts[numbers.at(BytesOf(row.key))] += row.value;
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[record.key]; });
  EXPECT_TRUE(SameElements(counts, expected));
}

/// Of the records' texts, some of which lie elsewhere: the greatest in each window of the keys of one length.
class ProcessedTexts : public ProcessedWindows {
 protected:
  using Greatest = std::map<std::tuple<std::int64_t, std::int64_t, std::uint64_t>, std::string>;

  template <typename W>
  Greatest Processed(const W& window) {
    std::vector<std::vector<WindowResult<std::uint64_t, Text>>> rows(executors());
    CollectedTexts texts(executors());
    Run(*From(TestSource(workload()))
             .Map([](const TestRecord& record) { return KeyOf<Text>(record.key); })
             .KeyBy([](const Text& text) { return std::uint64_t{text.size()} % 3; })
             .Window(window)
             .Process([](std::uint64_t, const TimeWindow&, std::span<const Text> all) {
               return *std::ranges::max_element(all);
             })
             .To(Collect(rows, texts)));
    Greatest greatest;
    for (const auto& row : Joined(rows)) {
      greatest[{row.window_start_ms, row.window_end_ms, row.key}] = std::string(row.value.view());
    }
    return greatest;
  }
  /// The greatest text of the records of a key that are in a window.
  Greatest Expected(const TimesOfCells& windows) const {
    Greatest expected;
    for (const auto& [cell, times] : windows) {
      std::string& greatest = expected[cell];
      ForEachTestRecord([&](const TestRecord& record) {
        const std::string text(KeyOf<Text>(record.key).view());
        if (text.size() % 3 == std::get<2>(cell) && record.event_time_ms >= std::get<0>(cell) &&
            record.event_time_ms < std::get<1>(cell)) {
          greatest = std::max(greatest, text);
        }
      });
    }
    return expected;
  }
  std::map<std::uint64_t, std::vector<JudgedTime>> TimesByKey() const {
    std::map<std::uint64_t, std::vector<JudgedTime>> times;
    ForEachTestRecord([&](const TestRecord& record) {
      times[KeyOf<Text>(record.key).size() % 3].push_back({record.event_time_ms, kMinEventTimeMs});
    });
    return times;
  }
};
GLAIVE_ON_EACH_SHAPE(ProcessedTexts);

TEST_P(ProcessedTexts, AreReadAndReturnedInSlidingWindows) {
  TimesOfCells windows;
  for (const auto& [key, times] : TimesByKey()) AddToWindows(key, times, 500, 200, windows);
  EXPECT_EQ(Processed(Sliding{absl::Milliseconds(500), absl::Milliseconds(200)}), Expected(windows));
}

TEST_P(ProcessedTexts, AreReadAndReturnedInSessions) {
  TimesOfCells windows;
  for (const auto& [key, times] : TimesByKey()) AddToSessions(key, times, 5, windows);
  EXPECT_EQ(Processed(Session{absl::Milliseconds(5)}), Expected(windows));
}

TEST(ProcessedWindowsMemory, IsTheRunsBudget) {
  Workload workload{.records = 400'000, .max_lead_ms = 200};
  workload.state_limit_bytes = std::uint64_t{6} << 20;
  std::vector<ExecutorMetrics> metrics;
  const auto status_of = [&](const auto& window) {
    const auto query = From(TestSource(workload))
                           .KeyBy(&TestRecord::key)
                           .Window(window)
                           .Process([](std::uint64_t, const TimeWindow&, std::span<const TestRecord> records) {
                             return records.size();
                           })
                           .To(Discard{});
    metrics.clear();
    return RunExecutors(workload, *query, 1, metrics);
  };
  const absl::Status large = status_of(Tumbling{absl::Hours(1)});
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.message()),
              ::testing::ContainsRegex("; Process\\(\\) of tumbling windows stores [0-9]+ records of [0-9]+ bytes"));
  const absl::Status small = status_of(Tumbling{absl::Milliseconds(100)});
  EXPECT_TRUE(small.ok()) << small;
}

}  // namespace
}  // namespace glaive::engine
