// The three questions about collisions, over several cluster shapes: of generated collisions against the oracle, and of
// a sample of the published file against rows that were counted by hand; and the parser of that file.

#include "queries/collisions/collisions_query.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/line_check.h"
#include "engine/source/block_source.h"
#include "queries/collisions/collision_csv.h"
#include "queries/collisions/collisions_oracle.h"
#include "queries/collisions/generator.h"
#include "tests/engine/cluster_harness.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::collisions {
namespace {

using Source = engine::SourceSpec<Collision, engine::NoEventTime>;
using Lines = std::vector<std::string>;
using LinesOfQuestions = std::array<Lines, kQuestions>;

constexpr std::uint64_t kSeed = 3;

Source GeneratedCollisions(std::uint64_t records) {
  const auto open = [records](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<Collision> block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] = RecordOf(CollisionGenerator(kSeed).Make(Value(context.executor) * records + first + i));
      }
    };
    return engine::BlockSource<Collision, engine::NoEventTime>::Create(
        {.block_records = records, .total_records = records}, *context.clock, generate, {});
  };
  return {.open = open, .event_time_ms = {}};
}

/// The sorted rows of the questions that are asked.
LinesOfQuestions Ask(const engine::Workload& cluster, const Source& source,
                     const std::vector<Question>& questions = {Question::kWeeks, Question::kFactors,
                                                               Question::kBoroughs}) {
  Answers answers;
  std::array<std::shared_ptr<engine::RetainedLines>, kQuestions> retained;
  for (const Question question : questions) {
    auto& lines = retained[static_cast<std::size_t>(question)];
    lines = std::make_shared<engine::RetainedLines>();
    lines->by_executor.resize(cluster.executor_count());
    answers[static_cast<std::size_t>(question)].emplace("", lines);
  }
  std::vector<engine::ExecutorMetrics> metrics;
  const absl::Status status = engine::RunNodes(cluster, *BuildCollisions(source, answers), metrics);
  EXPECT_TRUE(status.ok()) << status;
  LinesOfQuestions all;
  for (std::size_t question = 0; question < kQuestions; ++question) {
    if (retained[question] != nullptr) {
      for (const Lines& lines : retained[question]->by_executor) {
        std::ranges::copy(lines, std::back_inserter(all[question]));
      }
    }
    std::ranges::sort(all[question]);
  }
  return all;
}

LinesOfQuestions LinesOf(const CollisionTally& tally) {
  LinesOfQuestions all;
  for (std::size_t question = 0; question < kQuestions; ++question) {
    all[question] = tally.Lines(static_cast<Question>(question));
    std::ranges::sort(all[question]);
  }
  return all;
}

constexpr const char* kSample = "tests/queries/collisions.csv";

/// Counted by hand.
LinesOfQuestions RowsOfSample() {
  return {{{"2020-02-24,1", "2021-12-27,2", "2022-01-03,2", "2022-01-10,0"},
           {"\"Passing, Turning or \"\"Other\"\"\",1,0,0", "Alcohol Involvement,1,1,100", "Backing Unsafely,1,0,0",
            "Driver Inattention/Distraction,2,1,50", "Following Too Closely,2,0,0", "Glare,6,1,16.666666666666668",
            "Unsafe Speed,3,2,66.66666666666667", "Unspecified,13,3,23.076923076923077"},
           {"BRONX,2020-02-24,3,1,0.25", "BRONX,2022-01-10,1,0,0.25", "BROOKLYN,2021-12-27,3,1,0.5",
            "BROOKLYN,2022-01-03,3,1,0.5", "BROOKLYN,2022-01-10,1,0,0.5", "MANHATTAN,2020-02-24,1,0,0",
            "MANHATTAN,2022-01-10,1,0,0", "QUEENS,2020-02-24,1,0,0.25", "QUEENS,2021-12-27,1,0,0.25",
            "QUEENS,2022-01-03,1,1,0.25", "QUEENS,2022-01-10,1,0,0.25", "STATEN ISLAND,2021-12-27,1,0,0"}}};
}

class CollisionsCluster : public ::testing::TestWithParam<ClusterShape<>> {
 protected:
  static engine::Workload Cluster(std::uint64_t records) {
    return {.nodes = std::get<0>(GetParam()), .executors = std::get<1>(GetParam()), .records = records};
  }
};

TEST_P(CollisionsCluster, AnswersAreThoseOfASequentialProgram) {
  const engine::Workload cluster = Cluster(6'000);
  CollisionTally tally;
  ASSERT_EQ(TallyGenerated(kSeed, cluster.executor_count() * cluster.records, tally, GoOn), absl::OkStatus());
  const LinesOfQuestions expected = LinesOf(tally);
  const LinesOfQuestions emitted = Ask(cluster, GeneratedCollisions(cluster.records));
  EXPECT_EQ(emitted[0].size(), 522U) << "the weeks that ten years touch";
  EXPECT_GT(emitted[1].size(), 30U);
  EXPECT_EQ(emitted, expected);
}

TEST_P(CollisionsCluster, RowsOfTheSampleAreAsByHand) {
  const engine::TemporaryFolder folder;
  std::ostringstream text;
  text << std::ifstream(kSample).rdbuf();
  const std::string packed = engine::WriteText(folder.path() / "packed.csv.gz", engine::Gzip(text.str()));
  for (const std::string& path : {std::string(kSample), packed}) {
    EXPECT_EQ(Ask(Cluster(0), CollisionFiles(engine::Listed({path}), {})), RowsOfSample()) << path;
    CollisionTally tally;
    ASSERT_EQ(TallyFiles({path}, tally, GoOn), absl::OkStatus());
    EXPECT_EQ(LinesOf(tally), RowsOfSample()) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CollisionsCluster,
                         ::testing::Values(ClusterShape<>{1, 1}, ClusterShape<>{1, 2}, ClusterShape<>{2, 1},
                                           ClusterShape<>{3, 1}),
                         [](const auto& shape) { return NameOfShape(shape.param); });

TEST(Collisions, AnswersOneQuestionAsOneOfAll) {
  for (const Question question : {Question::kWeeks, Question::kFactors, Question::kBoroughs}) {
    const auto place = static_cast<std::size_t>(question);
    LinesOfQuestions expected;
    expected[place] = RowsOfSample()[place];
    EXPECT_EQ(Ask({}, CollisionFiles(engine::Listed({kSample}), {}), {question}), expected);
  }
}

TEST(Collisions, PublishedLinesAreReadAsTheyWereGenerated) {
  const engine::TemporaryFolder folder;
  constexpr std::uint64_t kRecords = 3'000;
  std::string text = PublishedHeader();
  for (std::uint64_t number = 0; number < kRecords; ++number) {
    AppendPublished(CollisionGenerator(kSeed).Make(number), text);
  }
  const std::string path = engine::WriteText(folder.path() / "generated.csv", text);
  const engine::Workload cluster{.executors = 2};
  CollisionTally generated;
  CollisionTally read;
  ASSERT_EQ(TallyGenerated(kSeed, kRecords, generated, GoOn), absl::OkStatus());
  ASSERT_EQ(TallyFiles({path}, read, GoOn), absl::OkStatus());
  EXPECT_EQ(LinesOf(read), LinesOf(generated));
  EXPECT_EQ(Ask(cluster, CollisionFiles(engine::Listed({path}), {})), LinesOf(generated));
}

TEST(Collisions, WrongRowsAreCaught) {
  const std::vector<std::pair<std::string, std::function<void(Lines&)>>> wrongs = {
      {"a last digit", [](Lines& lines) { lines[2].back() ^= 1; }},
      {"a first character", [](Lines& lines) { lines[1].front() ^= 1; }},
      {"a missing row", [](Lines& lines) { lines.pop_back(); }},
      {"a row emitted twice", [](Lines& lines) { lines.push_back(lines[0]); }}};
  for (const Lines& right : RowsOfSample()) {
    for (const auto& [what, plant] : wrongs) {
      Lines wrong = right;
      Lines expected = right;
      plant(wrong);
      EXPECT_TRUE(absl::IsDataLoss(engine::CompareLines(expected, wrong, /*all_are_here=*/true))) << what;
    }
  }
}

TEST(CollisionCsv, SaysWhatIsWrongWithALine) {
  CollisionCsv csv;
  state::TextArena texts;
  engine::ParseError error;
  ASSERT_EQ(csv.ReadHeader(PublishedHeader().substr(0, PublishedHeader().size() - 1), error), engine::Parsed::kRecord)
      << error.reason;
  std::string line;
  AppendPublished(CollisionGenerator(kSeed).Make(1), line);
  line.pop_back();
  Collision collision{};
  const auto refusal = [&](const std::string& date) {
    EXPECT_EQ(csv(date + line.substr(10), collision, texts, error), engine::Parsed::kBad) << date;
    return error.reason;
  };
  EXPECT_EQ(refusal("02/30/2020"), "'CRASH DATE' has '02/30/2020': a day is expected, as MM/DD/YYYY");
  for (const char* date : {"2020-01-02", "13/01/2020", "1/2/2020", "01/0x/2020", ""}) {
    EXPECT_THAT(refusal(date), testing::HasSubstr("a day is expected, as MM/DD/YYYY"));
  }
  EXPECT_EQ(csv("02/29/2020" + line.substr(10), collision, texts, error), engine::Parsed::kRecord);
  EXPECT_EQ(collision.week, 18316);  // 2020-02-24
  CollisionCsv other;
  EXPECT_EQ(other.ReadHeader("CRASH DATE,borough", error), engine::Parsed::kBad);
  EXPECT_THAT(error.reason, testing::HasSubstr("the header lacks 'BOROUGH', 'NUMBER OF PERSONS KILLED', "
                                               "'CONTRIBUTING FACTOR VEHICLE 1'"));
}

}  // namespace
}  // namespace glaive::queries::collisions
