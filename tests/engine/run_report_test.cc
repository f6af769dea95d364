#include "engine/metrics/run_report.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "engine/metrics/counter_fields.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Json = nlohmann::json;

// An executor whose every counter is different: 1000, 1001, ... in the order of their table for executor 0, and 2000,
// 2001, ... for executor 1.
ExecutorMetrics Sample(std::uint32_t executor) {
  ExecutorMetrics metrics;
  metrics.executor = executor;
  std::uint64_t value = 1000 * (executor + 1);
  for (const CounterField& field : kCounterFields) metrics.*field.member = value++;
  metrics.first_bad_record = executor == 0 ? "" : "events.csv:7:3: a number is expected";
  metrics.first_batch_ns = 1'000'000'000 + executor;
  metrics.last_result_ns = 3'000'000'000 + executor * 1'000'000'000;
  metrics.window_latency.Add(2'000'000 * (executor + 1));
  metrics.row_latency.Add(7'000, 10);
  return metrics;
}

std::vector<NodeMetrics> TwoNodes() {
  return {{.node = 0,
           .peak_memory_bytes = 100,
           .ring_bytes = 10,
           .regions = {{.what = "rings over shm", .bytes = 10, .pages = {"huge"}}},
           .executors = {Sample(0)},
           .parts = {{.output = "o.csv", .rows = 2, .bytes = 40, .inode = 6}}},
          {.node = 1,
           .peak_memory_bytes = 200,
           .ring_bytes = 20,
           .regions = {{.what = "state", .bytes = 7, .pages = {"base"}},
                       {.what = "rings over shm", .bytes = 20, .pages = {"base"}}},
           .executors = {Sample(1)},
           .parts = {{.output = "o.csv", .executor = 1, .rows = 3, .bytes = 50, .inode = 7}}}};
}

RunReport FullReport() {
  RunReport report = BuildRunReport(TwoNodes(), {.one_host = true});
  report.program = "ysb";
  report.machine.rdma_devices = {"mlx5_0"};
  report.transport = "shm";
  report.devices = {"rxe0 port 1", "rxe1 port 1"};
  report.processors = {"0, 1", ""};
  report.settings = {{"keys", "10"}, {"slot-bytes", "64KiB"}};
  report.verification = Verification::kPassed;
  report.files = {{.path = "o.csv.part-000-of-002", .rows = 1234, .bytes = 4096}};
  return report;
}

TEST(RunReport, AddsUpCountersAndTakesTheLargestOfMaxima) {
  const std::set<std::string> maxima = {"longest_round_ns", "max_ring_laps", "schedule_ns", "schedule_lag_ns",
                                        "last_schedule_lag_ns"};  // all others are added up
  const RunReport report = FullReport();
  std::uint64_t place = 0;
  for (const CounterField& field : kCounterFields) {
    EXPECT_EQ(report.total.*field.member, maxima.contains(field.name) ? 2000 + place : 3000 + 2 * place) << field.name;
    ++place;
  }
  EXPECT_EQ(report.first_bad_record, "events.csv:7:3: a number is expected") << "executor 0 has none";
  EXPECT_EQ(report.nodes, 2U);
  EXPECT_EQ(report.executors_per_node, 1U);
  EXPECT_EQ(report.peak_memory_bytes, 300U);
  EXPECT_EQ(report.ring_bytes, 30U);
  ASSERT_EQ(report.regions.size(), 2U);
  EXPECT_EQ(report.regions[0].what, "rings over shm");
  EXPECT_EQ(report.regions[0].bytes, 30U);
  EXPECT_THAT(report.regions[0].pages, ElementsAre("base", "huge"));
  EXPECT_EQ(report.regions[1].what, "state");
}

TEST(RunReport, MeasuresFromTheFirstBatchToTheLastResultOfAll) {
  const RunReport report = FullReport();
  EXPECT_DOUBLE_EQ(report.seconds, 3.0);  // 1 s to 4 s, both by one clock
  EXPECT_DOUBLE_EQ(report.executors[0].seconds, 2.0);
}

TEST(RunReport, HasRatesAndRecordsPerEntry) {
  std::vector<NodeMetrics> nodes = TwoNodes();  // 3 s
  for (NodeMetrics& node : nodes) {
    ExecutorMetrics& executor = node.executors[0];
    executor.records = 600;
    executor.input_bytes = 4'500'000'000;
    executor.folded_records = 70;
    executor.appended_records = 30;
    executor.own_entries = 15;
    executor.delta_entries = 25;
  }
  const RunReport report = BuildRunReport(nodes, {.one_host = true});
  EXPECT_DOUBLE_EQ(report.records_per_second, 400);
  EXPECT_DOUBLE_EQ(report.gigabytes_per_second, 3);
  EXPECT_DOUBLE_EQ(report.folds_per_delta_entry, 2.5);
}

TEST(RunReport, ComparesNoClocksOfDifferentHosts) {
  const RunReport report = BuildRunReport(TwoNodes(), {.one_host = false});
  EXPECT_NEAR(report.seconds, 3.0, 1e-6);  // the slower executor's own time
  EXPECT_FALSE(report.window_latency.measured);
}

TEST(RunReport, LatenciesComeFromAllExecutors) {
  const Latency latency = FullReport().window_latency;
  EXPECT_TRUE(latency.measured);
  EXPECT_EQ(latency.samples, 2U);
  EXPECT_NEAR(latency.p50_ms, 2.0, 0.07) << "as wide as a bucket";
  EXPECT_DOUBLE_EQ(latency.p99_ms, 4.0);
  EXPECT_DOUBLE_EQ(latency.max_ms, 4.0);
}

TEST(RunReport, AScheduleIsSustainedIfItsLastRecordsWereReadInTime) {
  std::vector<NodeMetrics> nodes = TwoNodes();
  const auto schedule_of = [&](std::uint64_t last_lag_ns, std::uint64_t schedule_ns) {
    for (NodeMetrics& node : nodes) {
      ExecutorMetrics& executor = node.executors[0];
      executor.scheduled_records = 1'001;
      executor.schedule_ns = schedule_ns;
      executor.schedule_lag_ns = 900'000'000;
      executor.last_schedule_lag_ns = 0;
    }
    nodes[1].executors[0].last_schedule_lag_ns = last_lag_ns;
    return BuildRunReport(nodes, {.one_host = true}).schedule;
  };
  const ScheduleReport short_one = schedule_of(100'000'000, 1'000'000'000);
  EXPECT_TRUE(short_one.has_records);
  EXPECT_DOUBLE_EQ(short_one.records_per_second, 2'000);
  EXPECT_DOUBLE_EQ(short_one.lag_ms, 900);
  EXPECT_DOUBLE_EQ(short_one.last_lag_ms, 100);
  EXPECT_TRUE(short_one.sustained);
  EXPECT_FALSE(schedule_of(101'000'000, 1'000'000'000).sustained);
  EXPECT_TRUE(schedule_of(600'000'000, 60'000'000'000).sustained) << "1 % of a minute";
  EXPECT_FALSE(schedule_of(601'000'000, 60'000'000'000).sustained);
  nodes[0].executors[0].scheduled_records = nodes[1].executors[0].scheduled_records = 0;
  EXPECT_FALSE(BuildRunReport(nodes, {.one_host = true}).schedule.has_records);
}

TEST(RunReport, ARunThatDidNothingHasNoInfiniteRates) {
  const std::vector<NodeMetrics> nodes = {{.node = 0, .executors = {ExecutorMetrics{}}}};
  const RunReport report = BuildRunReport(nodes, {.one_host = true});
  EXPECT_EQ(report.records_per_second, 0);
  EXPECT_EQ(report.folds_per_delta_entry, 0);
  EXPECT_FALSE(report.window_latency.measured);
  EXPECT_THAT(ToJsonLine(report), testing::Not(testing::ContainsRegex("[:,[]null")));
}

TEST(RunReport, ExecutorsAreListedByNumber) {
  std::vector<NodeMetrics> nodes = TwoNodes();
  std::swap(nodes[0], nodes[1]);
  const RunReport report = BuildRunReport(nodes, {.one_host = true});
  EXPECT_EQ(report.executors[0].executor, 0U);
  EXPECT_EQ(report.executors[1].node, 1U);
}

TEST(RunReportJson, IsOneLineWithTheValuesOfTheReport) {
  const std::string line = ToJsonLine(FullReport());
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  const Json json = Json::parse(line);
  EXPECT_EQ(json["program"], "ysb");
  EXPECT_EQ(json["transport"], "shm");
  EXPECT_EQ(json["devices"], Json({"rxe0 port 1", "rxe1 port 1"}));
  EXPECT_EQ(json["processors"], Json({"0, 1", ""}));
  EXPECT_EQ(json["settings"]["slot-bytes"], "64KiB");
  EXPECT_EQ(json["records"], 3000U);
  EXPECT_EQ(json["first_bad_record"], "events.csv:7:3: a number is expected");
  EXPECT_EQ(json["verification"], "passed");
  EXPECT_EQ(json["machine"]["rdma_devices"], Json({"mlx5_0"}));
  EXPECT_EQ(json["files"], Json({{{"path", "o.csv.part-000-of-002"}, {"rows", 1234}, {"bytes", 4096}}}));
  EXPECT_EQ(json["executors"].size(), 2U);
  EXPECT_EQ(json["executors"][1]["records"], 2000U);
  EXPECT_EQ(json["window_latency"]["max_ms"], 4.0);
}

TEST(RunReportJson, TextThatIsNotUtf8DoesNotSpoilTheLine) {
  RunReport report = FullReport();
  report.settings["output"] = "\xff.csv";
  EXPECT_TRUE(Json::accept(ToJsonLine(report)));
}

// The names in a table of docs/metrics.md below `heading`.
std::set<std::string> DocumentedFields(const std::string& heading) {
  std::ifstream page("docs/metrics.md");
  EXPECT_TRUE(page.is_open()) << "tests run in the project's root";
  std::set<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## " + heading;
    if (inside && line.rfind("| `", 0) == 0) names.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

// Adds the paths of all fields of an object, dots between the levels.
void CollectFields(const Json& object, const std::string& prefix, std::set<std::string>& names) {
  for (const auto& [key, value] : object.items()) {
    if (key == "settings") {
      names.insert(prefix + "settings.*");
    } else if (value.is_object()) {
      CollectFields(value, prefix + key + ".", names);
    } else {
      names.insert(prefix + key);
    }
  }
}

TEST(RunReportJson, EveryFieldIsDocumentedAndEveryDocumentedFieldIsThere) {
  const Json json = Json::parse(ToJsonLine(FullReport()));
  const std::set<std::string> counters = DocumentedFields("Counters");

  std::set<std::string> documented = DocumentedFields("The run");
  documented.insert(counters.begin(), counters.end());
  std::set<std::string> produced;
  CollectFields(json, "", produced);
  EXPECT_EQ(produced, documented);

  std::set<std::string> produced_for_regions;
  CollectFields(json["regions"][0], "regions[].", produced_for_regions);
  EXPECT_EQ(produced_for_regions, DocumentedFields("Each region"));

  std::set<std::string> produced_for_files;
  CollectFields(json["files"][0], "files[].", produced_for_files);
  EXPECT_EQ(produced_for_files, DocumentedFields("Each file"));

  std::set<std::string> documented_for_executors = DocumentedFields("Each executor");
  for (const std::string& counter : counters) documented_for_executors.insert("executors[]." + counter);
  std::set<std::string> produced_for_executors;
  CollectFields(json["executors"][0], "executors[].", produced_for_executors);
  EXPECT_EQ(produced_for_executors, documented_for_executors);
}

TEST(RunReportTable, ShowsTheFiguresWithTheirTransport) {
  std::ostringstream out;
  PrintTable(FullReport(), out);
  EXPECT_THAT(
      out.str(),
      AllOf(HasSubstr("transport shm"), HasSubstr("records/s"), HasSubstr("idle "), HasSubstr("credit stalls"),
            HasSubstr("executor 1"), HasSubstr("verification       passed"),
            HasSubstr("skipped, first: events.csv:7:3: a number is expected\n"), HasSubstr("outside the input's time"),
            HasSubstr("result file        o.csv.part-000-of-002: 1,234 rows, 4KiB"),
            HasSubstr("pages              rings over shm base+huge, state base")));
}

TEST(RunReportTable, SaysNothingOfSkippedRecordsWhenThereAreNone) {
  RunReport report = FullReport();
  report.total.bad_records = 0;
  report.total.outside_records = 0;
  std::ostringstream out;
  PrintTable(report, out);
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("skipped")));
}

TEST(NodeMetrics, ArriveAsTheyWereSent) {
  const NodeMetrics sent = TwoNodes()[1];
  const auto got = DecodeNodeMetrics(EncodeNodeMetrics(sent));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->node, 1U);
  EXPECT_EQ(got->peak_memory_bytes, 200U);
  EXPECT_EQ(got->ring_bytes, 20U);
  ASSERT_EQ(got->regions.size(), 2U);
  EXPECT_EQ(got->regions[1].what, "rings over shm");
  EXPECT_EQ(got->regions[1].bytes, 20U);
  EXPECT_THAT(got->regions[1].pages, ElementsAre("base"));
  EXPECT_THAT(got->parts, ElementsAre(sent.parts[0]));
  ASSERT_EQ(got->executors.size(), 1U);
  const ExecutorMetrics& executor = got->executors[0];
  for (const CounterField& field : kCounterFields) {
    EXPECT_EQ(executor.*field.member, sent.executors[0].*field.member) << field.name;
  }
  EXPECT_EQ(executor.executor, 1U);
  EXPECT_EQ(executor.first_bad_record, sent.executors[0].first_bad_record);
  EXPECT_EQ(executor.first_batch_ns, sent.executors[0].first_batch_ns);
  EXPECT_EQ(executor.last_result_ns, sent.executors[0].last_result_ns);
  EXPECT_EQ(executor.window_latency.count(), 1U);
  EXPECT_EQ(executor.window_latency.max_ns(), 4'000'000);
  EXPECT_EQ(executor.window_latency.buckets().size(), 1U);
  EXPECT_EQ(executor.row_latency.count(), 10U);
  EXPECT_EQ(executor.row_latency.max_ns(), 7'000);
}

TEST(NodeMetrics, NeitherMissingNorWrongFieldsAreTaken) {
  const Json good = Json::parse(EncodeNodeMetrics(TwoNodes()[0]));
  for (const auto& field : good.items()) {
    Json bad = good;
    bad.erase(field.key());
    EXPECT_THAT(DecodeNodeMetrics(bad.dump()).status().message(), HasSubstr(field.key()));
    bad[field.key()] = nullptr;
    EXPECT_THAT(DecodeNodeMetrics(bad.dump()).status().message(), HasSubstr(field.key()));
  }
  for (const auto& field : good["executors"][0].items()) {
    Json bad = good;
    bad["executors"][0][field.key()] = nullptr;
    EXPECT_THAT(DecodeNodeMetrics(bad.dump()).status().message(), HasSubstr(field.key()));
  }
  for (const auto& field : good["regions"][0].items()) {
    Json bad = good;
    bad["regions"][0][field.key()] = nullptr;
    EXPECT_THAT(DecodeNodeMetrics(bad.dump()).status().message(), HasSubstr("regions"));
  }
  for (const auto& field : good["parts"][0].items()) {
    Json bad = good;
    bad["parts"][0][field.key()] = nullptr;
    EXPECT_THAT(DecodeNodeMetrics(bad.dump()).status().message(), HasSubstr("parts"));
  }
  for (const char* text : {"", "{", "[]", "7"}) EXPECT_FALSE(DecodeNodeMetrics(text).ok()) << text;
}

TEST(PeakMemory, IsAboveZeroAndNeverShrinks) {
  const std::uint64_t before = PeakMemoryBytes();
  EXPECT_GT(before, 0U);
  EXPECT_GE(PeakMemoryBytes(), before);
}

}  // namespace
}  // namespace glaive::engine
