// The count of words whole, in all forms and over files, on several cluster shapes, checked by the oracle; and wrong
// results are caught.

#include "queries/wordcount/wordcount_query.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/wordcount/generator.h"
#include "queries/wordcount/word_oracle.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::wordcount {
namespace {

constexpr std::int64_t kWindowMs = 10'000;

std::int64_t WindowOf(Form form) { return form == Form::kWindowed ? kWindowMs : 0; }

QueryRun<TextLine> RunWordcount(Form form, const engine::Workload& cluster, const Reading& reading,
                                std::int64_t disorder_ms) {
  InputOptions input{.seed = cluster.seed,
                     .keys = {.count = cluster.keys, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 1}}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = reading.span_ms},
                    .align_ms = kWindowMs,
                    .disorder_ms = disorder_ms};
  const WordcountOptions options{.form = form,
                                 .window = absl::Milliseconds(kWindowMs),
                                 .allowed_lateness = absl::Milliseconds(reading.allowed_lateness_ms)};
  return RunQuery<TextLineTime, TextLine>(
      cluster, std::make_shared<LineGenerator>(input), reading,
      [&](const auto& lines, const auto& sinks) { return BuildWordcount(options, lines, sinks); });
}

/// What --verify does with rows and the true counts.
absl::Status VerifyCounts(const engine::Workload& cluster, const std::vector<std::vector<ResultRow>>& rows_by_leader,
                          const WordCounts& counts, Form form) {
  const state::KeyHash hash(engine::RunTokenOf(cluster));
  std::vector<std::string> nodes;
  for (std::uint32_t node = 0; node < cluster.nodes; ++node) {
    std::vector<ResultRow> rows;
    for (std::uint32_t i = 0; i < cluster.executors; ++i) {
      std::ranges::copy(rows_by_leader[node * cluster.executors + i], std::back_inserter(rows));
    }
    const auto leads = [&](const std::string& word) {
      return Value(state::LeaderOf(hash(Text(word)), cluster.executor_count())) / cluster.executors == node;
    };
    const Verdict verdict = form == Form::kCountWindow ? CheckCountWindows("wordcount", counts, kCountWindowSize,
                                                                           kCountWindowSlide, rows, leads)
                                                       : CheckWords("wordcount", counts, WindowOf(form), rows, leads);
    if (!verdict.status.ok()) {
      return verdict.status;
    }
    nodes.push_back(EncodeTotals(verdict));
  }
  return CheckAllTotals("wordcount", nodes);
}

absl::Status VerifyForm(Form form, const QueryRun<TextLine>& run) {
  const absl::StatusOr<WordCounts> counts = CountGeneratedWords(run.input, WindowOf(form), GoOn);
  return counts.ok() ? VerifyCounts(run.cluster, run.rows, *counts, form) : counts.status();
}

std::string NameOf(Form form) {
  return form == Form::kAssociative ? "Associative"
         : form == Form::kPlain     ? "Plain"
         : form == Form::kWindowed  ? "Windowed"
                                    : "CountWindow";
}

class WordcountCluster : public ::testing::TestWithParam<ClusterShape<Form>> {};

TEST_P(WordcountCluster, WordsOfLinesOutOfOrderCountUnlessTheyAreLate) {
  const auto& [nodes, executors, form] = GetParam();
  const QueryRun<TextLine> run = RunWordcount(
      form,
      {.nodes = nodes,
       .executors = executors,
       .seed = 5,
       .records = 1'000,
       .keys = 2'000,
       .slot_bytes = 4'096,
       .max_lead_ms = 4 * kWindowMs},
      {.repetitions = 2, .span_ms = 10 * kWindowMs, .watermark_every = 50, .allowed_lateness_ms = kWindowMs / 4},
      /*disorder_ms=*/2 * kWindowMs);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(VerifyForm(form, run), absl::OkStatus());
  EXPECT_EQ(run.Total(&engine::ExecutorMetrics::late_records) > 0, form == Form::kWindowed);
}

TEST_P(WordcountCluster, AllWordsInOrderCount) {
  const auto& [nodes, executors, form] = GetParam();
  const QueryRun<TextLine> run = RunWordcount(form,
                                              {.nodes = nodes,
                                               .executors = executors,
                                               .seed = 6,
                                               .records = 3'000,
                                               .keys = 10'000,
                                               .max_lead_ms = 4 * kWindowMs},
                                              {.span_ms = 10 * kWindowMs}, /*disorder_ms=*/0);
  ExpectRight(run, [&](const auto& right) { return VerifyForm(form, right); }, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WordcountCluster,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U),
                                            ::testing::Values(Form::kAssociative, Form::kPlain, Form::kWindowed,
                                                              Form::kCountWindow)),
                         [](const auto& shape) { return NameOfShape(shape.param, NameOf(std::get<2>(shape.param))); });

class WordcountWrongResult : public ::testing::TestWithParam<Form> {};

TEST_P(WordcountWrongResult, IsCaught) {
  ExpectWrongResultsAreCaught(RunWordcount(GetParam(), {.nodes = 2, .records = 300, .keys = 200},
                                           {.span_ms = 10 * kWindowMs}, /*disorder_ms=*/0),
                              [](const auto& run) { return VerifyForm(GetParam(), run); });
}

INSTANTIATE_TEST_SUITE_P(Forms, WordcountWrongResult,
                         ::testing::Values(Form::kAssociative, Form::kPlain, Form::kWindowed, Form::kCountWindow),
                         [](const auto& form) { return NameOf(form.param); });

TEST(WordcountVerdict, NamesTheWord) {
  const WordCounts counts = {{INT64_MIN, {{"late", 2}, {"mice", 3}}}};
  const auto row = [](const char* word, std::uint64_t count) {
    return ResultRow{.window_start_ms = INT64_MIN, .window_end_ms = INT64_MAX, .key = TextBits(word), .value = count};
  };
  const auto complaint = [&](const std::vector<ResultRow>& rows) {
    return std::string(
        CheckWords("wordcount", counts, 0, rows, [](const std::string&) { return true; }).status.message());
  };
  EXPECT_EQ(complaint({row("mice", 3), row("late", 2)}), "");
  EXPECT_THAT(complaint({row("mice", 3), row("late", 1)}),
              testing::HasSubstr("key \"late\" value 1: wrong, the value should be 2"));
  EXPECT_THAT(complaint({row("late", 2)}), testing::HasSubstr("key \"mice\" value 3: missing"));
  EXPECT_THAT(complaint({row("late", 2), row("mice", 3), row("nice", 1)}),
              testing::HasSubstr("key of no word, with the hash "));
}

/// The windows of words that come so often, written out.
TEST(WordcountVerdict, NamesTheCountWindow) {
  const WordCounts counts = {{INT64_MIN, {{"nine", 9}, {"ten", 10}, {"mice", 16}}}};
  const auto row = [](const char* word, std::int64_t window, std::uint64_t count) {
    return ResultRow{.window_start_ms = window,
                     .window_end_ms = static_cast<std::int64_t>(count),
                     .key = TextBits(word),
                     .value = count};
  };
  const auto complaint = [&](const std::vector<ResultRow>& rows) {
    return std::string(
        CheckCountWindows("wordcount", counts, 10, 5, rows, [](const std::string&) { return true; }).status.message());
  };
  std::vector<ResultRow> rows = {row("nine", 0, 9),  row("ten", 0, 10),  row("ten", 1, 5),
                                 row("mice", 0, 10), row("mice", 1, 10), row("mice", 2, 6)};
  EXPECT_EQ(complaint(rows), "");
  rows.back() = row("mice", 2, 5);
  EXPECT_THAT(complaint(rows), testing::HasSubstr("key \"mice\""));
  rows.pop_back();
  EXPECT_THAT(complaint(rows), testing::HasSubstr("key \"mice\" value 6: missing"));
}

/// Texts of words, and of what is between them.
class WordcountFiles : public ::testing::TestWithParam<ClusterShape<>> {
 protected:
  engine::Workload cluster() const { return {.nodes = std::get<0>(GetParam()), .executors = std::get<1>(GetParam())}; }

  /// Counts by the query in all forms that take files, and by the oracle; returns what the oracle has.
  WordCounts CountAll(const std::vector<std::string>& paths) const {
    const absl::StatusOr<WordCounts> counts = CountWordsOfFiles(paths, GoOn);
    EXPECT_TRUE(counts.ok()) << counts.status();
    for (const Form form : {Form::kAssociative, Form::kPlain, Form::kCountWindow}) {
      const ResultSinks sinks({.output = "", .retain = true, .max_rows = UINT64_MAX}, cluster().executor_count());
      std::vector<engine::ExecutorMetrics> metrics;
      const absl::Status status =
          engine::RunNodes(cluster(), *BuildWordcountOfFiles(form, engine::Listed(paths), {}, sinks), metrics);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(VerifyCounts(cluster(), sinks.retained(), *counts, form), absl::OkStatus()) << NameOf(form);
    }
    return *counts;
  }

  engine::TemporaryFolder folder_;
};

TEST_P(WordcountFiles, OnePlainFileIsSharedAndCompressedOnesAreNot) {
  std::vector<TextLine> lines(4'000);
  LineGenerator({.keys = {.count = 5'000}}).Fill(0, 0, lines);
  std::string text;
  for (const TextLine& line : lines) {
    absl::StrAppend(&text, std::string(line.text()), "\n");
  }
  const std::string plain = engine::WriteText(folder_.path() / "plain.txt", text);
  const std::string compressed = engine::WriteText(folder_.path() / "compressed.gz", engine::Gzip(text));
  const WordCounts once = CountAll({plain});
  EXPECT_EQ(CountAll({compressed}), once);
  const WordCounts twice = CountAll({compressed, plain});
  ASSERT_EQ(twice.at(INT64_MIN).size(), once.at(INT64_MIN).size());
  for (const auto& [word, count] : once.at(INT64_MIN)) {
    ASSERT_EQ(twice.at(INT64_MIN).at(word), 2 * count) << word;
  }
}

TEST_P(WordcountFiles, WordsAreRunsOfLettersDigitsAndBytesBeyondAscii) {
  const std::string path = engine::WriteText(folder_.path() / "text",
                                             "\xEF\xBB\xBF"
                                             "Don't panic:\r\n\n  don't  \n42 na\xC3\xAFve mice, a-mice_\t\n...\nthe "
                                             "incomprehensibilities");
  const std::unordered_map<std::string, std::uint64_t> expected = {
      {"Don", 1},          {"t", 2},    {"panic", 1}, {"don", 1}, {"42", 1},
      {"na\xC3\xAFve", 1}, {"mice", 2}, {"a", 1},     {"the", 1}, {"incomprehensibilities", 1}};
  EXPECT_EQ(CountAll({path}).at(INT64_MIN), expected);
}

TEST_P(WordcountFiles, FilesWithoutAWordHaveNoRows) {
  EXPECT_TRUE(CountAll({engine::WriteText(folder_.path() / "empty", ""),
                        engine::WriteText(folder_.path() / "dots", "...\n . \n")})
                  .at(INT64_MIN)
                  .empty());
}

INSTANTIATE_TEST_SUITE_P(Shapes, WordcountFiles,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 2U)),
                         [](const auto& shape) { return NameOfShape(shape.param); });

}  // namespace
}  // namespace glaive::queries::wordcount
