// scaling_bench's command line, and that it finds results that differ.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/scaling/engine_run.h"
#include "bench/scaling/loop_run.h"
#include "bench/scaling/settings.h"
#include "bench/scaling/turns.h"

namespace glaive::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<int> Parse(std::vector<std::string> arguments, Settings& settings) {
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "scaling_bench");
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  return ParseSettings(static_cast<int>(argv.size()), argv.data(), settings);
}

TEST(ScalingSettingsTest, WithoutFlagsAllWorkloadsRunOnOneAndTwoExecutors) {
  Settings settings;
  EXPECT_EQ(Parse({}, settings), std::nullopt);
  EXPECT_THAT(settings.executors, ElementsAre(1, 2));
  EXPECT_EQ(settings.workloads.size(), WorkloadKinds().size());
}

TEST(ScalingSettingsTest, FlagsReplaceTheWorkloadsInput) {
  Settings settings;
  EXPECT_EQ(Parse({"--workload=nb7", "--records=70", "--keys=5", "--executors=4,8"}, settings), std::nullopt);
  ASSERT_EQ(settings.workloads.size(), 1u);
  EXPECT_EQ(settings.workloads[0].name, "nb7");
  EXPECT_EQ(settings.workloads[0].input.records, 70u);
  EXPECT_EQ(settings.workloads[0].input.keys, 5u);
  EXPECT_EQ(settings.workloads[0].input.repetitions, 3u) << "its own";
  EXPECT_EQ(settings.workloads[0].input.key_distribution, "zipf:1.16") << "its own";
  EXPECT_THAT(settings.executors, ElementsAre(4, 8));
}

TEST(ScalingSettingsTest, FlagsThatMakeNoSenseAreRefused) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--executors=1,4"},
                                             {"--executors=0"},
                                             {"--executors=65"},
                                             {"--executors="},
                                             {"--executors=two"},
                                             {"--workload=none"},
                                             {"--key-distribution=flat"},
                                             {"--skew", "--workload=nb7"},
                                             {"--skew", "--executors=4"},
                                             {"--skew", "--key-distribution=zipf:1"},
                                             {"--uppar", "--executors=2,3"},
                                             {"--uppar", "--skew"},
                                             {"--uppar", "--workload=swa"},
                                             {"--runs=0"}}) {
    Settings settings;
    EXPECT_EQ(Parse(arguments, settings), 2) << testing::PrintToString(arguments);
  }
}

/// The workload of that name on a small input of two executors.
Workload SmallWorkload(const std::string& name) {
  for (const WorkloadKind& kind : WorkloadKinds()) {
    if (kind.name == name) {
      InputSize size = kind.input;
      size.records = 5'000;
      size.repetitions = 2;
      size.executors = 2;
      return *MakeWorkload(kind, size);
    }
  }
  return {};
}

TEST(ScalingRunsTest, TwoExecutorsEmitWhatASequentialLoopDoesHoweverTheyAreJoined) {
  for (const std::string name : {"ysb_star", "cm1", "nb8", "wordcount"}) {
    const Workload workload = SmallWorkload(name);
    const queries::Totals expected = (*workload.make_sequential_loop())();
    for (const Deployment& deployment : {Deployment{.nodes = 1, .executors = 2}, Deployment{.nodes = 2}}) {
      const absl::StatusOr<Measurement> run = RunEngine(workload, deployment, /*prefault_bytes=*/0);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_EQ(run->totals, expected) << name << ", " << deployment.Name();
      EXPECT_EQ(run->records, 2 * workload.records);
      EXPECT_GT(run->processor_seconds, 0);
      EXPECT_GT(run->latency.windows, 0u);
    }
  }
}

TEST(ScalingRunsTest, UpParAndTheThreadsThatPartitionEmitWhatASequentialLoopDoes) {
  for (const std::string name : {"ysb", "nb7", "cm", "ro"}) {
    InputSize size{.records = 10'000, .repetitions = 2, .keys = 1'000};
    for (const WorkloadKind& kind : WorkloadKinds()) {
      if (kind.name != name) continue;
      const Workload workload = *MakeWorkload(kind, size);
      const queries::Totals expected = (*workload.make_sequential_loop())();
      const absl::StatusOr<Measurement> uppar =
          RunEngine(workload, {.nodes = 1, .executors = 2, .partitioners = 1}, /*prefault_bytes=*/0);
      ASSERT_TRUE(uppar.ok()) << uppar.status();
      EXPECT_EQ(uppar->totals, expected) << name;
      EXPECT_EQ(uppar->records, workload.records);
      Workload threads = workload;
      threads.make_loop = workload.make_partition_loop;
      const absl::StatusOr<Measurement> loop = RunLoops(threads, 2);
      ASSERT_TRUE(loop.ok()) << loop.status();
      EXPECT_EQ(loop->totals, expected) << name;
    }
  }
}

TEST(ScalingRunsTest, ThreadsOfALoopAddUp) {
  const Workload workload = SmallWorkload("swa");
  const absl::StatusOr<Measurement> one = RunLoops(workload, 1);
  const absl::StatusOr<Measurement> two = RunLoops(workload, 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->records, workload.records);
  EXPECT_EQ(two->records, 2 * workload.records);
  EXPECT_EQ(two->totals.value_sum, 2 * workload.records) << "the number of events";
  EXPECT_EQ(two->totals.rows, 2 * one->totals.rows);
}

TEST(TurnsTest, ResultsThatDifferEndTheRuns) {
  absl::StatusOr<Report> report = Report::Create("", {});
  ASSERT_TRUE(report.ok()) << report.status();
  const auto emitting = [](std::uint64_t rows) {
    Measurement run;
    run.totals.rows = rows;
    return [run]() -> absl::StatusOr<Measurement> { return run; };
  };
  Turns turns("cm", *report);
  turns.Add({.name = "first", .input = "same", .measure = emitting(7)});
  turns.Add({.name = "of another input", .input = "other", .measure = emitting(8)});
  EXPECT_EQ(turns.Run(2), absl::OkStatus());
  EXPECT_EQ(turns.RunsOf("first").size(), 2u);
  turns.Add({.name = "second", .input = "same", .measure = emitting(9)});
  const absl::Status status = turns.Run(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cm: second emitted 9 rows"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("first 7 rows"));
}

TEST(SpreadTest, IsTheMedianAndTheRange) {
  const Spread spread = SpreadOf({3, 1, 2});
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.most, 3);
}

}  // namespace
}  // namespace glaive::bench
