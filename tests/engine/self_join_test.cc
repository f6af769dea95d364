// A stream joined with itself, with every kind of window, moved by key, and with other event times: the pairs of a
// nested loop, and each record is read once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/api/interval_join.h"
#include "engine/api/join.h"
#include "engine/api/union.h"
#include "engine/sink/collect.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// A key, and the event times of both records.
using SelfPair = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;

class SelfJoins : public OnEachShape {
 protected:
  Workload workload() const override {
    Workload workload = OnEachShape::workload();
    workload.records = 2'000;
    workload.keys = 100;
    return workload;
  }

  /// Runs the join that `with_window` makes of a join by key. `right_of` makes the right stream of a copy. Expects the
  /// pair of two records of a key as often as `meet(times, i, j)` says, mostly by whether they meet: `times` are the
  /// event times of all records of the key, in order, `i` and `j` indices into them.
  template <typename WithWindowFn, typename MeetFn, typename RightOfFn = std::identity>
  void ExpectPairs(const WithWindowFn& with_window, const MeetFn& meet, const RightOfFn& right_of = {}) const {
    using Row = WindowResult<std::uint64_t, std::tuple<std::int64_t, std::int64_t>>;
    std::vector<std::vector<Row>> rows(executors());
    const auto stream = From(TestSource(workload())).Filter([](const TestRecord& record) { return record.kind == 0; });
    const ClusterOutcome outcome =
        Run(*with_window(Join(Stream(stream), right_of(Stream(stream))).On(&TestRecord::key, &TestRecord::key))
                 .Keep(&TestRecord::event_time_ms, &TestRecord::event_time_ms)
                 .To(Collect(rows)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::records), executors() * workload().records) << "it is read once";

    std::map<std::uint64_t, std::vector<std::int64_t>> times_of;
    ForEachTestRecord([&](const TestRecord& record) {
      if (record.kind == 0) times_of[record.key].push_back(record.event_time_ms);
    });
    std::multiset<SelfPair> expected;
    for (auto& [key, times] : times_of) {
      std::sort(times.begin(), times.end());
      for (std::size_t i = 0; i < times.size(); ++i) {
        for (std::size_t j = 0; j < times.size(); ++j) {
          for (int meetings = meet(times, i, j); meetings > 0; --meetings) expected.insert({key, times[i], times[j]});
        }
      }
    }
    EXPECT_GT(expected.size(), 1'000U) << "or this tests little";
    std::multiset<SelfPair> found;
    for (const auto& of_executor : rows) {
      for (const Row& row : of_executor) found.insert({row.key, std::get<0>(row.value), std::get<1>(row.value)});
    }
    EXPECT_TRUE(SameElements(found, expected));
  }
};

TEST_P(SelfJoins, InTumblingWindows) {
  constexpr std::int64_t kSizeMs = 1'000;
  ExpectPairs([](auto join) { return std::move(join).Window(Tumbling{absl::Milliseconds(kSizeMs)}); },
              [](const auto& times, std::size_t i, std::size_t j) { return times[i] / kSizeMs == times[j] / kSizeMs; });
}

TEST_P(SelfJoins, InTumblingWindowsWhereBothStreamsMoveByKey) {
  constexpr std::int64_t kSizeMs = 2'000;
  ExpectPairs([](auto join) { return std::move(join).Ship(BothByKey{}).Window(Tumbling{absl::Milliseconds(kSizeMs)}); },
              [](const auto& times, std::size_t i, std::size_t j) { return times[i] / kSizeMs == times[j] / kSizeMs; });
}

/// Two records meet in each window that covers both.
TEST_P(SelfJoins, InSlidingWindows) {
  constexpr std::int64_t kSizeMs = 600;
  constexpr std::int64_t kSlideMs = 200;
  ExpectPairs(
      [](auto join) {
        return std::move(join).Window(Sliding{absl::Milliseconds(kSizeMs), absl::Milliseconds(kSlideMs)});
      },
      [](const auto& times, std::size_t i, std::size_t j) {
        int windows = 0;
        for (std::int64_t start_ms = std::min(times[i], times[j]) / kSlideMs * kSlideMs;
             start_ms + kSizeMs > std::max(times[i], times[j]); start_ms -= kSlideMs) {
          ++windows;
        }
        return windows;
      });
}

TEST_P(SelfJoins, InSessions) {
  constexpr std::int64_t kGapMs = 700;
  ExpectPairs([](auto join) { return std::move(join).Window(Session{absl::Milliseconds(kGapMs)}); },
              [](const auto& times, std::size_t i, std::size_t j) {
                for (std::size_t k = std::min(i, j); k < std::max(i, j); ++k) {
                  if (times[k + 1] - times[k] >= kGapMs) return false;
                }
                return true;
              });
}

TEST_P(SelfJoins, WithoutWindows) {
  ExpectPairs([](auto join) { return std::move(join).Window(Unbounded{}); },
              [](const auto&, std::size_t, std::size_t) { return true; });
}

TEST_P(SelfJoins, WithinAnInterval) {
  constexpr std::int64_t kFromMs = -300;
  constexpr std::int64_t kToMs = 900;
  ExpectPairs([](auto join) { return std::move(join).Within(absl::Milliseconds(kFromMs), absl::Milliseconds(kToMs)); },
              [](const auto& times, std::size_t i, std::size_t j) {
                return times[j] - times[i] >= kFromMs && times[j] - times[i] <= kToMs;
              });
}

GLAIVE_ON_EACH_SHAPE(SelfJoins);

/// A source waits for no records that only it brings: one copy of its stream is further ahead of the other than
/// --max-lead.
class ShiftedCopies : public SelfJoins {
 protected:
  static constexpr std::int64_t kShiftMs = 3'000;
  static constexpr std::int64_t kSizeMs = 1'000;

  Workload workload() const override {
    Workload workload = SelfJoins::workload();
    workload.max_lead_ms = 500;
    workload.keys = 20;
    return workload;
  }

  template <typename Records>
  static auto Shifted(Records records) {
    return std::move(records).WithEventTime([](const TestRecord& record) { return record.event_time_ms + kShiftMs; });
  }
};

TEST_P(ShiftedCopies, AreJoined) {
  ExpectPairs([](auto join) { return std::move(join).Window(Tumbling{absl::Milliseconds(kSizeMs)}); },
              [](const auto& times, std::size_t i, std::size_t j) {
                return times[i] / kSizeMs == (times[j] + kShiftMs) / kSizeMs;
              },
              [](auto records) { return Shifted(std::move(records)); });
}

TEST_P(ShiftedCopies, AreUnitedWithAnotherSource) {
  Workload another = workload();
  another.seed = 2;
  std::vector<std::vector<TestRow>> rows(executors());
  const auto stream = From(TestSource(workload()));
  Run(*Union(Stream(stream), Shifted(Stream(stream)), From(TestSource(another)))
           .KeyBy(&TestRecord::key)
           .Window(Tumbling{absl::Milliseconds(kSizeMs)})
           .Aggregate(Count{})
           .To(Collect(rows)));

  TestCounts expected;
  const auto count = [&](std::int64_t time_ms, std::uint64_t key) { ++expected[{time_ms / kSizeMs * kSizeMs, key}]; };
  ForEachTestRecord([&](const TestRecord& record) {
    count(record.event_time_ms, record.key);
    count(record.event_time_ms + kShiftMs, record.key);
  });
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < another.records; ++number) {
      const TestRecord record = MakeRecord(another, executor, number);
      count(record.event_time_ms, record.key);
    }
  }
  TestCounts found;
  for (const auto& of_executor : rows) {
    for (const TestRow& row : of_executor) {
      found[{row.window_start_ms, row.key}] += row.value;
    }
  }
  EXPECT_TRUE(SameElements(found, expected));
}

GLAIVE_ON_EACH_SHAPE(ShiftedCopies);

}  // namespace
}  // namespace glaive::engine
