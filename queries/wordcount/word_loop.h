// WordLoop: `wordcount` as a hand-written loop: one thread, no engine code. It splits each line into words, counts them
// in a table that refers to the lines, and emits each word's count at the end.
//
// Requires: the lines stay where they are. Owned and used by one thread.
//
//   auto loop = WordLoop<WordView>::Create(/*words=*/100'000);
//   loop->Take(lines, /*shift_ms=*/0, emit);   // any number of times
//   loop->End(emit);                           // once
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

#include "engine/sink/sink.h"
#include "queries/wordcount/text_line.h"
#include "queries/wordcount/word_table.h"
#include "queries/wordcount/words.h"
#include "state/record/text.h"

namespace glaive::queries::wordcount {

/// `Cell` is that of a WordTable.
template <typename Cell>
class WordLoop {
 public:
  using Record = TextLine;
  using Row = engine::WindowResult<Text, std::uint64_t>;

  static std::uint64_t MemoryBytes(std::uint64_t words) { return WordTable<Cell>::MemoryBytes(words); }

  /// For at most so many distinct words.
  static absl::StatusOr<WordLoop> Create(std::uint64_t words) {
    absl::StatusOr<WordTable<Cell>> table = WordTable<Cell>::Create(words);
    if (!table.ok()) {
      return table.status();
    }
    return WordLoop(*std::move(table));
  }

  template <typename Emit>
  void Take(std::span<const TextLine> lines, std::int64_t /*shift_ms*/, const Emit& /*emit*/) {
    for (const TextLine& line : lines) {
      CountWords(line.text());
    }
  }

  /// The stream ends: calls `emit(row)` for each word.
  template <typename Emit>
  void End(const Emit& emit) {
    counts_.ForEach([&](std::string_view word, std::uint64_t count) {
      emit(Row{.window_start_ms = std::numeric_limits<std::int64_t>::min(),
               .window_end_ms = std::numeric_limits<std::int64_t>::max(),
               .key = Text(word),
               .value = count});
    });
  }

 private:
  explicit WordLoop(WordTable<Cell> counts) : counts_(std::move(counts)) {}

  void CountWords(std::string_view line) {
    const auto is_of_word = [](char byte) { return kIsOfWord[static_cast<unsigned char>(byte)]; };
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

}  // namespace glaive::queries::wordcount
