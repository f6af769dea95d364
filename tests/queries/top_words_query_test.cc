// The top words whole, over several cluster shapes and out of order, checked by the oracle; and wrong results are
// caught.

#include "queries/top_words/top_words_query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "queries/top_words/generator.h"
#include "queries/top_words/top_places.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries::top_words {
namespace {

struct TopWordsShape {
  std::int64_t window_ms = 1'000;
  std::int64_t slide_ms = 500;
};

QueryRun<Hashtag> RunTopWords(const engine::Workload& cluster, const Reading& reading, std::int64_t disorder_ms,
                              const TopWordsShape& windows) {
  InputOptions input{.seed = cluster.seed,
                     .keys = {.count = 50, .law = {.kind = KeyLaw::Kind::kGeometric, .parameter = 0.1}}};
  input.timeline = {.rate = {.records = cluster.records, .span_ms = reading.span_ms},
                    .align_ms = windows.window_ms,
                    .disorder_ms = disorder_ms};
  return RunQuery<HashtagTime, Hashtag>(
      cluster, std::make_shared<HashtagGenerator>(input), reading, [&](const auto& tags, const auto& sinks) {
        return BuildTopWords({.window = absl::Milliseconds(windows.window_ms),
                              .slide = absl::Milliseconds(windows.slide_ms),
                              .allowed_lateness = absl::Milliseconds(reading.allowed_lateness_ms)},
                             tags, sinks);
      });
}

auto VerifierOf(const TopWordsShape& windows) {
  return [windows](const QueryRun<Hashtag>& run) {
    return Verify<TopPlaces>(
        run, {.size_ms = windows.window_ms, .slide_ms = windows.slide_ms},
        [](const Hashtag& /*tag*/) { return std::optional<std::uint64_t>(0); }, Keys::kNone);
  };
}

class TopWordsCluster : public ::testing::TestWithParam<ClusterShape<>> {};

TEST_P(TopWordsCluster, RanksTheWordsOfEachWindow) {
  const auto [nodes, executors] = GetParam();
  // A window that is no multiple of its slide, too.
  for (const TopWordsShape& windows : {TopWordsShape{}, TopWordsShape{.window_ms = 1'000, .slide_ms = 300}}) {
    const QueryRun<Hashtag> run =
        RunTopWords({.nodes = nodes, .executors = executors, .seed = 5, .records = 6'000, .max_lead_ms = 4'000},
                    {.repetitions = 2, .span_ms = 12'000, .watermark_every = 100, .allowed_lateness_ms = 200},
                    /*disorder_ms=*/1'500, windows);
    EXPECT_EQ(VerifierOf(windows)(run), absl::OkStatus());
    EXPECT_GT(run.Total(&engine::ExecutorMetrics::late_records), 0U);
    EXPECT_GT(run.Total(&engine::ExecutorMetrics::results), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TopWordsCluster,
                         ::testing::Values(ClusterShape<>{1, 1}, ClusterShape<>{1, 2}, ClusterShape<>{2, 1},
                                           ClusterShape<>{3, 1}),
                         [](const auto& shape) { return NameOfShape(shape.param); });

TEST(TopWordsWrongResult, IsCaught) {
  const QueryRun<Hashtag> right =
      RunTopWords({.nodes = 2, .records = 3'000, .max_lead_ms = 4'000}, {.span_ms = 10'000, .watermark_every = 10},
                  /*disorder_ms=*/800, {});
  ASSERT_EQ(VerifierOf({})(right), absl::OkStatus());
  const auto emits = [](const auto& rows) { return rows.size() > 3; };
  const auto leader = std::ranges::find_if(right.rows, emits) - right.rows.begin();
  ASSERT_LT(leader, 2);
  const auto expect_caught = [&](const char* what, const auto& plant) {
    QueryRun<Hashtag> wrong = right;
    plant(wrong.rows[static_cast<std::size_t>(leader)]);
    EXPECT_TRUE(absl::IsDataLoss(VerifierOf({})(wrong))) << what;
  };
  expect_caught("a count off by one", [](auto& rows) { ++rows[2].value; });
  expect_caught("another word", [](auto& rows) { rows[1].key ^= 1; });
  expect_caught("a missing row", [](auto& rows) { rows.pop_back(); });
  expect_caught("a row emitted twice", [](auto& rows) { rows.push_back(rows[0]); });
  expect_caught("a window that starts elsewhere", [](auto& rows) { rows[1].window_start_ms += 500; });
}

TEST(TopPlaces, OfWordsThatAreEquallyFrequentTheOneWithGreaterBytesComesFirst) {
  TopPlaces places;
  for (const char* word : {"#b", "#c", "#a", "#e", "#d", "#d"}) {
    Hashtag tag{.event_time_ms = 0, .length = 2, .bytes = {}};
    std::string(word).copy(tag.bytes.data(), 2);
    places.Add(tag);
  }
  std::string shown;
  for (const auto& [word, count] : places.rows()) shown += std::string(word.view()) + std::to_string(count) + " ";
  EXPECT_EQ(shown, "#d2 #e1 #c1 #b1 ");
}

}  // namespace
}  // namespace glaive::queries::top_words
