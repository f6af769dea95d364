// Keys of every size and shape over a cluster, few of them and many, in logs and in cells: sums of what a static table
// gives for a key, and joins, against loops over the keys' numbers.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/api/join.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/typed_keys.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// Rows by the numbers of their keys: {window start, number, what the row holds}.
using SumRow = std::tuple<std::int64_t, std::uint64_t, absl::int128>;
using SumRows = std::multiset<SumRow>;
/// The event times of a pair, of the left and of the right record.
using PairRow = std::tuple<std::int64_t, std::uint64_t, std::int64_t, std::int64_t>;
using PairRows = std::multiset<PairRow>;

using Runner = std::function<absl::Status(const Query&)>;

/// A type of keys. What is compiled for it is behind these functions: they run a query over the workload, and add its
/// rows.
struct KeyType {
  const char* name;
  std::size_t size_bytes;
  bool fits_cells;
  std::uint64_t most_keys;
  absl::Status (*sum)(const Workload& workload, const Runner& run, SumRows& rows);
  absl::Status (*join)(const Workload& workload, const Runner& run, PairRows& rows);
};

std::ostream& operator<<(std::ostream& out, const KeyType& type) { return out << type.name; }

template <typename K>
struct Keyed {
  using Members = std::tuple<K, std::int64_t>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("key", self.key);
  }

  K key;
  std::int64_t number;
};

/// What the table has for keys, and which keys it has.
std::int64_t FactorOf(std::uint64_t number) { return static_cast<std::int64_t>(number % 11) - 5; }
bool IsInTable(std::uint64_t number) { return number % 7 != 3; }
std::int64_t NumberIn(const TestRecord& record) { return record.event_time_ms * 3 + 1; }

/// `texts` are for rows with texts.
template <typename Row>
Collect<Row> CollectRows(std::vector<std::vector<Row>>& rows, CollectedTexts& texts) {
  if constexpr (kHasText<Row>) {
    return Collect(rows, texts);
  } else {
    return Collect(rows);
  }
}

template <typename K>
absl::Status SumOf(const Workload& workload, const Runner& run, SumRows& rows) {
  const KeyNumbers numbers = NumbersOf<K>(workload.keys);
  std::vector<std::pair<K, std::int64_t>> entries;
  for (std::uint64_t number = 0; number < workload.keys; ++number) {
    if (IsInTable(number)) entries.emplace_back(KeyOf<K>(number), FactorOf(number));
  }
  std::vector<std::vector<WindowResult<K, absl::int128>>> by_leader(workload.executor_count());
  CollectedTexts texts(workload.executor_count());
  const std::unique_ptr<Query> query =
      From(TestSource(workload))
          .Map([](const TestRecord& record) {
            return Keyed<K>{.key = KeyOf<K>(record.key), .number = NumberIn(record)};
          })
          .JoinTable(std::make_shared<const StaticTable<K, std::int64_t>>(entries), &Keyed<K>::key,
                     [](const Keyed<K>& keyed, std::int64_t factor) {
                       return Keyed<K>{.key = keyed.key, .number = keyed.number * factor};
                     })
          .KeyBy(&Keyed<K>::key)
          .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
          .Aggregate(Sum{&Keyed<K>::number})
          .To(CollectRows(by_leader, texts));
  const absl::Status status = run(*query);
  for (const auto& leader : by_leader) {
    for (const auto& row : leader) rows.insert({row.window_start_ms, numbers.at(BytesOf(row.key)), row.value});
  }
  return status;
}

/// The other stream of a join.
Workload OtherStream(Workload workload) {
  workload.seed += 1'000;
  return workload;
}

template <typename K>
absl::Status JoinOf(const Workload& workload, const Runner& run, PairRows& rows) {
  const KeyNumbers numbers = NumbersOf<K>(workload.keys);
  const auto key_of = [](const TestRecord& record) { return KeyOf<K>(record.key); };
  std::vector<std::vector<WindowResult<K, std::tuple<std::int64_t, std::int64_t>>>> by_leader(
      workload.executor_count());
  CollectedTexts texts(workload.executor_count());
  const std::unique_ptr<Query> query = Join(From(TestSource(workload)), From(TestSource(OtherStream(workload))))
                                           .On(key_of, key_of)
                                           .Window(Tumbling{absl::Milliseconds(workload.window_ms)})
                                           .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
                                           .To(CollectRows(by_leader, texts));
  const absl::Status status = run(*query);
  for (const auto& leader : by_leader) {
    for (const auto& row : leader) {
      rows.insert({row.window_start_ms, numbers.at(BytesOf(row.key)), std::get<0>(row.value), std::get<1>(row.value)});
    }
  }
  return status;
}

constexpr std::uint64_t kManyKeys = 3'000;

template <typename K, bool kJoins>
KeyType TypeOf(const char* name) {
  KeyType type{.name = name,
               .size_bytes = sizeof(K),
               .fits_cells = sizeof(K) + sizeof(absl::int128) <= 64,  // a cache line
               .most_keys = std::min(KeyRange<K>::kCount, kManyKeys),
               .sum = &SumOf<K>,
               .join = nullptr};
  if constexpr (kJoins) type.join = &JoinOf<K>;
  return type;
}

std::vector<KeyType> KeyTypes() {
  return {TypeOf<bool, false>("Bool"),
          TypeOf<Shade, true>("Enum"),
          TypeOf<std::uint16_t, false>("Uint16"),
          TypeOf<std::int32_t, true>("Int32"),
          TypeOf<Place, false>("Struct12"),
          TypeOf<HostAddress, true>("Struct16"),
          TypeOf<FixedText<40>, true>("Text40"),
          TypeOf<FixedText<56>, false>("Text56"),
          TypeOf<Text, true>("Text"),
          TypeOf<Page, true>("StructOfTexts")};
}

std::vector<KeyType> JoinedKeyTypes() {
  std::vector<KeyType> types = KeyTypes();
  std::erase_if(types, [](const KeyType& type) { return type.join == nullptr; });
  return types;
}

std::vector<KeyType> TextKeyTypes() { return {TypeOf<Text, true>("Text"), TypeOf<Page, true>("StructOfTexts")}; }

SumRows SequentialSums(const Workload& workload) {
  std::map<std::pair<std::int64_t, std::uint64_t>, absl::int128> sums;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    for (std::uint64_t i = 0; i < workload.records; ++i) {
      const TestRecord record = MakeRecord(workload, executor, i);
      if (!IsInTable(record.key)) continue;
      sums[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}] +=
          NumberIn(record) * FactorOf(record.key);
    }
  }
  SumRows rows;
  for (const auto& [group, sum] : sums) rows.insert({group.first, group.second, sum});
  return rows;
}

PairRows SequentialPairs(const Workload& workload) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::array<std::vector<std::int64_t>, 2>> times;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    for (std::uint64_t i = 0; i < workload.records; ++i) {
      for (const std::size_t side : {0U, 1U}) {
        const TestRecord record = MakeRecord(side == 0 ? workload : OtherStream(workload), executor, i);
        times[{record.event_time_ms / workload.window_ms * workload.window_ms, record.key}][side].push_back(
            record.event_time_ms);
      }
    }
  }
  PairRows rows;
  for (const auto& [group, sides] : times) {
    for (const std::int64_t left : sides[0]) {
      for (const std::int64_t right : sides[1]) rows.insert({group.first, group.second, left, right});
    }
  }
  return rows;
}

class KeysOf : public ::testing::TestWithParam<std::tuple<KeyType, std::uint32_t, std::uint32_t>> {
 protected:
  const KeyType& type() const { return std::get<0>(GetParam()); }

  Workload WorkloadOf(std::uint64_t keys) const {
    return {.nodes = std::get<1>(GetParam()),
            .executors = std::get<2>(GetParam()),
            .keys = std::min(keys, type().most_keys),
            .slot_bytes = 4096,
            .credits = 4};
  }

  /// Sums over the workload's cluster; the counters of the run are in the outcome.
  ClusterOutcome ExpectSums(const Workload& workload) const {
    ClusterOutcome outcome;
    SumRows rows;
    outcome.status =
        type().sum(workload, [&](const Query& query) { return RunNodes(workload, query, outcome.metrics); }, rows);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(SameElements(rows, SequentialSums(workload)));
    EXPECT_GT(rows.size(), 1U);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::results), rows.size());
    return outcome;
  }
};

constexpr std::uint64_t kFewKeys = 6;

TEST_P(KeysOf, HaveExactSumsInLogs) {
  for (const std::uint64_t keys : {kFewKeys, kManyKeys}) {
    Workload workload = WorkloadOf(keys);
    SCOPED_TRACE(absl::StrCat(workload.keys, " keys"));
    workload.window_ms = workload.span_ms;  // one slice, which is never considered
    workload.thresholds = {.cached_log_bytes = 2'000, .updates_between_reviews = std::uint64_t{1} << 60};
    workload.fold = {.records_per_saved = 8, .combiner_bytes = 1'024};
    const ClusterOutcome outcome = ExpectSums(workload);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::cell_slices) + Total(outcome, &ExecutorMetrics::cell_moves), 0U);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::prefetched_entries) > 0, workload.keys > kFewKeys)
        << "a log beyond the threshold";
  }
}

class TextKeysOf : public KeysOf {};

/// Records of such keys are taken 128 at a time, since slots are so large.
TEST_P(TextKeysOf, HaveExactSumsWhereGroupsOfRecordsAreSmall) {
  Workload workload = WorkloadOf(kManyKeys);
  workload.slot_bytes = 1U << 20;
  workload.fold = {.records_per_saved = 8};
  ExpectSums(workload);
}

TEST_P(KeysOf, HaveExactSumsInCells) {
  for (const std::uint64_t keys : {kFewKeys, kManyKeys}) {
    Workload workload = WorkloadOf(keys);
    SCOPED_TRACE(absl::StrCat(workload.keys, " keys"));
    workload.records = 20 * workload.keys + 10'000;
    workload.window_ms = workload.span_ms / 3;
    workload.thresholds = {
        .cached_cells_bytes = 1'000, .first_level_cells_bytes = 1'000, .updates_between_reviews = 20};
    workload.fold = {.records_per_saved = 8, .combiner_bytes = 1'024};  // so most records reach leaders one by one
    const ClusterOutcome outcome = ExpectSums(workload);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::cell_slices) > 0, type().fits_cells);
    if (workload.keys > kFewKeys) {  // fewer are folded before they come to the table, which is not considered then
      EXPECT_EQ(Total(outcome, &ExecutorMetrics::cell_moves) > 0, type().fits_cells);
    }
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::unfit_cells), 0U);
  }
}

/// The types that join, of 1, 4, 16 and 40 bytes. Joins keep no slots, so these sizes are enough.
class JoinedKeysOf : public KeysOf {};

TEST_P(JoinedKeysOf, FindTheirPartners) {
  for (const std::uint64_t keys : {kFewKeys, std::uint64_t{200}}) {
    Workload workload = WorkloadOf(keys);
    SCOPED_TRACE(absl::StrCat(workload.keys, " keys"));
    workload.records = 1'000;
    workload.window_ms = workload.span_ms / 20;
    workload.thresholds = {.split_bytes = 256, .entries_per_turn = 16, .split_bits = 2};
    std::vector<ExecutorMetrics> metrics;
    PairRows rows;
    const absl::Status status =
        type().join(workload, [&](const Query& query) { return RunNodes(workload, query, metrics); }, rows);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(SameElements(rows, SequentialPairs(workload)));
    EXPECT_GT(rows.size(), 100U) << "or this tests little";
  }
}

std::string NameOfKeyShape(const ::testing::TestParamInfo<KeysOf::ParamType>& shape) {
  return absl::StrCat(std::get<0>(shape.param).name, "Nodes", std::get<1>(shape.param), "Executors",
                      std::get<2>(shape.param));
}

/// With a sanitizer on two nodes of an executor alone: these do all that others do.
auto OnSomeShapes(const std::vector<KeyType>& types) {
  const std::vector<std::uint32_t> nodes =
      kSanitized ? std::vector<std::uint32_t>{2} : std::vector<std::uint32_t>{1, 2};
  const std::vector<std::uint32_t> executors =
      kSanitized ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{1, 2};
  return ::testing::Combine(::testing::ValuesIn(types), ::testing::ValuesIn(nodes), ::testing::ValuesIn(executors));
}

INSTANTIATE_TEST_SUITE_P(Types, KeysOf, OnSomeShapes(KeyTypes()), NameOfKeyShape);
INSTANTIATE_TEST_SUITE_P(Types, TextKeysOf, OnSomeShapes(TextKeyTypes()), NameOfKeyShape);
INSTANTIATE_TEST_SUITE_P(Types, JoinedKeysOf, OnSomeShapes(JoinedKeyTypes()), NameOfKeyShape);

}  // namespace
}  // namespace glaive::engine
