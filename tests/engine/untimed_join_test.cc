// Joins without windows of streams without event times: the pairs of a nested loop, and no stream waits for another.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/sink/collect.h"
#include "engine/sink/for_each.h"
#include "engine/source/block_source.h"
#include "engine/source/line_source.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

struct Item {
  std::uint64_t key;
  std::uint64_t number;
};

/// A key, and the numbers of both items, if there are both.
using ItemPair = std::tuple<std::uint64_t, std::optional<std::uint64_t>, std::optional<std::uint64_t>>;
using ItemPairs = std::multiset<ItemPair>;

constexpr std::uint64_t kLeftItems = 3'000;
constexpr std::uint64_t kRightItems = 500;
constexpr absl::Duration kPatience = absl::Seconds(30);

Item ItemOf(std::uint64_t number) { return {.key = number * 7 % 300, .number = number}; }
/// Some records of either side have no partner.
bool IsLeftItem(const Item& item) { return item.key % 5 != 0; }
bool IsRightItem(const Item& item) { return item.key % 7 != 0; }

auto LeftItems() { return FromRange(0, kLeftItems).Map(&ItemOf).Filter(&IsLeftItem); }
auto RightItems() { return FromRange(0, kRightItems).Map(&ItemOf).Filter(&IsRightItem); }

ItemPairs Expected(JoinKind kind) {
  std::map<std::uint64_t, std::array<std::vector<std::uint64_t>, 2>> groups;
  const auto add = [&](std::size_t side, std::uint64_t count, bool (*is_of_side)(const Item&)) {
    for (std::uint64_t number = 0; number < count; ++number) {
      if (const Item item = ItemOf(number); is_of_side(item)) groups[item.key][side].push_back(number);
    }
  };
  add(0, kLeftItems, &IsLeftItem);
  add(1, kRightItems, &IsRightItem);
  const bool has_pairs = kind != JoinKind::kSemi && kind != JoinKind::kAnti;
  ItemPairs pairs;
  for (const auto& [key, numbers] : groups) {
    for (const std::uint64_t left : numbers[0]) {
      for (const std::uint64_t right : numbers[1]) {
        if (has_pairs) pairs.insert({key, left, right});
      }
      const bool alone =
          numbers[1].empty() ? kind != JoinKind::kInner && kind != JoinKind::kSemi : kind == JoinKind::kSemi;
      if (alone) pairs.insert({key, left, std::nullopt});
    }
    for (const std::uint64_t right : numbers[1]) {
      if (numbers[0].empty() && kind == JoinKind::kFull) pairs.insert({key, std::nullopt, right});
    }
  }
  return pairs;
}

class UntimedJoins : public OnEachShape {
 protected:
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 4'000;
    return workload;
  }

  template <JoinKind kKind>
  auto Keyed() const {
    return JoinOfKind<kKind>(LeftItems(), RightItems()).On(&Item::key, &Item::key);
  }

  /// Runs an unwindowed join of both streams, and expects the pairs of the nested loop.
  template <JoinKind kKind, typename Joined>
  void ExpectPairs(Joined joined) const {
    constexpr bool kOneSide = kKind == JoinKind::kSemi || kKind == JoinKind::kAnti;
    using Left = std::conditional_t<kKind == JoinKind::kFull, std::optional<std::uint64_t>, std::uint64_t>;
    using Right = std::conditional_t<kKind == JoinKind::kInner, std::uint64_t, std::optional<std::uint64_t>>;
    using Value = std::conditional_t<kOneSide, std::uint64_t, std::tuple<Left, Right>>;
    std::vector<std::vector<WindowResult<std::uint64_t, Value>>> rows(executors());
    auto windowed = std::move(joined).Window(Unbounded{});
    if constexpr (kOneSide) {
      Run(*std::move(windowed).Keep(&Item::number).To(Collect(rows)));
    } else {
      Run(*std::move(windowed).Keep(&Item::number, &Item::number).To(Collect(rows)));
    }
    ItemPairs found;
    for (const auto& of_executor : rows) {
      for (const auto& row : of_executor) {
        if constexpr (kOneSide) {
          found.insert({row.key, row.value, std::nullopt});
        } else {
          found.insert({row.key, std::get<0>(row.value), std::get<1>(row.value)});
        }
      }
    }
    const ItemPairs expected = Expected(kKind);
    EXPECT_GT(expected.size(), 200U) << "or this tests little";
    EXPECT_TRUE(SameElements(found, expected)) << JoinName(kKind);
  }

  /// Of each executor more event time than --max-lead, in small batches.
  Workload timed() const {
    Workload workload = this->workload();
    workload.batch_records = 100;
    workload.max_lead_ms = 100;
    return workload;
  }

  /// Joins a stream of TestRecord with a queue that gets an item for each key once `count` records of it have been
  /// read.
  template <typename S>
  void ExpectDoesNotWait(S stream, std::uint64_t count, const std::map<std::uint64_t, std::uint64_t>& expected) const {
    const std::uint64_t keys = workload().keys;
    RecordQueue<Item> queue(keys);
    std::atomic<std::uint64_t> read = 0;
    bool is_too_late = false;
    std::thread feed([&] {
      is_too_late = !Waits([&] { return read == count; });
      for (std::uint64_t key = 0; key < keys; ++key) EXPECT_TRUE(queue.Push({.key = key, .number = key}));
      queue.Close();
    });
    std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executors());
    const auto query = Join(std::move(stream).Inspect([&read](const TestRecord&) { ++read; }), FromQueue(queue))
                           .On(&TestRecord::key, &Item::key)
                           .Window(Unbounded{})
                           .Keep(&TestRecord::kind, &Item::number)
                           .KeyBy([](const auto& row) { return row.key; })
                           .Aggregate(Count{})
                           .To(Collect(rows));
    ClusterOutcome outcome;
    outcome.status = RunNodes(timed(), *query, outcome.metrics);
    queue.Close();
    feed.join();
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_FALSE(is_too_late);
    std::map<std::uint64_t, std::uint64_t> found;
    for (const auto& of_executor : rows) {
      for (const auto& row : of_executor) found[row.key] += row.value;
    }
    EXPECT_TRUE(SameElements(found, expected));
  }

  /// Whether it holds before long.
  static bool Waits(absl::FunctionRef<bool()> holds) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!holds() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(1));
    return holds();
  }
};

TEST_P(UntimedJoins, EachKindHasThePairsOfANestedLoop) {
  ExpectPairs<JoinKind::kInner>(Keyed<JoinKind::kInner>());
  ExpectPairs<JoinKind::kLeft>(Keyed<JoinKind::kLeft>());
  ExpectPairs<JoinKind::kFull>(Keyed<JoinKind::kFull>());
  ExpectPairs<JoinKind::kSemi>(Keyed<JoinKind::kSemi>());
  ExpectPairs<JoinKind::kAnti>(Keyed<JoinKind::kAnti>());
}

TEST_P(UntimedJoins, BothStreamsMoveByKey) {
  ExpectPairs<JoinKind::kInner>(Keyed<JoinKind::kInner>().Ship(BothByKey{}));
  ExpectPairs<JoinKind::kFull>(Keyed<JoinKind::kFull>().Ship(BothByKey{}));
  ExpectPairs<JoinKind::kAnti>(Keyed<JoinKind::kAnti>().Ship(BothByKey{}));
}

TEST_P(UntimedJoins, TheRightStreamMovesToAll) {
  ExpectPairs<JoinKind::kLeft>(Keyed<JoinKind::kLeft>().Ship(RightToAll{}));
  ExpectPairs<JoinKind::kSemi>(Keyed<JoinKind::kSemi>().Ship(RightToAll{}));
}

TEST_P(UntimedJoins, BothSidesAreSorted) {
  ExpectPairs<JoinKind::kFull>(Keyed<JoinKind::kFull>().Local(SortMerge{}));
  ExpectPairs<JoinKind::kSemi>(Keyed<JoinKind::kSemi>().Ship(BothByKey{}).Local(SortMerge{}));
}

/// The second pair comes when all flows have been idle.
TEST_P(UntimedJoins, PairsComeAsSoonAsBothRecordsAreThere) {
  RecordQueue<Item> left(10);
  RecordQueue<Item> right(10);
  std::atomic<std::uint64_t> pairs = 0;
  bool is_too_late = false;
  std::thread feed([&] {
    left.Push({.key = 1, .number = 1});
    right.Push({.key = 1, .number = 2});
    is_too_late = !Waits([&] { return pairs == 1; });
    absl::SleepFor(absl::Milliseconds(200));
    left.Push({.key = 1, .number = 3});
    is_too_late = !Waits([&] { return pairs == 2; }) || is_too_late;
    left.Close();
    right.Close();
  });
  Workload workload = this->workload();
  workload.idle_timeout_ns = 20'000'000;
  const auto query = Join(FromQueue(left), FromQueue(right))
                         .On(&Item::key, &Item::key)
                         .Window(Unbounded{})
                         .To(ForEach([&pairs](const auto& /*row*/) { ++pairs; }));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  left.Close();
  right.Close();
  feed.join();
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_FALSE(is_too_late);
  EXPECT_EQ(pairs, 2U);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::idle_periods), 0U);
}

TEST_P(UntimedJoins, AStreamWithEventTimesDoesNotWaitForOneThatHasNone) {
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[record.key]; });
  ExpectDoesNotWait(From(TestSource(timed())), executors() * workload().records, expected);
}

/// Each repetition of a block adds to its times, which are none here.
TEST_P(UntimedJoins, ABlockThatIsRepeatedDoesNotWait) {
  constexpr std::uint64_t kTimes = 3;
  const Workload workload = timed();
  const auto open = [workload](const SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<TestRecord> block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] = MakeRecord(workload, Value(context.executor), first + i);
      }
    };
    return BlockSource<TestRecord, NoEventTime>::Create(
        {.block_records = workload.records, .total_records = kTimes * workload.records, .span_ms = workload.span_ms},
        *context.clock, generate, {});
  };
  std::map<std::uint64_t, std::uint64_t> expected;
  ForEachTestRecord([&](const TestRecord& record) { expected[record.key] += kTimes; });
  ExpectDoesNotWait(From(SourceSpec<TestRecord, NoEventTime>{.open = open, .event_time_ms = {}}),
                    executors() * workload.records * kTimes, expected);
}

TEST_P(UntimedJoins, RecordsAreJoinedWithTheTotalsOfTheirKeys) {
  using Total = WindowResult<std::uint64_t, std::uint64_t>;
  const auto records = From(TestSource(timed()));
  std::vector<std::vector<WindowResult<std::uint64_t, std::tuple<std::int64_t, std::uint64_t>>>> rows(executors());
  const auto query = Join(Stream(records), Stream(records).KeyBy(&TestRecord::key).Aggregate(Count{}))
                         .On(&TestRecord::key, &Total::key)
                         .Window(Unbounded{})
                         .Keep(&TestRecord::event_time_ms, &Total::value)
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(timed(), *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  std::map<std::uint64_t, std::vector<std::int64_t>> times;
  ForEachTestRecord([&](const TestRecord& record) { times[record.key].push_back(record.event_time_ms); });
  std::multiset<std::tuple<std::uint64_t, std::int64_t, std::uint64_t>> expected;
  for (const auto& [key, of_key] : times) {
    for (const std::int64_t time_ms : of_key) expected.insert({key, time_ms, of_key.size()});
  }
  std::multiset<std::tuple<std::uint64_t, std::int64_t, std::uint64_t>> found;
  for (const auto& of_executor : rows) {
    for (const auto& row : of_executor) found.insert({row.key, std::get<0>(row.value), std::get<1>(row.value)});
  }
  EXPECT_TRUE(SameElements(found, expected));
}

/// A third stream, of the numbers of the right items.
TEST_P(UntimedJoins, TheResultsOfAJoinAreJoinedAgain) {
  using Row = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;
  std::vector<std::vector<Row>> rows(executors());
  const auto square = [](std::uint64_t number) { return number * number % 50; };
  Run(*Join(Keyed<JoinKind::kInner>().Window(Unbounded{}).Keep(&Item::number, &Item::number), FromRange(0, kRightItems))
           .On([](const Row& pair) { return std::get<1>(pair.value); }, square)
           .Window(Unbounded{})
           .Keep([](const Row& pair) { return std::get<0>(pair.value); }, std::identity())
           .To(Collect(rows)));
  using Triple = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  std::multiset<Triple> expected;
  for (const auto& [key, left, right] : Expected(JoinKind::kInner)) {
    for (std::uint64_t number = 0; number < kRightItems; ++number) {
      if (square(number) == *right) expected.insert({*right, *left, number});
    }
  }
  std::multiset<Triple> found;
  for (const auto& of_executor : rows) {
    for (const Row& row : of_executor) found.insert({row.key, std::get<0>(row.value), std::get<1>(row.value)});
  }
  EXPECT_GT(expected.size(), 200U) << "or this tests little";
  EXPECT_TRUE(SameElements(found, expected));
}

TEST_P(UntimedJoins, LinesOfFilesAreJoined) {
  constexpr std::uint64_t kLines = 2'000;
  const TemporaryFolder folder;
  std::string text;
  for (std::uint64_t line = 0; line < kLines; ++line) text += std::string(line % 20, 'x') + "\n";
  std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executors());
  Run(*Join(From(Lines(Listed({WriteText(folder.path() / "lines.txt", text)}))), FromRange(5, 50))
           .On([](const TextLine& line) { return std::uint64_t{line.text.size()}; }, std::identity())
           .Window(Unbounded{})
           .KeyBy([](const auto& row) { return row.key; })
           .Aggregate(Count{})
           .To(Collect(rows)));
  std::map<std::uint64_t, std::uint64_t> found;
  for (const auto& of_executor : rows) {
    for (const auto& row : of_executor) found[row.key] += row.value;
  }
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t length = 5; length < 20; ++length) expected[length] = kLines / 20;
  EXPECT_TRUE(SameElements(found, expected));
}

GLAIVE_ON_EACH_SHAPE(UntimedJoins);

}  // namespace
}  // namespace glaive::engine
