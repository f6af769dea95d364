// What a sequential program counts, for --verify: strings in standard containers, lines split and files read by code of
// its own. It shares the generator with the query, and no code of the engine, the state or the network.
//
//   absl::StatusOr<WordCounts> counts = CountWordsOfFiles({"a.txt", "b.txt.gz"}, GoOn);
//   Verdict verdict = CheckWords("wordcount", *counts, /*window_ms=*/0, emitted, leads);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"

#include "queries/common/flow_reader.h"
#include "queries/common/row_check.h"
#include "queries/wordcount/text_line.h"
#include "rdma/base/watch.h"

namespace glaive::queries::wordcount {

/// By the start of a tumbling window, ms, and word. Without windows all words have the same one.
using WordCounts = std::map<std::int64_t, std::unordered_map<std::string, std::uint64_t>>;

/// Of all executors' generated lines; those that are late for their windows do not count. `window_ms` is 0 without
/// windows. `watch` may end it.
absl::StatusOr<WordCounts> CountGeneratedWords(const CheckedInput<TextLine>& input, std::int64_t window_ms,
                                               const Watch& watch);

/// Of files, plain or gzip. Lines of more than 1 MiB do not count: a run ends at them, or skips them.
/// FailedPrecondition if a file cannot be read.
absl::StatusOr<WordCounts> CountWordsOfFiles(const std::vector<std::string>& paths, const Watch& watch);

/// Compares with the rows that some leaders have emitted. `leads` says whether they lead a word.
Verdict CheckWords(const std::string& query, const WordCounts& counts, std::int64_t window_ms,
                   std::span<const ResultRow> emitted, const std::function<bool(const std::string& word)>& leads);

/// The same of windows of `size` occurrences of each word, one each `slide`; the first one that is not full is a word's
/// last. What is in them follows from how often a word comes, whatever the order of words is. Counts without windows.
Verdict CheckCountWindows(const std::string& query, const WordCounts& counts, std::uint64_t size, std::uint64_t slide,
                          std::span<const ResultRow> emitted,
                          const std::function<bool(const std::string& word)>& leads);

}  // namespace glaive::queries::wordcount
