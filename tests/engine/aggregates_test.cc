// All aggregates at once over a cluster, against the same computed from a list of each key's records. Sums, means and
// variances of floating-point numbers are computed as quotients of integers, and rounded once.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;
using Group = std::pair<std::int64_t, std::uint64_t>;  // window start, key

std::int64_t Number(const TestRecord& record) {
  return record.event_time_ms % 97 * 31 + static_cast<std::int64_t>(record.kind) - 1500;
}
/// Of very different magnitudes: a double that adds them one by one loses bits, and other ones in another order.
float Weight(const TestRecord& record) {
  constexpr float kUnits[] = {0x1p42F, 0x1p-40F, 0x1p-3F};
  return static_cast<float>(2 * Number(record) + 1) * kUnits[record.event_time_ms % 3];
}
double DoubleWeight(const TestRecord& record) { return static_cast<double>(Weight(record)); }

/// The weight in units of 2^-40.
Integer WeightInUnits(const TestRecord& record) {
  constexpr unsigned kShifts[] = {82, 0, 37};
  return Integer(2 * Number(record) + 1) << kShifts[record.event_time_ms % 3];
}

auto EveryAggregate() {
  return Several{Count{},
                 Sum{&Number},
                 Sum{&Weight},
                 Min{&Number},
                 Max{&Number},
                 Mean{&Weight},
                 Variance{&DoubleWeight},
                 First{&TestRecord::event_time_ms, &Number},
                 Last{&TestRecord::event_time_ms, &Number},
                 TopK<3>(&Number)};
}

using EveryValue = decltype(EveryAggregate())::Value<TestRecord>;
using EveryResult = decltype(std::declval<const EveryValue&>().Result());
using EveryRow = WindowResult<std::uint64_t, EveryResult>;

EveryResult ExpectedResult(const std::vector<TestRecord>& records) {
  std::vector<std::int64_t> numbers;
  std::int64_t sum = 0;
  Integer weights = 0;
  Integer squares = 0;
  const auto earlier = [](const TestRecord& a, const TestRecord& b) {
    return std::pair(a.event_time_ms, Number(a)) < std::pair(b.event_time_ms, Number(b));
  };
  for (const TestRecord& record : records) {
    numbers.push_back(Number(record));
    sum += Number(record);
    const Integer weight = WeightInUnits(record);
    weights += weight;
    squares += weight * weight;
  }
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  const Integer count = records.size();
  const Integer unit = Integer(1) << 40;
  const auto [first, last] = std::minmax_element(records.begin(), records.end(), earlier);
  std::vector<std::int64_t> top(numbers.begin(), numbers.begin() + std::min<std::ptrdiff_t>(3, std::ssize(numbers)));
  return {
      records.size(),
      absl::int128(sum),
      static_cast<double>(Rational(weights, unit)),
      numbers.back(),
      numbers.front(),
      static_cast<double>(Rational(weights, Integer(unit * count))),
      static_cast<double>(Rational(Integer(count * squares - weights * weights), Integer(unit * unit * count * count))),
      Number(*first),
      Number(*last),
      top};
}

class Aggregates : public OnEachShape {
 protected:
  /// A key has as many records in a window on each shape.
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 4'000;
    workload.keys = 75 * workload.executor_count();
    workload.slot_bytes = 4096;
    return workload;
  }
};

TEST_P(Aggregates, AreAllExactInOnePassOverACluster) {
  const std::int64_t window_ms = workload().window_ms;
  std::map<Group, std::vector<TestRecord>> groups;
  ForEachTestRecord([&](const TestRecord& record) {
    groups[{record.event_time_ms / window_ms * window_ms, record.key}].push_back(record);
  });
  std::vector<std::vector<EveryRow>> rows(executors());
  Run(*From(TestSource(workload()))
           .KeyBy(&TestRecord::key)
           .Window(Tumbling{absl::Milliseconds(window_ms)})
           .Aggregate(EveryAggregate())
           .To(Collect(rows)));
  std::vector<std::pair<Group, EveryResult>> expected;
  std::uint64_t rounded = 0;  // groups in which a double that adds loses bits
  for (const auto& [group, records] : groups) {
    expected.emplace_back(group, ExpectedResult(records));
    double added = 0;
    for (const TestRecord& record : records) added += DoubleWeight(record);
    if (added != std::get<2>(expected.back().second)) ++rounded;
  }
  EXPECT_GT(rounded, groups.size() / 10) << "or the weights show no rounding";
  std::vector<std::pair<Group, EveryResult>> found;
  for (const auto& leader : rows) {
    for (const EveryRow& row : leader) found.emplace_back(Group(row.window_start_ms, row.key), row.value);
  }
  EXPECT_TRUE(SameElements(found, expected));
}

GLAIVE_ON_EACH_SHAPE(Aggregates);

}  // namespace
}  // namespace glaive::engine
