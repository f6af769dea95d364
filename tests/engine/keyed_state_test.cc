// States of keys: RichMap and its relatives by key, Scan; keys and states of all sizes, and the memory of states.
// fold_test.cc has Fold and Reduce.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/numbered_records.h"
#include "tests/engine/typed_keys.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// A key, and which of its records this is.
struct Nth {
  std::uint64_t key;
  std::uint64_t n;

  friend auto operator<=>(const Nth&, const Nth&) = default;
};

class KeyedStates : public OnEachShape {
 protected:
  /// For each key, {key, 1}, {key, 2}, ..., as often as it has records.
  std::vector<Nth> NthOfAll() const {
    std::map<std::uint64_t, std::uint64_t> counts;
    std::vector<Nth> all;
    ForEachTestRecord([&](const TestRecord& record) { all.push_back({record.key, ++counts[record.key]}); });
    return all;
  }
};
GLAIVE_ON_EACH_SHAPE(KeyedStates);

Nth CountOfKey(std::uint64_t& count, const TestRecord& record) { return {record.key, ++count}; }

TEST_P(KeyedStates, RichMapHasAStateOfEachKey) {
  std::vector<std::vector<Nth>> rows(executors());
  Run(*From(TestSource(workload())).KeyBy(&TestRecord::key).RichMap(std::uint64_t{0}, &CountOfKey).To(Collect(rows)));
  EXPECT_TRUE(SameElements(Joined(rows), NthOfAll()));
  std::map<std::uint64_t, std::set<std::size_t>> executors_of;
  for (std::size_t executor = 0; executor < rows.size(); ++executor) {
    for (const Nth& row : rows[executor]) executors_of[row.key].insert(executor);
  }
  for (const auto& [key, its] : executors_of) EXPECT_EQ(its.size(), 1U) << "key " << key;
}

TEST_P(KeyedStates, RichFilterMapDropsAndRichFlatMapMultiplies) {
  std::vector<std::vector<Nth>> rows(executors());
  Run(*From(TestSource(workload()))
           .KeyBy(&TestRecord::key)
           .RichFilterMap(std::uint64_t{0},
                          [](std::uint64_t& count, const TestRecord& record) {
                            const Nth nth = CountOfKey(count, record);
                            return nth.n % 3 == 0 ? std::optional(nth) : std::nullopt;
                          })
           .KeyBy(&Nth::key)
           .RichFlatMap(std::uint64_t{0},
                        [](std::uint64_t& sum, const Nth& nth) {
                          sum += nth.n;
                          return std::vector<Nth>(nth.n % 5, {nth.key, sum});
                        })
           .To(Collect(rows)));
  std::vector<Nth> expected;
  std::map<std::uint64_t, std::uint64_t> sums;
  for (const Nth& nth : NthOfAll()) {
    if (nth.n % 3 != 0) continue;
    sums[nth.key] += nth.n;
    expected.insert(expected.end(), nth.n % 5, {nth.key, sums[nth.key]});
  }
  EXPECT_TRUE(SameElements(Joined(rows), expected));
}

TEST_P(KeyedStates, ScanShowsTheStateBehindEachRecord) {
  std::vector<std::vector<KeyedState<std::uint64_t, std::uint64_t>>> rows(executors());
  Run(*NumberedRecords().KeyBy(&Numbered::key).Scan(std::uint64_t{7}, &MixIn).To(Collect(rows)));
  std::map<std::uint64_t, std::vector<std::uint64_t>> expected;
  ForEachMixed(executors(), [&](std::uint64_t key, std::uint64_t state) { expected[key].push_back(state); });
  std::map<std::uint64_t, std::vector<std::uint64_t>> shown;
  for (const auto& row : Joined(rows)) shown[row.key].push_back(row.value);
  EXPECT_TRUE(SameElements(shown, expected)) << "each key's rows are in the order of its records";
}

TEST_P(KeyedStates, APartitionedStreamMovesOnce) {
  const auto count = [](std::uint64_t& n, const Numbered&) { ++n; };
  std::vector<std::vector<TestRow>> rows(executors());
  std::vector<std::vector<KeyedState<std::uint64_t, std::uint64_t>>> states(executors());
  auto partitioned = NumberedRecords().KeyBy(&Numbered::key).Partition();
  auto copy = partitioned;
  const auto query = Together(std::move(partitioned).Fold(std::uint64_t{0}, count).To(Collect(rows)),
                              std::move(copy).Partition().Scan(std::uint64_t{0}, count).To(Collect(states)));
  const ClusterOutcome outcome = Run(*query);
  const std::uint64_t records = executors() * kNumbered;
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::exchanged_records), executors() == 1 ? 0 : records);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records_accepted), 2 * records);
  EXPECT_EQ(Joined(states).size(), records);
  std::uint64_t counted = 0;
  for (const TestRow& row : Joined(rows)) counted += row.value;
  EXPECT_EQ(counted, records);
}

TEST_P(KeyedStates, ResultsHaveTheTimesOfTheirRecords) {
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*From(TestSource(workload()))
                                    .KeyBy(&TestRecord::key)
                                    .RichMap(std::uint64_t{0}, &CountOfKey)
                                    .KeyBy([](const Nth& nth) { return nth.key % 10; })
                                    .Scan(std::uint64_t{0}, [](std::uint64_t& count, const Nth&) { ++count; })
                                    .KeyBy([](const auto& state) { return state.key; })
                                    .Window(Tumbling{absl::Milliseconds(300)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  TestCounts expected;
  ForEachTestRecord([&](const TestRecord& record) { ++expected[{record.event_time_ms / 300 * 300, record.key % 10}]; });
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
}

/// Counts of keys of another type, by their numbers.
template <typename K>
std::map<std::uint64_t, std::uint64_t> CountsOfKeys(const Workload& workload, std::uint64_t keys) {
  const KeyNumbers numbers = NumbersOf<K>(keys);
  std::vector<std::vector<WindowResult<K, std::uint64_t>>> rows(workload.executor_count());
  const auto query = From(TestSource(workload))
                         .KeyBy([keys](const TestRecord& record) { return KeyOf<K>(record.key % keys); })
                         .Fold(std::uint64_t{0}, [](std::uint64_t& count, const TestRecord&) { ++count; })
                         .To(Collect(rows));
  std::vector<ExecutorMetrics> metrics;
  const absl::Status status = RunNodes(workload, *query, metrics);
  EXPECT_TRUE(status.ok()) << status;
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& row : Joined(rows)) counts[numbers.at(BytesOf(row.key))] += row.value;
  return counts;
}

TEST_P(KeyedStates, KeysAreOfAnySizeAndShape) {
  const auto expect = [&](std::uint64_t keys, const auto& counts) {
    std::map<std::uint64_t, std::uint64_t> expected;
    ForEachTestRecord([&](const TestRecord& record) { ++expected[record.key % keys]; });
    EXPECT_TRUE(SameElements(counts, expected)) << keys << " keys";
  };
  expect(2, CountsOfKeys<bool>(workload(), 2));
  expect(90, CountsOfKeys<Shade>(workload(), 90));
  expect(91, CountsOfKeys<std::uint16_t>(workload(), 91));
  expect(92, CountsOfKeys<std::int32_t>(workload(), 92));
  expect(93, CountsOfKeys<Place>(workload(), 93));
  expect(94, CountsOfKeys<HostAddress>(workload(), 94));
  expect(95, CountsOfKeys<FixedText<40>>(workload(), 95));
}

/// A state of nearly the greatest size: copies of it fit a fiber's stack.
TEST_P(KeyedStates, AStateMayTakeFourKilobytes) {
  using Large = std::array<std::uint64_t, 511>;
  std::vector<std::vector<KeyedState<std::uint64_t, Large>>> scanned(executors());
  std::vector<std::vector<WindowResult<std::uint64_t, Large>>> folded(executors());
  const auto add = [](Large& state, std::uint64_t n) { state[n % state.size()] += n; };
  const auto records = FromRange(0, 2'000);
  const auto by = [](std::uint64_t n) { return n % 3; };
  Run(*Together(Stream(records).KeyBy(by).Scan(Large{}, add).To(Collect(scanned)),
                Stream(records).KeyBy(by).Fold(Large{}, add).To(Collect(folded))));
  EXPECT_EQ(Joined(scanned).size(), 2'000U);
  std::uint64_t sum = 0;
  for (const auto& row : Joined(folded)) {
    for (const std::uint64_t n : row.value) sum += n;
  }
  EXPECT_EQ(sum, 2'000U * 1'999 / 2);
}

/// More keys than a record each: states live on while the index grows.
TEST_P(KeyedStates, ManyKeysHaveTheirStatesWhileTheIndexGrows) {
  constexpr std::uint64_t kKeys = kSanitized ? 30'000 : 150'000;
  std::vector<std::vector<Nth>> rows(executors());
  const ClusterOutcome outcome =
      Run(*FromRange(0, 3 * kKeys)
               .KeyBy([](std::uint64_t n) { return n % kKeys; })
               .RichMap(std::uint64_t{0}, [](std::uint64_t& count, std::uint64_t n) { return Nth{n % kKeys, ++count}; })
               .To(Collect(rows)));
  std::vector<std::uint8_t> seen(kKeys);
  std::uint64_t count = 0;
  for (const Nth& nth : Joined(rows)) {
    ASSERT_TRUE(nth.n >= 1 && nth.n <= 3);
    seen[nth.key] |= static_cast<std::uint8_t>(1 << nth.n);
    ++count;
  }
  EXPECT_EQ(count, 3 * kKeys);
  EXPECT_TRUE(std::ranges::all_of(seen, [](std::uint8_t bits) { return bits == 0b1110; }));
  EXPECT_GT(Total(outcome, &ExecutorMetrics::index_growths), 4U) << "or this tests little";
}

/// Runs that do not fit end with the budget's error, which names the step and the size of its states.
TEST(KeyedStatesMemory, IsTheRunsBudget) {
  Workload workload{.records = 400'000, .keys = std::uint64_t{1} << 40};
  workload.state_limit_bytes = std::uint64_t{6} << 20;
  std::vector<ExecutorMetrics> metrics;
  const auto status_of = [&](const Query& query) { return RunExecutors(workload, query, 1, metrics); };
  const auto count = [](std::uint64_t& n, const TestRecord&) { ++n; };
  const absl::Status fold =
      status_of(*From(TestSource(workload)).KeyBy(&TestRecord::key).Fold(std::uint64_t{0}, count).To(Discard{}));
  EXPECT_EQ(fold.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(fold.message()),
              ::testing::ContainsRegex("; the fold by key stores [0-9]+ states of 16 bytes"));
  EXPECT_THAT(std::string(fold.message()), ::testing::HasSubstr("--memory-limit"));
  const absl::Status scan =
      status_of(*From(TestSource(workload)).KeyBy(&TestRecord::key).Scan(std::uint64_t{0}, count).To(Discard{}));
  EXPECT_EQ(scan.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(scan.message()), ::testing::HasSubstr("; the scan by key stores "));
  workload.state_limit_bytes = std::uint64_t{64} << 20;
  metrics.clear();
  const absl::Status ample =
      status_of(*From(TestSource(workload)).KeyBy(&TestRecord::key).Fold(std::uint64_t{0}, count).To(Discard{}));
  EXPECT_TRUE(ample.ok()) << ample;
  EXPECT_GE(metrics[0].state_bytes, 400'000U * 16) << "states are counted";
}

TEST(KeyedStatesCsv, HasAColumnForKeyAndState) {
  using Row = CsvRow<KeyedState<std::uint64_t, std::tuple<int, int>>>;
  std::string line;
  Row::Append(line, {.key = 5, .value = {6, -7}});
  EXPECT_EQ(Row::Header(), "key,value_1,value_2");
  EXPECT_EQ(line, "5,6,-7");
}

}  // namespace
}  // namespace glaive::engine
