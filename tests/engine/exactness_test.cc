// The engine's result equals a sequential run's, over cluster shapes, seeds, slot sizes, epoch lengths and skews; and
// the runs really went through the states that are hard: stalls, laps, growth, waits for segments, early windows.

#include <atomic>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/engine/counting_cluster.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

std::string Describe(const Workload& w) {
  return absl::StrCat("nodes ", w.nodes, " executors ", w.executors, " seed ", w.seed, " records ", w.records, " keys ",
                      w.keys, " hot ", w.hot_share, " slot ", w.slot_bytes, " credits ", w.credits, " epoch bytes ",
                      w.epochs.epoch_bytes, " batch records ", w.batch_records);
}

void ExpectExact(const Workload& workload, const ClusterOutcome& outcome) {
  ASSERT_TRUE(outcome.status.ok()) << Describe(workload) << ": " << outcome.status;
  EXPECT_EQ(outcome.rows, outcome.counts.size()) << Describe(workload) << ": a row was emitted twice";
  EXPECT_TRUE(SameElements(outcome.counts, SequentialCounts(workload))) << Describe(workload);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::merges), Total(outcome, &ExecutorMetrics::delta_entries));
}

class Cluster : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>> {
 protected:
  Workload Shape() const {
    const auto [nodes, executors, seed, over_verbs] = GetParam();
    return {.nodes = nodes, .executors = executors, .seed = seed, .over_verbs = over_verbs};
  }
};

TEST_P(Cluster, CountsExactlyAtDefaultSizes) {
  Workload workload = Shape();
  workload.records = 20'000;
  workload.keys = 5'000;
  ExpectExact(workload, RunCluster(workload));
}

TEST_P(Cluster, CountsExactlyWithTheSmallestSlotsAndCredits) {
  Workload workload = Shape();
  workload.records = 5'000;
  workload.keys = 3'000;
  workload.slot_bytes = 256;
  workload.credits = 2;
  workload.fragment_bytes = 4096;
  ExpectExact(workload, RunCluster(workload));
}

TEST_P(Cluster, CountsExactlyWhenEveryBatchIsAnEpoch) {
  Workload workload = Shape();
  workload.records = 20'000;
  workload.epochs = {.epoch_bytes = 1, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
  workload.slot_bytes = 1024;
  ExpectExact(workload, RunCluster(workload));
}

TEST_P(Cluster, CountsExactlyWhenEveryRecordIsABatchAndAnEpoch) {
  Workload workload = Shape();
  workload.records = 1'000;
  workload.batch_records = 1;
  workload.epochs = {.epoch_bytes = 1, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
  workload.slot_bytes = 256;
  workload.credits = 2;
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    EXPECT_EQ(metrics.epochs, workload.records + 1) << "one a record, and the end of the stream";
  }
}

TEST_P(Cluster, CountsExactlyWhenAnEpochIsLargerThanTheInput) {
  Workload workload = Shape();
  const auto forever = std::int64_t{1} << 60;
  workload.epochs = {.epoch_bytes = 1ULL << 60, .epoch_min_bytes = 1ULL << 60, .epoch_interval_ns = forever};
  workload.max_lead_ms = forever;
  ExpectExact(workload, RunCluster(workload));
}

TEST_P(Cluster, CountsExactlyUnderHeavySkew) {
  Workload workload = Shape();
  workload.records = 20'000;
  workload.keys = 100'000;
  workload.hot_share = 0.9;
  workload.slot_bytes = 512;
  ExpectExact(workload, RunCluster(workload));
}

std::string NameOf(const ::testing::TestParamInfo<Cluster::ParamType>& shape) {
  return absl::StrCat("Nodes", std::get<0>(shape.param), "Executors", std::get<1>(shape.param), "Seed",
                      std::get<2>(shape.param));
}

using ::testing::Combine;
using ::testing::Values;

INSTANTIATE_TEST_SUITE_P(Shapes, Cluster,
                         Combine(Values(1U, 2U, 3U, 4U), Values(1U, 2U), Values(std::uint64_t{1}, std::uint64_t{2}),
                                 Values(false)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(OneNodeOverVerbs, Cluster,
                         Combine(Values(1U), Values(2U), Values(std::uint64_t{1}), Values(true)), NameOf);
INSTANTIATE_TEST_SUITE_P(OverVerbs, Cluster,
                         Combine(Values(2U, 3U), Values(1U, 2U), Values(std::uint64_t{1}), Values(true)), NameOf);

/// Records whose keys recur are folded by each executor, whoever leads them, and others are appended.
TEST(Folding, FoldsKeysThatRecurWhoeverLeadsThem) {
  const Workload workload{.nodes = 2, .executors = 2, .records = 40'000, .keys = 100};
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  const std::uint64_t accepted = Total(outcome, &ExecutorMetrics::records_accepted);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::folded_records) + Total(outcome, &ExecutorMetrics::appended_records),
            accepted);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::folded_records), accepted / 100 * 95);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::fold_switches), 0U);
  EXPECT_LT(Total(outcome, &ExecutorMetrics::own_entries) + Total(outcome, &ExecutorMetrics::delta_entries),
            accepted / 5);
}

TEST(Folding, AppendsWhereKeysHardlyRecurAndTriesAgain) {
  Workload workload{.nodes = 2, .executors = 2, .records = 40'000, .keys = 10'000'000};
  workload.fold = {.trial_records = 1'000, .trials_between = 4};
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::appended_records),
            Total(outcome, &ExecutorMetrics::records_accepted) / 100 * 75);
  EXPECT_GE(Total(outcome, &ExecutorMetrics::fold_switches), 4U * 4);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::own_entries) + Total(outcome, &ExecutorMetrics::delta_entries),
            Total(outcome, &ExecutorMetrics::appended_records) + Total(outcome, &ExecutorMetrics::folded_records))
      << "nearly every record is an entry";
}

TEST(Folding, ASmallCombinerHandsOverWhatFindsNoCell) {
  Workload workload{.nodes = 2, .executors = 1, .records = 40'000, .keys = 2'000, .hot_share = 0.5};
  workload.fold = {.records_per_saved = 8, .combiner_bytes = 1'024};
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  const std::uint64_t accepted = Total(outcome, &ExecutorMetrics::records_accepted);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::folded_records), accepted / 2);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::appended_records), accepted / 4);
}

/// Of UpPar: partitioners move each record to the leader of its key, and the other executors lead and read nothing.
void ExpectPartitioned(const Workload& workload, const ClusterOutcome& outcome) {
  ExpectExact(workload, outcome);
  const Roles roles = workload.roles();
  const std::uint64_t accepted = Total(outcome, &ExecutorMetrics::records_accepted);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::folded_records), 0U);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::appended_records), accepted);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries), accepted) << "each record moves";
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    const bool reads = roles.Reads(ExecutorId{metrics.executor});
    EXPECT_EQ(metrics.records, reads ? workload.records : 0);
    EXPECT_EQ(metrics.merges > 0, !reads);
    EXPECT_EQ(metrics.results > 0, !reads);
    EXPECT_EQ(metrics.own_entries, 0U);
  }
}

TEST(Partitioning, MovesEachRecordToTheLeaderOfItsKey) {
  for (const auto& [nodes, executors, partitioners] :
       {std::tuple{1U, 2U, 1U}, {1U, 4U, 1U}, {1U, 4U, 3U}, {2U, 2U, 1U}, {3U, 3U, 2U}}) {
    SCOPED_TRACE(absl::StrCat(nodes, " x ", executors, ", of which ", partitioners, " partition"));
    Workload workload{.nodes = nodes, .executors = executors, .partitioners = partitioners, .records = 20'000};
    ExpectPartitioned(workload, RunCluster(workload));
    workload.slot_bytes = 256;
    workload.credits = 2;
    workload.fragment_bytes = 4'096;
    workload.epochs = {.epoch_bytes = 1'000, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
    ExpectPartitioned(workload, RunCluster(workload));
  }
}

/// Half of the executors read, and stream the records to the other half, which processes them.
void ExpectFed(const Workload& workload, const ClusterOutcome& outcome) {
  ExpectExact(workload, outcome);
  const Roles roles = workload.roles();
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    const bool reads = roles.Reads(ExecutorId{metrics.executor});
    EXPECT_EQ(metrics.records, reads ? workload.records : 0);
    EXPECT_EQ(metrics.exchanged_records, reads ? workload.records : 0);
    EXPECT_EQ(metrics.records_accepted > 0, !reads);
    EXPECT_EQ(metrics.results > 0, !reads);
  }
  const bool one_leads_all = roles.leaders().count() == 1;
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::delta_entries) > 0, !one_leads_all);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::own_entries) > 0, !one_leads_all) << "which folds into its state at once";
}

TEST(Ingestion, HalfOfTheExecutorsProcessWhatTheOthersRead) {
  for (const auto& [nodes, executors] : {std::tuple{1U, 2U}, {2U, 1U}, {2U, 2U}, {1U, 6U}}) {
    SCOPED_TRACE(absl::StrCat(nodes, " x ", executors));
    Workload workload{.nodes = nodes, .executors = executors, .feeds = true, .records = 20'000};
    ExpectFed(workload, RunCluster(workload));
    workload.slot_bytes = 256;  // a message has three records
    workload.credits = 2;
    workload.fragment_bytes = 4'096;
    workload.epochs = {.epoch_bytes = 1'000, .epoch_min_bytes = 1, .epoch_interval_ns = 1};
    ExpectFed(workload, RunCluster(workload));
  }
}

TEST(HardStates, SmallRingsStallAndLapMoreThan256TimesAndStayExact) {
  Workload workload{.nodes = 2, .executors = 1, .records = 60'000, .keys = 50'000, .slot_bytes = 256, .credits = 2};
  workload.fragment_bytes = 16 << 10;
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::credit_stalls), 0U);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::segment_waits), 0U);
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    EXPECT_GT(metrics.max_ring_laps, 256U);
  }
}

TEST(HardStates, LogsMoveToCellsAndLaterSlicesOpenWithThem) {
  for (const std::uint32_t executors : {1U, 2U}) {
    Workload workload{.executors = executors, .records = 200'000, .keys = 200};
    SCOPED_TRACE(executors);
    workload.thresholds = {.cached_cells_bytes = 1000, .first_level_cells_bytes = 1000, .updates_between_reviews = 100};
    workload.fold = {.records_per_saved = 8,
                     .combiner_bytes = 1'024};  // so most records reach their leaders one by one
    const ClusterOutcome outcome = RunCluster(workload);
    ExpectExact(workload, outcome);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::cell_moves), 0U);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::cell_slices), 0U);
    EXPECT_GT(Total(outcome, &ExecutorMetrics::prefetched_entries), 0U);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::folded_ahead) > 0, executors == 1);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::unfit_cells), 0U);
  }
}

TEST(HardStates, ManyKeysGrowTheIndexInMidWindowAndStayExact) {
  const Workload workload{.nodes = 2, .executors = 2, .records = 100'000, .keys = 1'000'000, .span_ms = 2'000};
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    EXPECT_GT(metrics.index_growths, 3U);
  }
}

TEST(HardStates, WindowsFireBeforeTheEndOfTheStream) {
  // Epochs by bytes alone, and a lead of one window: nobody can reach the end before others have fired.
  Workload workload{.nodes = 3, .executors = 1, .records = 50'000};
  workload.epochs = {.epoch_bytes = 16 << 10, .epoch_min_bytes = 16 << 10, .epoch_interval_ns = std::int64_t{1} << 60};
  workload.max_lead_ms = workload.window_ms;
  const ClusterOutcome outcome = RunCluster(workload);
  ExpectExact(workload, outcome);
  EXPECT_GT(Total(outcome, &ExecutorMetrics::windows_fired_early), 0U);
  for (const ExecutorMetrics& metrics : outcome.metrics) {
    EXPECT_EQ(metrics.windows_fired, 10U);
    EXPECT_EQ(metrics.window_latency.count(), 10U);
  }
}

TEST(OneThread, TwoExecutorsAreExactInAnyOrderOfFibersAndRounds) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Workload workload{
        .nodes = 1, .executors = 2, .seed = seed, .records = 3'000, .keys = 500, .slot_bytes = 256, .credits = 2};
    workload.fragment_bytes = 4096;
    workload.epochs.epoch_bytes = 10'000;
    SCOPED_TRACE(absl::StrCat("order seed ", seed));
    ExpectExact(workload, RunInOneThread(workload, seed));
  }
}

TEST(OneThread, FiveExecutorsAreExactInAnyOrderOfFibersAndRounds) {
  for (std::uint64_t seed = 100; seed <= 110; ++seed) {
    Workload workload{
        .nodes = 1, .executors = 5, .seed = seed, .records = 2'000, .keys = 500, .slot_bytes = 512, .credits = 3};
    workload.epochs.epoch_bytes = 30'000;
    SCOPED_TRACE(absl::StrCat("order seed ", seed));
    ExpectExact(workload, RunInOneThread(workload, seed));
  }
}

/// Executor 0 reads one record a window and ends; executor 1 never has a record: its event time alone moves on, and it
/// ends only once it is told to.
class HeartbeatSource final : public Source<TestRecord> {
 public:
  HeartbeatSource(ExecutorId self, const std::atomic<bool>& stop) : is_silent_(Value(self) == 1), stop_(&stop) {}

  SourceBatch<TestRecord> Poll() override {
    if (now_ms_ == kEndMs) {
      return {.records = {}, .watermark_ms = now_ms_, .ended = !is_silent_ || *stop_};
    }
    record_ = {.key = 1, .event_time_ms = now_ms_, .kind = 0};
    now_ms_ += 1'000;
    return {.records = std::span(&record_, is_silent_ ? 0 : 1), .watermark_ms = now_ms_};
  }
  bool Ready() override { return now_ms_ < kEndMs || *stop_; }

 private:
  static constexpr std::int64_t kEndMs = 5'000;

  bool is_silent_;
  const std::atomic<bool>* stop_;
  TestRecord record_{};
  std::int64_t now_ms_ = 0;
};

/// Counts all leaders' rows as they come.
struct CountRows {
  std::atomic<std::uint64_t>* count;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    class CountingSink final : public Sink<Row> {
     public:
      explicit CountingSink(std::atomic<std::uint64_t>& count) : count_(&count) {}
      absl::Status Write(std::span<const Row> rows) override {
        *count_ += rows.size();
        return absl::OkStatus();
      }

     private:
      std::atomic<std::uint64_t>* count_;
    };
    return [count = count](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<CountingSink>(*count);
    };
  }
};

TEST(Heartbeats, AnEventTimeThatMovesOnWithoutRecordsLetsWindowsFire) {
  std::atomic<bool> stop{false};
  const auto open = [&stop](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<TestRecord>>> {
    return std::make_unique<HeartbeatSource>(context.executor, stop);
  };
  std::atomic<std::uint64_t> rows{0};
  using Spec = SourceSpec<TestRecord, decltype(kTestEventTime)>;
  const std::unique_ptr<Query> query = From(Spec{.open = open, .event_time_ms = kTestEventTime})
                                           .KeyBy(&TestRecord::key)
                                           .Window(Tumbling{absl::Seconds(1)})
                                           .Aggregate(Count{})
                                           .To(CountRows{&rows});
  const Workload workload{.executors = 2};
  const SteadyClock clock;
  auto run =
      NodeRun::Create({.executor = MakeExecutorConfig(workload, clock), .node = NodeId{0}, .cpus = {}}, *query, GoOn);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Connect((*run)->descriptors(), GoOn).ok());
  ASSERT_TRUE((*run)->Open([] { return absl::OkStatus(); }).ok());
  const std::int64_t deadline_ns = clock.NowNanos() + 10'000'000'000;
  const absl::Status status = (*run)->Run([&] {
    stop = rows == 5 || clock.NowNanos() > deadline_ns;
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  std::uint64_t fired = 0;
  std::uint64_t fired_early = 0;
  for (const auto& executor : (*run)->executors()) {
    fired += executor->metrics().windows_fired;
    fired_early += executor->metrics().windows_fired_early;
  }
  EXPECT_EQ(fired, 5U);
  EXPECT_EQ(fired_early, 5U) << "they waited for the end of a stream that has no records";
}

TEST(Failure, AStateBudgetThatIsTooSmallEndsTheRunWithItsName) {
  Workload workload{.nodes = 1, .executors = 2, .records = 300'000, .keys = 10'000'000, .span_ms = 1'000};
  const SteadyClock clock;
  std::vector<std::vector<TestRow>> rows(2);
  const std::unique_ptr<Query> query = MakeTestQuery(workload, rows);
  ExecutorConfig config = MakeExecutorConfig(workload, clock);
  config.state_limit_bytes = 2 << 20;
  auto run = NodeRun::Create({.executor = config, .node = NodeId{0}, .cpus = {}}, *query, GoOn);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Connect((*run)->descriptors(), GoOn).ok());
  ASSERT_TRUE((*run)->Open(GoOn).ok());
  const absl::Status status = (*run)->Run(GoOn);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("--memory-limit"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("epoch"), absl::string_view::npos) << status;
}

TEST(Failure, TheWatchEndsARunInTheMiddle) {
  Workload workload{.nodes = 1, .executors = 2, .records = 1'000};
  workload.max_lead_ms = 1;
  const SteadyClock clock;
  std::vector<std::vector<TestRow>> rows(4);
  workload.executors = 4;  // of which two never come: the others would wait for ever
  const std::unique_ptr<Query> query = MakeTestQuery(workload, rows);
  workload.executors = 2;
  workload.nodes = 2;
  std::vector<std::unique_ptr<NodeRun>> nodes;
  std::vector<rdma::MeshDescriptor> descriptors;
  for (std::uint32_t node = 0; node < 2; ++node) {
    auto run = NodeRun::Create({.executor = MakeExecutorConfig(workload, clock), .node = NodeId{node}, .cpus = {}},
                               *query, GoOn);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const auto& descriptor : (*run)->descriptors()) {
      descriptors.push_back(descriptor);
    }
    nodes.push_back(*std::move(run));
  }
  ASSERT_TRUE(nodes[0]->Connect(descriptors, GoOn).ok());
  ASSERT_TRUE(nodes[0]->Open(GoOn).ok());
  int asked = 0;
  const absl::Status status =
      nodes[0]->Run([&] { return ++asked < 3 ? absl::OkStatus() : absl::UnavailableError("rank 1 is gone"); });
  EXPECT_EQ(status.message(), "rank 1 is gone");
}

}  // namespace
}  // namespace glaive::engine
