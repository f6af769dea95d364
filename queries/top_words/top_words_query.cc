#include "queries/top_words/top_words_query.h"

#include <compare>
#include <cstdint>
#include <vector>

#include "engine/api/stream.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::queries::top_words {
namespace {

/// A word and how often a window has it: the more frequent one is greater.
struct Ranked {
  std::uint64_t count;
  Text word;
  std::int64_t window_end_ms;  // the same of all that are compared

  friend auto operator<=>(const Ranked&, const Ranked&) = default;
};
GLAIVE_RECORD(Ranked, count, word, window_end_ms)

using Counted = engine::WindowResult<Text, std::uint64_t>;
using Top = engine::WindowResult<engine::AllRecords, std::vector<Ranked>>;

Ranked RankOf(const Counted& row) { return {.count = row.value, .word = row.key, .window_end_ms = row.window_end_ms}; }

}  // namespace

std::unique_ptr<engine::Query> BuildTopWords(const TopWordsOptions& options,
                                             const engine::SourceSpec<Hashtag, HashtagTime>& tags,
                                             const ResultSinks& sinks) {
  const std::int64_t window_ms = absl::ToInt64Milliseconds(options.window);
  return engine::From(tags)
      .KeyBy([](const Hashtag& tag) { return Text(tag.word()); })
      .Window(engine::Sliding{options.window, options.slide})
      .AllowedLateness(options.allowed_lateness)
      .Aggregate(engine::Count{})
      .Window(engine::Tumbling{options.slide})
      .Aggregate(engine::TopK<kPlaces>(&RankOf))
      .FlatMap([window_ms](const Top& top) {
        std::vector<Counted> rows;
        for (const Ranked& each : top.value) {
          rows.push_back({.window_start_ms = each.window_end_ms - window_ms,
                          .window_end_ms = each.window_end_ms,
                          .key = each.word,
                          .value = each.count});
        }
        return rows;
      })
      .To(sinks);
}

}  // namespace glaive::queries::top_words
