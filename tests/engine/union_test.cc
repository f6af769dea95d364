// Union: several streams as one, in front of sinks and windows, of sources, of results and of streams that fall silent.

#include "engine/api/union.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/sink/collect.h"
#include "engine/sink/discard.h"
#include "engine/sink/sink.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// A record of one of the streams.
struct Visit {
  std::uint64_t key;
  std::uint64_t stream;
};
template <std::uint64_t kStream>
Visit VisitOf(const TestRecord& record) {
  return {.key = record.key, .stream = kStream};
}

using Unions = OnEachShape;

/// The records of a stream that executors have of its own, others for each seed.
Workload Seeded(Workload workload, std::uint64_t seed) {
  workload.seed = seed;
  return workload;
}

TEST_P(Unions, ASinkHasTheRecordsOfAllStreams) {
  const Workload first = workload();
  const Workload second = Seeded(workload(), 2);
  std::vector<std::vector<Visit>> visits(executors());
  Run(*Union(
           From(TestSource(first)).Map(&VisitOf<0>),
           From(TestSource(second)).Filter([](const TestRecord& record) { return record.kind == 0; }).Map(&VisitOf<1>),
           From(TestSource(first)).Map(&VisitOf<2>))
           .To(Collect(visits)));
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (const std::uint64_t stream : {0, 1, 2}) {
      std::vector<std::uint64_t> expected;
      for (std::uint64_t number = 0; number < workload().records; ++number) {
        const TestRecord record = MakeRecord(stream == 1 ? second : first, executor, number);
        if (stream != 1 || record.kind == 0) expected.push_back(record.key);
      }
      std::vector<std::uint64_t> keys;
      for (const Visit& visit : visits[executor]) {
        if (visit.stream == stream) keys.push_back(visit.key);
      }
      EXPECT_TRUE(SameSequence(keys, expected))
          << "executor " << executor << ", stream " << stream << ": others, or another order";
    }
  }
}

/// A stream, united with itself so many times.
template <typename S>
auto Doubled(const S& records, int times) {
  auto stream = Union(records, records);
  for (int i = 1; i < times; ++i) stream = Union(stream, stream);
  return stream;
}

TEST_P(Unions, AStreamUnitedWithItselfHasEachRecordTwice) {
  std::vector<std::vector<std::uint64_t>> rows(executors());
  Run(*Doubled(FromRange(0, 3), 8).To(Collect(rows)));
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& share : rows) {
    for (const std::uint64_t number : share) ++counts[number];
  }
  EXPECT_EQ(counts, (std::map<std::uint64_t, std::uint64_t>{{0, 256}, {1, 256}, {2, 256}}));
}

/// Drops rows, and counts how often it is asked for what is to be published at one reading of the clock.
struct AskedSink {
  template <typename Row>
  class Asked final : public Sink<Row> {
   public:
    explicit Asked(std::atomic<std::uint64_t>& most) : most_(&most) {}
    absl::Status Write(std::span<const Row> /*rows*/) override { return absl::OkStatus(); }
    bool WantsToPublish(std::int64_t now_ns) const override {
      asked_ = std::exchange(now_ns_, now_ns) == now_ns ? asked_ + 1 : 1;
      *most_ = std::max(most_->load(), asked_);
      return false;
    }

   private:
    std::atomic<std::uint64_t>* most_;
    mutable std::int64_t now_ns_ = 0;
    mutable std::uint64_t asked_ = 0;
  };
  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [most = most](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<Asked<Row>>(*most);
    };
  }

  std::atomic<std::uint64_t>* most;
};

/// Through twelve such unions there are 4,096 ways. A producer asks its consumers in each turn, but each of them once.
TEST_P(Unions, OfAStreamWithItselfAreAskedOnce) {
  std::atomic<std::uint64_t> most = 0;
  Run(*Doubled(FromRange(0, 3), 12).To(AskedSink{&most}));
  EXPECT_GE(most, 1U);
  ASSERT_LE(most, 20U);
  // Without records, but with a stage, and with 2^40 ways.
  const auto times = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  std::vector<std::vector<WindowResult<AllRecords, std::uint64_t>>> rows(executors());
  Run(*Doubled(FromRange(0, 0).WithEventTime(times), 40)
           .Window(Tumbling{absl::Seconds(1)})
           .Aggregate(Count{})
           .To(Collect(rows)));
  for (const auto& share : rows) EXPECT_TRUE(share.empty());
}

/// Of 40 such unions there are 2^40 ways through the graph, which neither a query nor what it asks of a vertex walks.
TEST(UnionGraphs, AreWalkedOnceForEachVertex) {
  auto stream = Doubled(FromRange(0, 3), 40);
  const std::string plan = Stream(stream).To(Discard{})->Explain(Roles(2));
  EXPECT_THAT(plan, HasSubstr("  43  union of 42 (records of 16 bytes) and 42 (records of 16 bytes)\n"));
  EXPECT_THAT(plan, HasSubstr("  44  sink of 43 (records of 16 bytes)\n"));
  const auto vertex = std::move(stream).Timed();
  EXPECT_EQ(vertex->delay_ms(), 0);
  EXPECT_FALSE(vertex->adds_past_results());
  EXPECT_FALSE(vertex->is_behind_exchange());
}

TEST_P(Unions, WindowsGroupTheRecordsOfAllStreams) {
  const Workload second = Seeded(workload(), 2);
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome = Run(*Union(From(TestSource(workload())), From(TestSource(second)))
                                    .KeyBy(&TestRecord::key)
                                    .Window(Tumbling{absl::Milliseconds(300)})
                                    .Aggregate(Count{})
                                    .To(Collect(rows)));
  TestCounts expected;
  for (const Workload& each : {workload(), second}) {
    for (std::uint32_t executor = 0; executor < executors(); ++executor) {
      for (std::uint64_t number = 0; number < each.records; ++number) {
        const TestRecord record = MakeRecord(each, executor, number);
        ++expected[{record.event_time_ms / 300 * 300, record.key}];
      }
    }
  }
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
}

/// A stream joins its own counts, whose watermark stays behind.
TEST_P(Unions, AStreamAndItsOwnResultsAreOneStream) {
  const auto records = From(TestSource(workload()));
  std::vector<std::vector<TestRow>> rows(executors());
  ClusterOutcome outcome =
      Run(*Union(Stream(records).Map(&VisitOf<0>), Stream(records)
                                                       .KeyBy(&TestRecord::key)
                                                       .Window(Tumbling{absl::Seconds(1)})
                                                       .Aggregate(Count{})
                                                       .Map([](const TestRow& row) { return Visit{row.key, 1}; }))
               .KeyBy(&Visit::key)
               .Window(Tumbling{absl::Seconds(2)})
               .Aggregate(Count{})
               .To(Collect(rows)));
  TestCounts counts;
  ForEachTestRecord([&](const TestRecord& record) { ++counts[{record.event_time_ms / 1'000 * 1'000, record.key}]; });
  TestCounts expected;
  for (const auto& [window, count] : counts) expected[{window.first / 2'000 * 2'000, window.second}] += count + 1;
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
}

TEST_P(Unions, StreamsWithoutEventTimesHaveOneResultAtTheEnd) {
  std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> rows(executors());
  Run(*Union(FromRange(0, 1'000), FromRange(500, 3'000), FromRange(7, 8))
           .KeyBy([](std::uint64_t n) { return n % 4; })
           .Aggregate(Count{})
           .To(Collect(rows)));
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& leader : rows) {
    for (const auto& row : leader) counts[row.key] += row.value;
  }
  EXPECT_EQ(counts, (std::map<std::uint64_t, std::uint64_t>{{0, 875}, {1, 875}, {2, 875}, {3, 876}}));
}

/// Union of the same stream twice: each record is there twice.
TEST_P(Unions, AStreamCanBeUnitedWithItself) {
  const auto numbers =
      FromRange(0, 10'000).FlatMap([](std::uint64_t n) { return std::vector<std::uint64_t>(n % 3, n); });
  std::vector<std::vector<std::uint64_t>> all(executors());
  Run(*Union(Stream(numbers), Stream(numbers)).To(Collect(all)));
  std::uint64_t count = 0;
  for (const auto& share : all) count += share.size();
  EXPECT_EQ(count, 2U * 9'999);
}

/// One stream falls silent at a tenth of its records. Windows of the union go on once it is idle.
TEST_P(Unions, AnIdleStreamDoesNotHoldUpTheOthers) {
  Workload workload = this->workload();
  workload.idle_timeout_ns = 50'000'000;
  workload.max_lead_ms = 1'000;
  constexpr std::int64_t kSilenceNs = 1'500'000'000;
  std::vector<std::vector<TestRow>> rows(executors());
  const auto query = Union(From(TestSource(workload, {.silent_after = workload.records / 10, .silent_ns = kSilenceNs})),
                           From(TestSource(workload)))
                         .KeyBy(&TestRecord::key)
                         .Window(Tumbling{absl::Milliseconds(500)})
                         .Aggregate(Count{})
                         .To(Collect(rows));
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload, *query, outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  TestCounts expected;
  for (std::uint32_t executor = 0; executor < executors(); ++executor) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      const TestRecord record = MakeRecord(workload, executor, number);
      expected[{record.event_time_ms / 500 * 500, record.key}] += number < workload.records / 10 ? 2 : 1;
    }
  }
  CollectOutcome(rows, outcome);
  EXPECT_TRUE(SameElements(outcome.counts, expected));
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    EXPECT_LT(metrics.last_result_ns - metrics.first_batch_ns, kSilenceNs + 60'000'000'000);
    EXPECT_GE(metrics.idle_periods, 1U);
  }
}

GLAIVE_ON_EACH_SHAPE(Unions);

}  // namespace
}  // namespace glaive::engine
