// WordLoop: the hand-written loop beside `wordcount`: one thread, no engine code. It splits each line into words,
// counts them in a table that refers to the lines, and emits each word's count at the end, to a sink that adds up
// totals.
//
//   auto loop = WordLoop<WordView>::Create(/*words=*/100'000);
//   queries::Totals emitted = loop->Run(lines, /*repetitions=*/3);
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

#include "bench/baseline/word_table.h"
#include "queries/common/result_row.h"
#include "queries/wordcount/text_line.h"
#include "queries/wordcount/words.h"

namespace glaive::bench {

/// `Cell` is that of a WordTable.
template <typename Cell>
class WordLoop {
 public:
  /// For at most so many distinct words.
  static absl::StatusOr<WordLoop> Create(std::uint64_t words) {
    absl::StatusOr<WordTable<Cell>> table = WordTable<Cell>::Create(words);
    if (!table.ok()) {
      return table.status();
    }
    return WordLoop(*std::move(table));
  }

  /// Reads `lines` so many times. Once.
  queries::Totals Run(std::span<const queries::wordcount::TextLine> lines, std::uint64_t repetitions) {
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      for (const queries::wordcount::TextLine& line : lines) {
        CountWords(line.text());
      }
    }
    queries::Totals emitted;
    counts_.ForEach([&](std::string_view word, std::uint64_t count) {
      emitted.Add({.window_start_ms = std::numeric_limits<std::int64_t>::min(),
                   .window_end_ms = std::numeric_limits<std::int64_t>::max(),
                   .key = queries::TextBits(word),
                   .value = count});
    });
    return emitted;
  }

 private:
  explicit WordLoop(WordTable<Cell> counts) : counts_(std::move(counts)) {}

  void CountWords(std::string_view line) {
    const auto is_of_word = [](char byte) { return queries::wordcount::kIsOfWord[static_cast<unsigned char>(byte)]; };
    const char* const line_end = line.data() + line.size();
    for (const char* at = line.data(); at != line_end;) {
      if (!is_of_word(*at)) {
        ++at;
        continue;
      }
      const char* const begin = at;
      do {
        ++at;
      } while (at != line_end && is_of_word(*at));
      counts_.Count(std::string_view(begin, static_cast<std::size_t>(at - begin)));
    }
  }

  WordTable<Cell> counts_;
};

}  // namespace glaive::bench
