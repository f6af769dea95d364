// TopPlaces: the most frequent words of a window, as a sequential program finds them: for the oracle of --verify
// (queries/common/oracle.h). It shares no code with the query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "queries/top_words/hashtag.h"
#include "queries/top_words/top_words_query.h"
#include "state/record/text.h"

namespace glaive::queries::top_words {

struct TopPlaces {
  void Add(const Hashtag& tag) { ++counts[std::string(tag.word())]; }

  /// Words with their counts. `Text` is how rows have them.
  std::vector<std::pair<Text, std::uint64_t>> rows() const {
    std::vector<std::pair<std::uint64_t, const std::string*>> ranked;
    for (const auto& [word, count] : counts) {
      ranked.emplace_back(count, &word);
    }
    std::ranges::sort(ranked, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : *a.second > *b.second;
    });
    ranked.resize(std::min(ranked.size(), kPlaces));
    std::vector<std::pair<Text, std::uint64_t>> rows;
    for (const auto& [count, word] : ranked) {
      rows.emplace_back(Text(*word), count);
    }
    return rows;
  }

  std::map<std::string, std::uint64_t> counts;
};

}  // namespace glaive::queries::top_words
