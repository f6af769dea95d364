// Late records and the sink that LateTo() names, against a loop over every record and its reader's watermark.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "engine/api/stream.h"
#include "engine/sink/collect.h"
#include "engine/sink/csv.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/disordered_source.h"
#include "tests/engine/temporary_folder.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

constexpr Disorder kLateDisorder{.range_ms = 3'000, .bound_ms = 300};
constexpr std::int64_t kSizeMs = 500;
constexpr std::int64_t kLatenessMs = 400;

/// What the query's steps make of a record; it has no default.
struct OnlyKey {
  explicit OnlyKey(const TestRecord& record) : key(record.key) {}

  static constexpr std::string_view kCsvHeader = "key";
  friend void AppendCsv(std::string& line, const OnlyKey& only) { absl::StrAppend(&line, only.key); }

  std::uint64_t key;
};
using LateKey = LateRecord<OnlyKey>;
using Line = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;  // event time, watermark, key

Line LineOf(const LateKey& late) { return {late.event_time_ms, late.watermark_ms, late.record.key}; }

// The late records in the order in which they are read, for windows that end a multiple of kSizeMs after 1970.
std::vector<Line> SequentialLate(const Workload& workload, std::int64_t lateness_ms) {
  std::vector<Line> lines;
  ForEachRecord(workload, kLateDisorder, [&](const TestRecord& record, std::int64_t watermark_ms) {
    const std::int64_t into_window_ms = (record.event_time_ms % kSizeMs + kSizeMs) % kSizeMs;  // before 1970, too
    const std::int64_t end_ms = record.event_time_ms - into_window_ms + kSizeMs;
    const std::int64_t judged_by_ms = AfterLateness(watermark_ms, lateness_ms);
    if (record.kind == 0 && end_ms <= judged_by_ms) {
      lines.emplace_back(record.event_time_ms, judged_by_ms, record.key);
    }
  });
  return lines;
}

auto Windowed(const Workload& workload) {
  return From(DisorderedRecords(workload, kLateDisorder))
      .Filter([](const TestRecord& record) { return record.kind == 0; })
      .Map([](const TestRecord& record) { return OnlyKey(record); })
      .KeyBy(&OnlyKey::key)
      .Window(Tumbling{absl::Milliseconds(kSizeMs)});
}

TEST(LateOutput, HasExactlyTheLateRecordsOfEachReader) {
  for (const Workload& workload : DisorderedWorkloads(60)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    for (const bool lateness_first : {true, false}) {
      std::vector<std::vector<LateKey>> late(workload.executor_count());
      const std::unique_ptr<Query> query = lateness_first ? Windowed(workload)
                                                                .AllowedLateness(absl::Milliseconds(kLatenessMs))
                                                                .LateTo(Collect(late))
                                                                .Aggregate(Count{})
                                                                .To(Discard{})
                                                          : Windowed(workload)
                                                                .LateTo(Collect(late))
                                                                .AllowedLateness(absl::Milliseconds(kLatenessMs))
                                                                .Aggregate(Count{})
                                                                .To(Discard{});
      ClusterOutcome outcome;
      outcome.status = RunNodes(workload, *query, outcome.metrics);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      std::vector<Line> lines;
      for (std::size_t executor = 0; executor < late.size(); ++executor) {
        EXPECT_EQ(late[executor].size(), outcome.metrics[executor].late_records);
        std::transform(late[executor].begin(), late[executor].end(), std::back_inserter(lines), LineOf);
      }
      const std::vector<Line> expected = SequentialLate(workload, kLatenessMs);
      EXPECT_GT(expected.size(), 100U);
      ASSERT_TRUE(SameElements(lines, expected));
      EXPECT_TRUE(SameSequence(lines, expected)) << "they are in another order";
    }
  }
}

TEST(LateOutput, AsCsvHasAFileOfEachReaderWhoseNamesAreFinalWithTheResults) {
  const Workload workload = DisorderedWorkloads(60)[2];
  const TemporaryFolder folder;
  const std::string path = folder.path() / "late.csv";
  const std::unique_ptr<Query> query =
      Windowed(workload).LateTo(Csv{path}).Aggregate(Count{}).To(Csv{folder.path() / "counts.csv"});
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
  std::vector<std::string> lines;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    std::ifstream file(PartPath(path, ExecutorId{executor}, workload.executor_count()));
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    EXPECT_EQ(line, "event_time_ms,watermark_ms,key");
    while (std::getline(file, line)) {
      lines.push_back(line);
    }
  }
  std::vector<std::string> expected;
  for (const auto& [event_time_ms, watermark_ms, key] : SequentialLate(workload, 0)) {
    expected.push_back(absl::StrCat(event_time_ms, ",", watermark_ms, ",", key));
  }
  ASSERT_TRUE(SameElements(lines, expected));
  EXPECT_TRUE(SameSequence(lines, expected)) << "they are in another order";
}

// A reader that waits for a segment in the middle of a batch goes on behind the record at which it has stopped: the
// steps before a window are called once for each record, also for late ones.
TEST(LateOutput, StepsAreCalledOnceForEachRecordWhileReadersWaitForSegments) {
  for (Workload workload : DisorderedWorkloads(5'000)) {
    SCOPED_TRACE(absl::StrCat(workload.nodes, " nodes of ", workload.executors));
    // Readers write entries much faster than two small slots a round carry them: nearly each record is an entry.
    workload.records = 20'000;
    workload.slot_bytes = 256;
    workload.credits = 2;
    workload.fragment_bytes = 4'096;
    workload.fold.combiner_bytes = 1;
    std::vector<std::atomic<std::uint64_t>> calls(workload.keys);
    std::vector<std::vector<LateKey>> late(workload.executor_count());
    std::vector<std::vector<TestRow>> rows(workload.executor_count());
    const std::unique_ptr<Query> query = From(DisorderedRecords(workload, kLateDisorder))
                                             .Inspect([&calls](const TestRecord& record) { ++calls[record.key]; })
                                             .Map([](const TestRecord& record) { return OnlyKey(record); })
                                             .KeyBy(&OnlyKey::key)
                                             .Window(Tumbling{absl::Milliseconds(kSizeMs)})
                                             .LateTo(Collect(late))
                                             .Aggregate(Count{})
                                             .To(Collect(rows));
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload, *query, outcome.metrics);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    std::vector<std::uint64_t> expected(workload.keys);
    ForEachRecord(workload, kLateDisorder,
                  [&](const TestRecord& record, std::int64_t /*watermark_ms*/) { ++expected[record.key]; });
    EXPECT_TRUE(SameSequence(std::vector<std::uint64_t>(calls.begin(), calls.end()), expected))
        << "a record was seen twice, or not at all";
    std::vector<std::uint64_t> counted(workload.keys);
    for (const auto& leader : rows) {
      for (const TestRow& row : leader) counted[row.key] += row.value;
    }
    for (const auto& reader : late) {
      for (const LateKey& each : reader) ++counted[each.record.key];
    }
    EXPECT_TRUE(SameSequence(counted, expected)) << "a record was counted twice, or not at all";
    EXPECT_GT(Total(outcome, &ExecutorMetrics::late_records), 100U);
    EXPECT_EQ(Total(outcome, &ExecutorMetrics::segment_waits) > 0, workload.executor_count() > 1);
  }
}

// Takes rows only now and then, and takes a while to finish.
class SlowSink final : public Sink<LateKey> {
 public:
  explicit SlowSink(std::vector<LateKey>& rows) : rows_(&rows) {}

  bool Ready() override { return ++asked_ % 5 == 0; }
  absl::Status Write(std::span<const LateKey> rows) override {
    if (asked_ % 5 != 0) return absl::InternalError("nobody waited for the sink");
    ++asked_;
    rows_->insert(rows_->end(), rows.begin(), rows.end());
    return absl::OkStatus();
  }
  absl::StatusOr<bool> TryFinish() override { return ++finishing_ == 3; }
  absl::Status Commit() override { return finishing_ == 3 ? absl::OkStatus() : absl::InternalError("not finished"); }

 private:
  std::vector<LateKey>* rows_;
  int asked_ = 0;
  int finishing_ = 0;
};

struct Slow {
  std::vector<std::vector<LateKey>>* rows;

  template <typename Row>
    requires std::same_as<Row, LateKey>
  SinkFactory<Row> Factory() const {
    return [rows = rows](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<SlowSink>((*rows)[Value(context.executor)]);
    };
  }
};

TEST(LateOutput, WaitsForItsSink) {
  const Workload workload = DisorderedWorkloads(60)[1];
  std::vector<std::vector<LateKey>> late(workload.executor_count());
  const std::unique_ptr<Query> query = Windowed(workload).LateTo(Slow{&late}).Aggregate(Count{}).To(Discard{});
  std::vector<ExecutorMetrics> metrics;
  ASSERT_EQ(RunNodes(workload, *query, metrics), absl::OkStatus());
  EXPECT_EQ(late[0].size() + late[1].size(), SequentialLate(workload, 0).size());
}

TEST(LateOutput, ASinkThatFailsEndsTheRun) {
  Workload workload = DisorderedWorkloads(60)[0];
  std::vector<std::vector<LateKey>> late(workload.executor_count());
  const std::unique_ptr<Query> query =
      Windowed(workload).LateTo(Collect(late, /*max_rows=*/10)).Aggregate(Count{}).To(Discard{});
  std::vector<ExecutorMetrics> metrics;
  EXPECT_EQ(RunNodes(workload, *query, metrics).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace glaive::engine
