// Windows by the order of records: count windows, tumbling and sliding, and transaction windows; of keys and of all
// records; aggregates of them, and functions of their whole content; their memory.

#include "engine/window/ordered_windows.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "state/record/record.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/numbered_records.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// A record with a text.
struct LabelledNumber {
  Text label;
  std::uint64_t number;
};
GLAIVE_RECORD(LabelledNumber, label, number)

/// A window's number, how many records it has, and a value that depends on their order.
using ShownWindow = std::tuple<std::uint64_t, std::uint64_t, absl::int128>;
using ShownByKey = std::map<std::uint64_t, std::vector<ShownWindow>>;
/// A key's windows, each with the records that it has.
using CutWindows = std::function<std::vector<std::vector<Numbered>>(const std::vector<Numbered>&)>;

/// Each key's records, in their order.
std::map<std::uint64_t, std::vector<Numbered>> NumberedByKey(std::uint32_t executors) {
  std::map<std::uint64_t, std::vector<Numbered>> all;
  for (std::uint64_t reader = 0; reader < executors; ++reader) {
    for (std::uint64_t number = 0; number < kNumbered; ++number) {
      const std::uint64_t key = number % kKeysOfReader * 8 + reader;
      all[key].push_back({.key = key, .reader = reader, .number = number});
    }
  }
  return all;
}

/// By the definition: window w begins at record w * slide. Of those that the end cuts off, the first.
CutWindows ByCount(std::uint64_t size, std::uint64_t slide) {
  return [=](const std::vector<Numbered>& records) {
    std::vector<std::vector<Numbered>> windows;
    for (std::uint64_t begin = 0; begin < records.size(); begin += slide) {
      const std::uint64_t end = std::min<std::uint64_t>(begin + size, records.size());
      windows.emplace_back(records.begin() + static_cast<std::ptrdiff_t>(begin),
                           records.begin() + static_cast<std::ptrdiff_t>(end));
      if (begin + size > records.size()) break;
    }
    return windows;
  };
}

std::uint64_t MixedOf(const std::vector<Numbered>& records) {
  std::uint64_t state = 7;
  for (const Numbered& record : records) state = Mixed(state, record.number);
  return state;
}
std::uint64_t SizeOf(const std::vector<Numbered>& records) { return records.size(); }

ShownByKey ExpectedWindows(std::uint32_t executors, const CutWindows& cut,
                           std::uint64_t (*value)(const std::vector<Numbered>&)) {
  ShownByKey expected;
  for (const auto& [key, records] : NumberedByKey(executors)) {
    for (const auto& window : cut(records)) {
      expected[key].push_back({expected[key].size(), window.size(), value(window)});
    }
  }
  return expected;
}

template <typename T>
ShownByKey ShownOf(const std::vector<std::vector<NumberedResult<std::uint64_t, T>>>& rows) {
  ShownByKey shown;
  for (const auto& row : Joined(rows)) {
    shown[row.key].emplace_back(row.window, row.records, row.value);
  }
  return shown;
}

class OrderedWindows : public OnEachShape {
 protected:
  template <typename T>
  using Rows = std::vector<std::vector<NumberedResult<std::uint64_t, T>>>;

  template <typename W, typename A>
  auto RowsOf(const W& window, const A& aggregate) {
    using Value = decltype(typename A::template Value<Numbered>().Result());
    Rows<Value> rows(executors());
    Run(*NumberedRecords().KeyBy(&Numbered::key).Window(window).Aggregate(aggregate).To(Collect(rows)));
    return rows;
  }
  /// A function of all records of each window, in their order.
  template <typename W>
  ShownByKey Processed(const W& window) {
    Rows<std::uint64_t> rows(executors());
    const auto mix = [](std::uint64_t key, NumberedWindow, std::span<const Numbered> records) {
      std::uint64_t state = 7;
      for (const Numbered& record : records) {
        state = record.key == key ? Mixed(state, record.number) : 0;
      }
      return state;
    };
    Run(*NumberedRecords().KeyBy(&Numbered::key).Window(window).Process(mix).To(Collect(rows)));
    return ShownOf(rows);
  }
  void ExpectWindows(const CountWindow& window) {
    const CutWindows cut = ByCount(window.size, window.slide);
    EXPECT_TRUE(SameElements(ShownOf(RowsOf(window, Count{})), ExpectedWindows(executors(), cut, &SizeOf)))
        << window.size << " every " << window.slide;
    EXPECT_TRUE(SameElements(Processed(window), ExpectedWindows(executors(), cut, &MixedOf)))
        << window.size << " every " << window.slide;
  }
};
GLAIVE_ON_EACH_SHAPE(OrderedWindows);

// Each key has 98 or 99 records.
TEST_P(OrderedWindows, CountWindowsFollowEachOther) {
  for (const std::uint64_t size : {1, 2, 10, 33, 98, 99, 100, 1'000}) ExpectWindows({.size = size});
}

TEST_P(OrderedWindows, CountWindowsSlide) {
  ExpectWindows({.size = 10, .slide = 5});
  ExpectWindows({.size = 10, .slide = 3});
  ExpectWindows({.size = 3, .slide = 2});
  ExpectWindows({.size = 7, .slide = 1});
  ExpectWindows({.size = 40, .slide = 39});
  ExpectWindows({.size = 150, .slide = 30});
}

TEST_P(OrderedWindows, AllAggregatesAreOfTheWindowsRecords) {
  const auto number = [](const Numbered& record) { return record.number; };
  const auto rows = RowsOf(CountWindow{.size = 10, .slide = 4},
                           Several{Sum{number}, Min{number}, Max{number}, First{number, &Numbered::reader},
                                   Last{number, number}, Mean{number}, TopK<2>(number)});
  ShownByKey windows = ExpectedWindows(executors(), ByCount(10, 4), &SizeOf);
  const auto records = NumberedByKey(executors());
  std::uint64_t count = 0;
  for (const auto& row : Joined(rows)) {
    const auto& of_key = records.at(row.key);
    const std::uint64_t first = of_key[row.window * 4].number;
    const std::uint64_t last = of_key[row.window * 4 + row.records - 1].number;
    const auto& [sum, min, max, first_reader, last_number, mean, top] = row.value;
    ASSERT_EQ(row.records, std::get<1>(windows.at(row.key).at(row.window)));
    EXPECT_EQ(sum, absl::int128((first + last) * row.records / 2));
    EXPECT_EQ(std::tuple(min, max, last_number), std::tuple(first, last, last));
    EXPECT_EQ(first_reader, row.key % 8);
    EXPECT_DOUBLE_EQ(*mean, static_cast<double>(first + last) / 2);
    EXPECT_EQ(top.front(), last);
    ++count;
  }
  std::uint64_t expected = 0;
  for (const auto& [key, of_key] : windows) expected += of_key.size();
  EXPECT_EQ(count, expected);
}

/// All records are at executor 0, those of each executor in their order.
TEST_P(OrderedWindows, WithoutAKeyWindowsAreOfAllRecords) {
  std::vector<std::vector<NumberedResult<AllRecords, std::uint64_t>>> counts(executors());
  std::vector<std::vector<NumberedResult<AllRecords, Order>>> orders(executors());
  const auto records = NumberedRecords();
  const std::uint64_t all = executors() * kNumbered;
  Run(*Together(Stream(records).Window(CountWindow{.size = 1'000, .slide = 300}).Aggregate(Count{}).To(Collect(counts)),
                Stream(records)
                    .Window(CountWindow{.size = all})
                    .Process([](NumberedWindow, std::span<const Numbered> window) {
                      Order order;
                      for (const Numbered& record : window) NoteOrder(order, record);
                      return order;
                    })
                    .To(Collect(orders))));
  for (std::size_t executor = 1; executor < counts.size(); ++executor) EXPECT_TRUE(counts[executor].empty());
  std::uint64_t window = 0;
  for (std::uint64_t begin = 0; begin + 1'000 <= all; begin += 300) {
    ASSERT_LT(window, counts[0].size());
    EXPECT_EQ(counts[0][window], (NumberedResult<AllRecords, std::uint64_t>{window, 1'000, {}, 1'000}));
    ++window;
  }
  ASSERT_EQ(counts[0].size(), window + 1) << "and one that is not complete";
  EXPECT_EQ(counts[0].back().records, all - window * 300);
  ASSERT_EQ(orders[0].size(), 1U);
  EXPECT_EQ(orders[0][0].records, all);
  EXPECT_EQ(orders[0][0].value.disorder, 0U);
}

/// Function of the key, the window and its records: rows of none, one or many.
TEST_P(OrderedWindows, AFunctionOfAWindowMakesAnyNumberOfRows) {
  Rows<std::uint64_t> some(executors());
  Rows<std::uint64_t> many(executors());
  const auto records = NumberedRecords();
  Run(*Together(Stream(records)
                    .KeyBy(&Numbered::key)
                    .Window(CountWindow{.size = 10})
                    .Process([](std::uint64_t, NumberedWindow window, std::span<const Numbered> all) {
                      return window.number % 3 == 0 ? std::optional(all.front().number) : std::nullopt;
                    })
                    .To(Collect(some)),
                Stream(records)
                    .KeyBy(&Numbered::key)
                    .Window(CountWindow{.size = 10})
                    .Process([](std::uint64_t, NumberedWindow window, std::span<const Numbered> all) {
                      std::vector<std::uint64_t> numbers;
                      for (const Numbered& record : all.first(std::min(window.number % 4, all.size()))) {
                        numbers.push_back(record.number);
                      }
                      return numbers;
                    })
                    .To(Collect(many))));
  ShownByKey expected_some;
  ShownByKey expected_many;
  for (const auto& [key, of_key] : NumberedByKey(executors())) {
    const auto windows = ByCount(10, 10)(of_key);
    for (std::uint64_t number = 0; number < windows.size(); ++number) {
      const auto& window = windows[number];
      if (number % 3 == 0) expected_some[key].push_back({number, window.size(), window.front().number});
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(number % 4, window.size()); ++i) {
        expected_many[key].push_back({number, window.size(), window[i].number});
      }
    }
  }
  EXPECT_TRUE(SameElements(ShownOf(some), expected_some));
  EXPECT_TRUE(SameElements(ShownOf(many), expected_many));
}

/// What a numbered record is, by its number alone.
InTransaction KindByNumber(const Numbered& record) {
  switch (record.number * 7 / 5 % 11) {
    case 0:
      return InTransaction::kOpens;
    case 1:
    case 2:
      return InTransaction::kCloses;
    case 3:
      return InTransaction::kCancels;
    case 4:
    case 5:
    case 6:
      return InTransaction::kIsInside;
    default:
      return InTransaction::kGoesOn;
  }
}

/// By the definition of each kind.
std::vector<std::vector<Numbered>> CutByKind(const std::vector<Numbered>& records) {
  std::vector<std::vector<Numbered>> windows;
  std::vector<Numbered> open;
  const auto complete = [&] {
    if (!open.empty()) windows.push_back(std::exchange(open, {}));
  };
  for (const Numbered& record : records) {
    const InTransaction kind = KindByNumber(record);
    if (kind == InTransaction::kOpens) complete();
    if (kind == InTransaction::kCancels) open.clear();
    if (kind == InTransaction::kOpens || kind == InTransaction::kGoesOn || kind == InTransaction::kCloses ||
        (kind == InTransaction::kIsInside && !open.empty())) {
      open.push_back(record);
    }
    if (kind == InTransaction::kCloses) complete();
  }
  complete();
  return windows;
}

TEST_P(OrderedWindows, TransactionsOpenAndCloseByTheirRecords) {
  const Transaction window(&KindByNumber);
  EXPECT_TRUE(SameElements(ShownOf(RowsOf(window, Count{})), ExpectedWindows(executors(), &CutByKind, &SizeOf)));
  EXPECT_TRUE(SameElements(Processed(window), ExpectedWindows(executors(), &CutByKind, &MixedOf)));
  std::map<InTransaction, int> met;
  for (const auto& [key, records] : NumberedByKey(executors())) {
    for (const Numbered& record : records) ++met[KindByNumber(record)];
  }
  EXPECT_EQ(met.size(), 5U) << "or this tests little";
}

TEST_P(OrderedWindows, TransactionsWithoutAKeyAreOfAllRecords) {
  std::vector<std::vector<NumberedResult<AllRecords, std::uint64_t>>> rows(executors());
  // The last record of an executor closes the window of all records before it.
  Run(*NumberedRecords()
           .Window(Transaction([](const Numbered& record) {
             return record.number + 1 == kNumbered ? InTransaction::kCloses : InTransaction::kGoesOn;
           }))
           .Aggregate(Count{})
           .To(Collect(rows)));
  ASSERT_EQ(rows[0].size(), executors());
  std::uint64_t count = 0;
  for (const auto& row : rows[0]) count += row.value;
  EXPECT_EQ(count, executors() * kNumbered);
}

/// Results have the event times of their last records, and none is late for windows of event time.
TEST_P(OrderedWindows, ResultsHaveTheTimesOfTheirLastRecords) {
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*From(TestSource(workload()))
                                    .KeyBy([](const TestRecord& record) { return record.key % 5; })
                                    .Window(CountWindow{.size = 10})
                                    .Process([](std::uint64_t, NumberedWindow, std::span<const TestRecord> records) {
                                      return records.back().event_time_ms;
                                    })
                                    .Filter([](const auto& row) { return row.records == 10; })
                                    .KeyBy([](const auto& row) { return static_cast<std::uint64_t>(row.value / 300); })
                                    .Window(Tumbling{absl::Milliseconds(300)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  std::map<std::uint64_t, std::uint64_t> records_of_key;
  ForEachTestRecord([&](const TestRecord& record) { ++records_of_key[record.key % 5]; });
  std::uint64_t expected = 0;
  for (const auto& [key, records] : records_of_key) expected += records / 10;
  std::uint64_t windows = 0;
  for (const TestRow& row : Joined(rows)) {
    windows += row.value;
    // Of one executor, watermarks are behind the records that they cover.
    if (executors() == 1) EXPECT_EQ(row.window_start_ms, static_cast<std::int64_t>(row.key) * 300);
  }
  EXPECT_EQ(windows, expected);
}

/// Keys and records with texts of all lengths, and rows with texts of them.
TEST_P(OrderedWindows, RecordsMayHaveTexts) {
  const auto word = [](std::uint64_t number) {
    return std::string(number % 40, static_cast<char>('a' + number % 7)) + std::to_string(number % 23);
  };
  constexpr std::uint64_t kWords = 4'000;
  std::vector<std::string> words;
  for (std::uint64_t number = 0; number < kWords; ++number) words.push_back(word(number));
  using Row = NumberedResult<Text, Text>;
  std::vector<std::vector<Row>> rows(executors());
  CollectedTexts texts(executors());
  Run(*FromParallel([](const SourceContext& context) {
         return [number = context.executor == ExecutorId{0} ? std::uint64_t{0}
                                                            : kWords]() mutable -> std::optional<std::uint64_t> {
           return number == kWords ? std::nullopt : std::optional(number++);
         };
       })
           .Map([&words](std::uint64_t number) {
             return LabelledNumber{.label = Text(words[number]), .number = number};
           })
           .KeyBy([](const LabelledNumber& each) { return Text(each.label.view().substr(0, each.label.size() / 2)); })
           .Window(CountWindow{.size = 7, .slide = 3})
           .Process(
               [](const Text&, NumberedWindow, std::span<const LabelledNumber> window) { return window.back().label; })
           .To(Collect(rows, texts)));
  std::map<std::string, std::vector<std::string>> by_key;
  for (const std::string& each : words) by_key[each.substr(0, each.size() / 2)].push_back(each);
  std::map<std::string, std::vector<std::string>> expected;
  for (const auto& [key, of_key] : by_key) {
    for (std::size_t begin = 0; begin < of_key.size(); begin += 3) {
      expected[key].push_back(of_key[std::min(begin + 7, of_key.size()) - 1]);
      if (begin + 7 > of_key.size()) break;
    }
  }
  std::map<std::string, std::vector<std::string>> shown;
  for (const Row& row : Joined(rows)) shown[std::string(row.key.view())].emplace_back(row.value.view());
  EXPECT_TRUE(SameElements(shown, expected));
}

/// More keys than a record each: windows live on while the index grows.
TEST_P(OrderedWindows, ManyKeysHaveTheirWindowsWhileTheIndexGrows) {
  constexpr std::uint64_t kKeys = kSanitized ? 30'000 : 100'000;
  Rows<std::uint64_t> rows(executors());
  const ClusterOutcome outcome =
      Run(*FromRange(0, 3 * kKeys)
               .KeyBy([](std::uint64_t n) { return n % kKeys; })
               .Window(CountWindow{.size = 2})
               .Process([](std::uint64_t, NumberedWindow, std::span<const std::uint64_t> all) { return all.size(); })
               .To(Collect(rows)));
  std::vector<std::uint64_t> records(kKeys);
  for (const auto& row : Joined(rows)) {
    ASSERT_EQ(row.records, row.value);
    ASSERT_EQ(row.records, row.window == 0 ? 2U : 1U);
    records[row.key] += row.records;
  }
  EXPECT_TRUE(std::ranges::all_of(records, [](std::uint64_t count) { return count == 3; }));
  EXPECT_GT(Total(outcome, &ExecutorMetrics::index_growths), 4U) << "or this tests little";
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::windows_fired), 2 * kKeys);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::windows_fired_early), kKeys);
}

/// Windows that do not fit end the run with the budget's error, which says what is stored; memory is given back.
TEST(OrderedWindowsMemory, IsTheRunsBudget) {
  Workload workload{.records = 400'000, .keys = 16};
  workload.state_limit_bytes = std::uint64_t{6} << 20;
  std::vector<ExecutorMetrics> metrics;
  const auto status_of = [&](std::uint64_t size) {
    const auto query =
        From(TestSource(workload))
            .KeyBy(&TestRecord::key)
            .Window(CountWindow{.size = size})
            .Process([](std::uint64_t, NumberedWindow, std::span<const TestRecord> records) { return records.size(); })
            .To(Discard{});
    return RunExecutors(workload, *query, 1, metrics);
  };
  const absl::Status large = status_of(1'000'000);
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.message()),
              ::testing::ContainsRegex("; the windows of 1000000 records store 16 keys of [0-9]+ bytes and [0-9]+ "
                                       "records of [0-9]+ bytes"));
  EXPECT_THAT(std::string(large.message()), ::testing::HasSubstr("--memory-limit"));
  metrics.clear();
  const absl::Status small = status_of(1'000);
  EXPECT_TRUE(small.ok()) << small;
}

TEST(CountWindowSpec, DiesOfAWindowThatMakesNoSense) {
  EXPECT_DEATH(CountWindows({.size = 0}), "a count window of 0 records every 0; both must be at least 1");
  EXPECT_DEATH(CountWindows({.size = 5, .slide = 0}), "5 records every 0");
  EXPECT_DEATH(CountWindows({.size = 5, .slide = 6}), "5 records every 6");
}

}  // namespace
}  // namespace glaive::engine
