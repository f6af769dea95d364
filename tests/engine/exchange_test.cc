// Exchanges: which executor gets a record, in which order, with which watermark, with few credits and slow consumers.

#include "engine/exchange/exchange.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/sink/collect.h"
#include "engine/sink/for_each.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

/// A record with the executor that has made it, and its number there.
struct Moved {
  std::uint64_t key;
  std::uint64_t reader;
  std::uint64_t number;
};

/// Numbers of a range that executors share.
auto Numbers(std::uint64_t end) {
  return FromRange(0, end).Map(
      [](std::uint64_t number) { return Moved{.key = number % 97, .reader = 0, .number = number}; });
}

/// All numbers that any executor has, in order.
std::vector<std::uint64_t> NumbersIn(const std::vector<std::vector<Moved>>& shares) {
  std::vector<std::uint64_t> numbers;
  for (const auto& share : shares) {
    for (const Moved& moved : share) numbers.push_back(moved.number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::uint64_t> UpTo(std::uint64_t end) {
  std::vector<std::uint64_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Closed until a number of rows of another stream have come. A test that would wait for ever opens it in the end.
class Gate {
 public:
  explicit Gate(std::uint64_t rows) : rows_(rows), deadline_ns_(SteadyClock().NowNanos() + 30'000'000'000) {}

  void Count() { ++counted_; }
  bool IsOpen() {
    if (counted_ < rows_ && SteadyClock().NowNanos() > deadline_ns_) timed_out_ = true;
    return counted_ >= rows_ || timed_out_;
  }
  bool timed_out() const { return timed_out_; }

 private:
  const std::uint64_t rows_;
  const std::int64_t deadline_ns_;
  std::atomic<std::uint64_t> counted_ = 0;
  std::atomic<bool> timed_out_ = false;
};

class BehindGate final : public Sink<Moved> {
 public:
  BehindGate(std::unique_ptr<Sink<Moved>> sink, Gate& gate) : sink_(std::move(sink)), gate_(&gate) {}

  bool Ready() override { return gate_->IsOpen(); }
  absl::Status Write(std::span<const Moved> rows) override { return sink_->Write(rows); }

 private:
  std::unique_ptr<Sink<Moved>> sink_;
  Gate* gate_;
};

/// As Collect, but not ready before the gate is open.
struct CollectBehind {
  std::vector<std::vector<Moved>>* shares;
  Gate* gate;

  template <typename Row>
    requires std::same_as<Row, Moved>
  SinkFactory<Row> Factory() const {
    return [collect = Collect(*shares).template Factory<Row>(),
            gate = gate](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Moved>>> {
      return std::make_unique<BehindGate>(collect(context).value(), *gate);
    };
  }
};

class Exchanges : public OnEachShape {
 protected:
  /// Windows behind an exchange count each record `copies` times, and no record is late: watermarks travel with them.
  template <typename ExchangeFn>
  void ExpectTheSameWindows(std::uint64_t copies, const ExchangeFn& exchange) const {
    std::vector<std::vector<TestRow>> rows(executors());
    ClusterOutcome outcome = Run(*exchange(From(TestSource(workload())))
                                      .KeyBy(&TestRecord::key)
                                      .Window(Tumbling{absl::Milliseconds(300)})
                                      .Aggregate(Count{})
                                      .To(Collect(rows)));
    TestCounts expected;
    ForEachTestRecord(
        [&](const TestRecord& record) { expected[{record.event_time_ms / 300 * 300, record.key}] += copies; });
    CollectOutcome(rows, outcome);
    EXPECT_TRUE(SameElements(outcome.counts, expected));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  }

  void ExpectThatPartitionBringsAKeyToOneExecutor() const {
    constexpr std::uint64_t kEnd = 50'000;
    std::vector<std::vector<Moved>> shares(executors());
    Run(*Numbers(kEnd).KeyBy(&Moved::key).Partition().DropKey().To(Collect(shares)));
    EXPECT_TRUE(SameSequence(NumbersIn(shares), UpTo(kEnd)));
    std::map<std::uint64_t, std::set<std::uint32_t>> executors_of;
    for (std::uint32_t executor = 0; executor < executors(); ++executor) {
      EXPECT_FALSE(shares[executor].empty()) << "executor " << executor;
      for (const Moved& moved : shares[executor]) executors_of[moved.key].insert(executor);
    }
    for (const auto& [key, its] : executors_of) EXPECT_EQ(its.size(), 1U) << "key " << key;
  }

  /// Of each sender, a receiver has the records in the order in which the sender has read them.
  void ExpectThatRecordsOfASenderStayInOrder() const {
    std::vector<std::vector<Moved>> shares(executors());
    constexpr std::uint64_t kRecords = 20'000;
    const auto records = FromParallel([](const SourceContext& context) {
      return [reader = std::uint64_t{Value(context.executor)},
              number = std::uint64_t{0}]() mutable -> std::optional<Moved> {
        if (number == kRecords) return std::nullopt;
        const std::uint64_t next = number++;
        return Moved{.key = next % 97, .reader = reader, .number = next};
      };
    });
    Run(*Stream(records).KeyBy(&Moved::key).Partition().DropKey().To(Collect(shares)));
    std::uint64_t count = 0;
    for (const auto& share : shares) {
      std::map<std::uint64_t, std::uint64_t> last;
      for (const Moved& moved : share) {
        EXPECT_TRUE(!last.contains(moved.reader) || last[moved.reader] < moved.number);
        last[moved.reader] = moved.number;
      }
      count += share.size();
    }
    EXPECT_EQ(count, executors() * kRecords);
  }

  void ExpectThatShuffleSpreadsEvenly() const {
    constexpr std::uint64_t kEnd = 40'000;
    std::vector<std::vector<Moved>> shares(executors());
    Run(*Numbers(kEnd).Shuffle().To(Collect(shares)));
    EXPECT_TRUE(SameSequence(NumbersIn(shares), UpTo(kEnd)));
    for (const auto& share : shares)
      EXPECT_NEAR(static_cast<double>(share.size()), 1.0 * kEnd / executors(), executors());
  }

  void ExpectThatBroadcastReachesAll() const {
    constexpr std::uint64_t kEnd = 20'000;
    std::vector<std::vector<Moved>> shares(executors());
    Run(*Numbers(kEnd).Broadcast().To(Collect(shares)));
    for (const auto& share : shares) EXPECT_TRUE(SameSequence(NumbersIn({share}), UpTo(kEnd)));
  }

  void ExpectThatOneExecutorGetsAll() const {
    constexpr std::uint64_t kEnd = 20'000;
    std::vector<std::vector<Moved>> shares(executors());
    Run(*Numbers(kEnd).OnExecutors(1).To(Collect(shares)));
    EXPECT_TRUE(SameSequence(NumbersIn({shares[0]}), UpTo(kEnd)));
    for (std::uint32_t executor = 1; executor < executors(); ++executor) EXPECT_TRUE(shares[executor].empty());
  }

  /// Of an exchange to the first two executors, and to more than there are.
  void ExpectThatTheFirstExecutorsShareAll() const {
    constexpr std::uint64_t kEnd = 20'000;
    for (const std::uint32_t wanted : {2U, executors() + 1}) {
      const std::uint32_t receivers = std::min(wanted, executors());
      std::vector<std::vector<Moved>> shares(executors());
      Run(*Numbers(kEnd).OnExecutors(wanted).To(Collect(shares)));
      EXPECT_TRUE(SameSequence(NumbersIn(shares), UpTo(kEnd)));
      for (std::uint32_t executor = 0; executor < executors(); ++executor) {
        const double share = executor < receivers ? 1.0 * kEnd / receivers : 0;
        EXPECT_NEAR(static_cast<double>(shares[executor].size()), share, executor < receivers ? executors() : 0)
            << "executor " << executor << " of the first " << wanted;
      }
    }
  }

  /// The sink of the first stream is not ready before all records of the second stream have come, through an exchange
  /// that shares the rings and the segments of the first one.
  void ExpectThatASlowSinkHoldsUpNoOtherStream() const {
    constexpr std::uint64_t kEnd = 20'000;
    Workload workload = this->workload();
    workload.slot_bytes = 512;
    workload.credits = 2;
    workload.fragment_bytes = 4'096;
    Gate gate(kEnd);
    std::vector<std::vector<Moved>> shares(executors());
    const auto query = Together(Numbers(kEnd).Shuffle().To(CollectBehind{&shares, &gate}),
                                Numbers(kEnd).Shuffle().To(ForEach([&gate](const Moved&) { gate.Count(); })));
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_FALSE(gate.timed_out()) << "the second stream stood while the first one's sink was not ready";
    EXPECT_TRUE(SameSequence(NumbersIn(shares), UpTo(kEnd)));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::exchange_waits) > 0, executors() > 1);
  }
};
GLAIVE_ON_EACH_SHAPE(Exchanges);

/// Between nodes, and between the executors of the one node, by an RDMA device.
class ExchangesOverVerbs : public Exchanges {
 protected:
  Workload workload() const override {
    Workload workload = Exchanges::workload();
    workload.over_verbs = true;
    return workload;
  }
};
GLAIVE_ON_EACH_SHAPE(ExchangesOverVerbs);

TEST_P(Exchanges, PartitionBringsAllRecordsOfAKeyToOneExecutor) { ExpectThatPartitionBringsAKeyToOneExecutor(); }
TEST_P(ExchangesOverVerbs, PartitionBringsAllRecordsOfAKeyToOneExecutor) {
  ExpectThatPartitionBringsAKeyToOneExecutor();
}

TEST_P(Exchanges, ShuffleSpreadsRecordsEvenly) { ExpectThatShuffleSpreadsEvenly(); }
TEST_P(ExchangesOverVerbs, ShuffleSpreadsRecordsEvenly) { ExpectThatShuffleSpreadsEvenly(); }

TEST_P(Exchanges, BroadcastGivesEachExecutorAllRecords) { ExpectThatBroadcastReachesAll(); }
TEST_P(ExchangesOverVerbs, BroadcastGivesEachExecutorAllRecords) { ExpectThatBroadcastReachesAll(); }

TEST_P(Exchanges, OneExecutorGetsAllRecordsAndTheOthersNone) { ExpectThatOneExecutorGetsAll(); }
TEST_P(ExchangesOverVerbs, OneExecutorGetsAllRecordsAndTheOthersNone) { ExpectThatOneExecutorGetsAll(); }

TEST_P(Exchanges, TheFirstExecutorsShareAllRecords) { ExpectThatTheFirstExecutorsShareAll(); }
TEST_P(ExchangesOverVerbs, TheFirstExecutorsShareAllRecords) { ExpectThatTheFirstExecutorsShareAll(); }

TEST_P(Exchanges, ASlowSinkHoldsUpNoOtherStream) { ExpectThatASlowSinkHoldsUpNoOtherStream(); }
TEST_P(ExchangesOverVerbs, ASlowSinkHoldsUpNoOtherStream) { ExpectThatASlowSinkHoldsUpNoOtherStream(); }

TEST_P(Exchanges, RecordsOfASenderStayInOrder) { ExpectThatRecordsOfASenderStayInOrder(); }
TEST_P(ExchangesOverVerbs, RecordsOfASenderStayInOrder) { ExpectThatRecordsOfASenderStayInOrder(); }

TEST_P(Exchanges, ALimitLetsSoManyRecordsPassInAll) {
  for (const std::uint64_t limit : {0, 1, 1'000, 30'000}) {
    std::vector<std::vector<Moved>> shares(executors());
    constexpr std::uint64_t kEnd = 20'000;
    Run(*Numbers(kEnd).Limit(limit).To(Collect(shares)));
    const std::vector<std::uint64_t> numbers = NumbersIn(shares);
    EXPECT_EQ(numbers.size(), std::min(limit, kEnd));
    EXPECT_EQ(shares[0].size(), numbers.size()) << "all are at executor 0";
    EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size()) << "none comes twice";
  }
}

TEST_P(Exchanges, CollectAllGivesEachExecutorTheRowsOfAll) {
  constexpr std::uint64_t kEnd = 20'000;
  std::vector<std::vector<Moved>> shares(executors());
  Run(*Numbers(kEnd).To(CollectAll(shares)));
  for (const auto& share : shares) EXPECT_TRUE(SameSequence(NumbersIn({share}), UpTo(kEnd)));
}

TEST_P(Exchanges, WindowsBehindThemHaveTheSameResults) {
  ExpectTheSameWindows(1, [](auto stream) { return std::move(stream).Shuffle(); });
  ExpectTheSameWindows(1, [](auto stream) { return std::move(stream).OnExecutors(1); });
  ExpectTheSameWindows(1, [](auto stream) { return std::move(stream).KeyBy(&TestRecord::key).Partition().DropKey(); });
  ExpectTheSameWindows(executors(), [](auto stream) { return std::move(stream).Broadcast(); });
}

/// All records reach one executor, whose windows would wait for the watermarks of the others for ever. The exchange
/// brings the others nothing, or watermarks alone.
TEST_P(Exchanges, AnExecutorThatGetsNoRecordsFallsIdleBehindWithEventTime) {
  constexpr std::uint64_t kRecords = 20'000;
  constexpr auto kTime = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  const auto numbers = FromParallel([](const SourceContext& context) {
    const std::uint64_t end = Value(context.executor) == 0 ? kRecords : 0;
    return [end, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
      return next < end ? std::optional(next++) : std::nullopt;
    };
  });
  const auto count = [&](auto stream, auto& rows) {
    return std::move(stream)
        .KeyBy([](std::uint64_t /*number*/) { return std::uint64_t{7}; })
        .Partition()
        .DropKey()
        .WithEventTime(kTime)
        .KeyBy([](std::uint64_t number) { return number % 5; })
        .Window(Tumbling{absl::Milliseconds(250)})
        .Aggregate(Count{})
        .To(Collect(rows));
  };
  TestCounts expected;
  for (std::uint64_t number = 0; number < kRecords; ++number) ++expected[{number / 250 * 250, number % 5}];
  Workload workload = this->workload();
  workload.idle_timeout_ns = 20'000'000;
  workload.max_lead_ms = 1'000;
  for (const bool has_times : {false, true}) {
    SCOPED_TRACE(has_times ? "watermarks alone" : "nothing");
    std::vector<std::vector<TestRow>> rows(executors());
    const auto query = has_times ? count(Stream(numbers).WithEventTime(kTime), rows) : count(Stream(numbers), rows);
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    CollectOutcome(rows, outcome);
    EXPECT_TRUE(SameElements(outcome.counts, expected));
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  }
}

TEST_P(Exchanges, FollowEachOther) {
  ExpectTheSameWindows(1, [](auto stream) { return std::move(stream).Shuffle().OnExecutors(1).Shuffle(); });
}

}  // namespace
}  // namespace glaive::engine
