#include "queries/wordcount/word_oracle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "queries/common/plain_file.h"

namespace glaive::queries::wordcount {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kLinesBetweenWatches = 4096;
constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;
constexpr char kByteOrderMark[] = "\xEF\xBB\xBF";

bool IsOfWord(unsigned char byte) {
  const unsigned char small = byte | 0x20;
  return (small >= 'a' && small <= 'z') || (byte >= '0' && byte <= '9') || byte >= 0x80;
}

void AddWords(std::string_view line, std::unordered_map<std::string, std::uint64_t>& counts) {
  std::string word;
  for (const char byte : line) {
    if (IsOfWord(static_cast<unsigned char>(byte))) {
      word += byte;
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
  }
  if (!word.empty()) {
    ++counts[word];
  }
}

/// The start of an event time's window, unless the record is late for it.
std::optional<std::int64_t> WindowOf(std::int64_t time_ms, std::int64_t watermark_ms, std::int64_t window_ms) {
  if (window_ms == 0) {
    return kMin;
  }
  const std::int64_t start_ms = time_ms - (time_ms % window_ms + window_ms) % window_ms;
  return start_ms + window_ms > watermark_ms ? std::optional(start_ms) : std::nullopt;
}

/// Counts the words of a text's lines, which comes in pieces.
class LineCounter {
 public:
  explicit LineCounter(std::unordered_map<std::string, std::uint64_t>& counts) : counts_(&counts) {}

  void Add(std::string_view text) {
    for (const char byte : text) {
      if (byte == '\n') {
        End();
      } else {
        line_ += byte;
      }
    }
  }
  /// The line ends.
  void End() {
    if (line_.size() <= kMostLineBytes) {
      std::string_view line = line_;
      if (is_first_ && line.starts_with(kByteOrderMark)) {
        line.remove_prefix(std::string_view(kByteOrderMark).size());
      }
      AddWords(line, *counts_);
    }
    line_.clear();
    is_first_ = false;
  }

 private:
  std::unordered_map<std::string, std::uint64_t>* counts_;
  std::string line_;
  bool is_first_ = true;
};

/// What has to be emitted, and the words by what rows have of them.
class TrueRows {
 public:
  /// `word` outlives the rows.
  void Add(const std::string& word, const ResultRow& row) {
    words_.emplace(row.key, &word);
    rows_.push_back(row);
  }

  Verdict Check(const std::string& query, std::span<const ResultRow> emitted,
                const std::function<bool(const std::string& word)>& leads) {
    const auto leads_key = [&](std::uint64_t key) {
      const auto word = words_.find(key);
      return word == words_.end() || leads(*word->second);
    };
    const auto name_of = [&](std::uint64_t key) {
      const auto word = words_.find(key);
      return word == words_.end() ? absl::StrCat("of no word, with the hash ", key)
                                  : absl::StrCat("\"", *word->second, "\"");
    };
    RowCheck check(query, ValueKind::kInteger, emitted, leads_key, name_of);
    check.Windows(std::move(rows_));
    return check.Finish();
  }

 private:
  std::unordered_map<std::uint64_t, const std::string*> words_;
  std::vector<ResultRow> rows_;
};

}  // namespace

absl::StatusOr<WordCounts> CountGeneratedWords(const CheckedInput<TextLine>& input, std::int64_t window_ms,
                                               const Watch& watch) {
  WordCounts counts;
  std::uint64_t lines = 0;
  for (std::uint32_t executor = 0; executor < input.record_counts.size(); ++executor) {
    for (FlowReader<TextLine> flow(input, executor); !flow.done(); flow.Advance()) {
      if (const auto start_ms = WindowOf(flow.event_time_ms(), flow.watermark_ms(), window_ms)) {
        AddWords(flow.record().text(), counts[*start_ms]);
      }
      if (absl::Status status = ++lines % kLinesBetweenWatches == 0 ? watch() : absl::OkStatus(); !status.ok()) {
        return status;
      }
    }
  }
  return counts;
}

absl::StatusOr<WordCounts> CountWordsOfFiles(const std::vector<std::string>& paths, const Watch& watch) {
  WordCounts counts;
  for (const std::string& path : paths) {
    const auto file = std::make_unique<PlainFile>(path);
    LineCounter lines(counts[kMin]);
    for (absl::StatusOr<std::string_view> text = file->Read(); !text.ok() || !text->empty(); text = file->Read()) {
      absl::Status status = text.ok() ? watch() : text.status();
      if (!status.ok()) {
        return status;
      }
      lines.Add(*text);
    }
    lines.End();
  }
  return counts;
}

Verdict CheckWords(const std::string& query, const WordCounts& counts, std::int64_t window_ms,
                   std::span<const ResultRow> emitted, const std::function<bool(const std::string& word)>& leads) {
  TrueRows rows;
  for (const auto& [start_ms, of_window] : counts) {
    for (const auto& [word, count] : of_window) {
      rows.Add(word, {.window_start_ms = start_ms,
                      .window_end_ms = window_ms == 0 ? kMax : start_ms + window_ms,
                      .key = TextBits(word),
                      .value = count});
    }
  }
  return rows.Check(query, emitted, leads);
}

Verdict CheckCountWindows(const std::string& query, const WordCounts& counts, std::uint64_t size, std::uint64_t slide,
                          std::span<const ResultRow> emitted,
                          const std::function<bool(const std::string& word)>& leads) {
  TrueRows rows;
  for (const auto& [start_ms, of_window] : counts) {
    for (const auto& [word, count] : of_window) {
      bool is_full = true;
      for (std::uint64_t number = 0; is_full && number * slide < count; ++number) {
        const std::uint64_t left = count - number * slide;
        is_full = left >= size;
        const std::uint64_t of_row = is_full ? size : left;
        rows.Add(word, {.window_start_ms = static_cast<std::int64_t>(number),
                        .window_end_ms = static_cast<std::int64_t>(of_row),
                        .key = TextBits(word),
                        .value = of_row});
      }
    }
  }
  return rows.Check(query, emitted, leads);
}

}  // namespace glaive::queries::wordcount
