// Cluster monitoring whole: all profiles over several cluster shapes and out of order, with windows that the slide
// divides and others, checked by the oracle; and wrong results are caught.

#include "queries/cm/cm_query.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "queries/cm/accounts.h"
#include "queries/cm/generator.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::cm {
namespace {

struct CmCase {
  Profile profile;
  CheckedWindows windows;
};

constexpr CmCase kMeans{.profile = Profile::kSlash, .windows = {.size_ms = 2'000, .slide_ms = 2'000}};
constexpr CmCase kClassSums{.profile = Profile::kCm1, .windows = {.size_ms = 3'000, .slide_ms = 500}};
constexpr CmCase kMachineCounts{.profile = Profile::kMachines, .windows = {.size_ms = 2'000, .slide_ms = 2'000}};
constexpr CmCase kEverything{.profile = Profile::kAll, .windows = {.size_ms = 2'000, .slide_ms = 2'000}};
constexpr CmCase kFailureSums{.profile = Profile::kCm2, .windows = {.size_ms = 3'000, .slide_ms = 700}};

std::optional<std::uint64_t> JobOf(const TaskEvent& event) { return static_cast<std::uint64_t>(event.job_id); }

Oracle<TaskEvent>::KeyOf KeyOf(Profile profile) {
  switch (profile) {
    case Profile::kCm1:
      return [](const TaskEvent& event) { return std::optional(static_cast<std::uint64_t>(event.category)); };
    case Profile::kCm2:
      return
          [](const TaskEvent& event) { return event.event_type == TaskEventType::kFail ? JobOf(event) : std::nullopt; };
    case Profile::kMachines:
    case Profile::kAll:
    case Profile::kSlash:
      break;
  }
  return JobOf;
}

absl::Status VerifyCm(const CmCase& query, const QueryRun<TaskEvent>& run) {
  switch (query.profile) {
    case Profile::kSlash:
      return Verify<CpuMean>(run, query.windows, KeyOf(query.profile));
    case Profile::kMachines:
      return Verify<MachineCount>(run, query.windows, KeyOf(query.profile));
    case Profile::kAll:
      return Verify<CpuEverything>(run, query.windows, KeyOf(query.profile));
    case Profile::kCm1:
    case Profile::kCm2:
      break;
  }
  return Verify<CpuSum>(run, query.windows, KeyOf(query.profile));
}

/// A run over half a minute, and as much for each repetition.
QueryRun<TaskEvent> RunCm(const CmCase& query, const engine::Workload& cluster, Reading reading,
                          std::int64_t disorder_ms) {
  reading.span_ms = 42'000;  // a multiple of all slides
  InputOptions input{.seed = cluster.seed,
                     .keys = {.count = cluster.keys, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 0.9}}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = reading.span_ms},
                    .align_ms = reading.span_ms,
                    .disorder_ms = disorder_ms};
  const CmOptions options{.profile = query.profile,
                          .window = absl::Milliseconds(query.windows.size_ms),
                          .slide = absl::Milliseconds(query.windows.slide_ms),
                          .allowed_lateness = absl::Milliseconds(reading.allowed_lateness_ms)};
  return RunQuery<TaskEventTime, TaskEvent>(
      cluster, std::make_shared<TaskEventGenerator>(input), reading,
      [&](const auto& events, const auto& sinks) { return BuildCm(options, events, sinks); });
}

std::string NameOf(const CmCase& query) {
  const std::array<const char*, 5> names = {"Slash", "Cm1", "Cm2", "Machines", "All"};
  return absl::StrCat(names.at(static_cast<std::size_t>(query.profile)), "Slide", query.windows.slide_ms);
}

void PrintTo(const CmCase& query, std::ostream* out) { *out << NameOf(query); }

class CmCluster : public ::testing::TestWithParam<ClusterShape<CmCase>> {};

TEST_P(CmCluster, EventsOutOfOrderCountUnlessTheyAreLate) {
  const auto& [nodes, executors, query] = GetParam();
  const QueryRun<TaskEvent> run = RunCm(query,
                                        {.nodes = nodes,
                                         .executors = executors,
                                         .seed = 7,
                                         .records = 3'000,
                                         .keys = 200,
                                         .slot_bytes = 4'096,
                                         .max_lead_ms = 8'000},
                                        {.repetitions = 2, .watermark_every = 50, .allowed_lateness_ms = 500},
                                        /*disorder_ms=*/6'000);
  ExpectRight(
      run, [&](const auto& right) { return VerifyCm(query, right); },
      [&](const auto& right) { return CountLateRecords(right, query.windows, KeyOf(query.profile)); });
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::partly_late_records) > 0,
            query.windows.size_ms > query.windows.slide_ms);
}

TEST_P(CmCluster, EventsInOrderAllCount) {
  const auto& [nodes, executors, query] = GetParam();
  const QueryRun<TaskEvent> run =
      RunCm(query, {.nodes = nodes, .executors = executors, .seed = 8, .records = 2'000, .keys = 200},
            {.repetitions = 2}, /*disorder_ms=*/0);
  ExpectRight(run, [&](const auto& right) { return VerifyCm(query, right); }, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CmCluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U),
                                            ::testing::Values(kMeans, kClassSums, kFailureSums, kMachineCounts,
                                                              kEverything)),
                         [](const auto& shape) { return NameOfShape(shape.param, NameOf(std::get<2>(shape.param))); });

class CmWrongResult : public ::testing::TestWithParam<CmCase> {};

TEST_P(CmWrongResult, IsCaught) {
  ExpectWrongResultsAreCaught(RunCm(GetParam(), {.nodes = 2, .seed = 2, .records = 1'000, .keys = 100},
                                    {.watermark_every = 10, .allowed_lateness_ms = 500}, /*disorder_ms=*/6'000),
                              [](const auto& run) { return VerifyCm(GetParam(), run); });
}

INSTANTIATE_TEST_SUITE_P(Profiles, CmWrongResult,
                         ::testing::Values(kMeans, kClassSums, kFailureSums, kMachineCounts, kEverything),
                         [](const auto& query) { return NameOf(query.param); });

}  // namespace
}  // namespace glaive::queries::cm
