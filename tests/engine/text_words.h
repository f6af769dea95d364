// Words: records with texts that lie in memory which is used again behind each batch, and groups of them as an oracle
// has them. What a table, a row or a state has of them must be copies.
//
//   auto stream = Words(workload());
//   for (const auto& [group, words] : TumblingWords(AllWords(workload()), 700)) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/engine/cluster_harness.h"
#include "tests/engine/typed_keys.h"

namespace glaive::engine {

struct Word {
  std::uint64_t key;
  std::int64_t time_ms;
  Text text;

  friend auto operator<=>(const Word&, const Word&) = default;
};
GLAIVE_RECORD(Word, key, time_ms, text)

/// A third of the texts are inline. Each key has many.
inline Word WordOf(const TestRecord& record) {
  const auto number = static_cast<std::uint64_t>(record.event_time_ms) * 613 + record.key * 7 + record.kind;
  return {.key = record.key, .time_ms = record.event_time_ms, .text = KeyOf<Text>(number % 3'000)};
}

/// The stream of a workload's words. A flat map copies them into its buffer.
inline auto Words(const Workload& workload) {
  return From(TestSource(workload)).FlatMap([](const TestRecord& record) { return std::vector<Word>{WordOf(record)}; });
}

/// All words of a workload, in the order of their times.
inline std::vector<Word> AllWords(const Workload& workload) {
  std::vector<Word> words;
  for (std::uint32_t executor = 0; executor < workload.executor_count(); ++executor) {
    for (std::uint64_t number = 0; number < workload.records; ++number) {
      words.push_back(WordOf(MakeRecord(workload, executor, number)));
    }
  }
  std::ranges::stable_sort(words, {}, &Word::time_ms);
  return words;
}

/// From, until, key.
using WordGroup = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;
using WordGroups = std::map<WordGroup, std::vector<Word>>;

inline WordGroups SlidingWords(const std::vector<Word>& words, std::int64_t size_ms, std::int64_t slide_ms) {
  WordGroups groups;
  for (const Word& word : words) {
    for (std::int64_t start_ms = word.time_ms / slide_ms * slide_ms; start_ms > word.time_ms - size_ms;
         start_ms -= slide_ms) {
      groups[{start_ms, start_ms + size_ms, word.key}].push_back(word);
    }
  }
  return groups;
}
inline WordGroups TumblingWords(const std::vector<Word>& words, std::int64_t size_ms) {
  return SlidingWords(words, size_ms, size_ms);
}
inline WordGroups SessionsOfWords(const std::vector<Word>& words, std::int64_t gap_ms) {
  std::map<std::uint64_t, std::vector<Word>> open;
  WordGroups groups;
  const auto close = [&](std::uint64_t key, std::vector<Word>& session) {
    groups[{session.front().time_ms, session.back().time_ms + gap_ms, key}] = session;
    session.clear();
  };
  for (const Word& word : words) {
    std::vector<Word>& session = open[word.key];
    if (!session.empty() && word.time_ms - session.back().time_ms >= gap_ms) close(word.key, session);
    session.push_back(word);
  }
  for (auto& [key, session] : open) close(key, session);
  return groups;
}
/// For each `every_ms` the keys with words in it, and all their words until then.
inline WordGroups WordsAsOf(const std::vector<Word>& words, std::int64_t every_ms) {
  std::map<std::uint64_t, std::vector<Word>> all;
  WordGroups groups;
  for (const auto& [group, some] : TumblingWords(words, every_ms)) {
    const auto& [start_ms, end_ms, key] = group;
    all[key].insert(all[key].end(), some.begin(), some.end());
    groups[{kMinEventTimeMs, end_ms, key}] = all[key];
  }
  return groups;
}
inline WordGroups WordsByKey(const std::vector<Word>& words) {
  WordGroups groups;
  for (const Word& word : words) groups[{kMinEventTimeMs, kMaxEventTimeMs, word.key}].push_back(word);
  return groups;
}

inline std::string InQuotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

}  // namespace glaive::engine
