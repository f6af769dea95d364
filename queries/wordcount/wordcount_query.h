// How often each word comes in lines of text, in four forms:
//
//   associative  SELECT word, COUNT(*) FROM words GROUP BY word. Each executor counts the words that it reads, and the
//                counts are merged: what moves is a count for a word.
//   plain        the same; each word moves to the executor that leads it, and is counted there. A textbook's way, for
//                comparison: the more often words recur, the more of its moves are in vain.
//   windowed     SELECT word, COUNT(*) FROM words GROUP BY word, TUMBLE(event_time, 10 s)
//   count-window the same in windows of ten words, one each five, of each word: ten in each, but for a word's last
//                window. Each word moves to the executor that leads it. RStream's and Noir's benchmark of windows.
//
// words.h says what a word is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/line_source.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/wordcount/text_line.h"

namespace glaive::queries::wordcount {

enum class Form : std::uint8_t { kAssociative, kPlain, kWindowed, kCountWindow };

/// Of the form count-window.
inline constexpr std::uint64_t kCountWindowSize = 10;
inline constexpr std::uint64_t kCountWindowSlide = 5;

struct WordcountOptions {
  Form form = Form::kAssociative;
  absl::Duration window = absl::Seconds(10);  // of the windowed form, as the lateness is
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// Rows of {window, word, count}; of the form count-window {number of the word's window, count, word, count}.
std::unique_ptr<engine::Query> BuildWordcount(const WordcountOptions& options,
                                              const engine::SourceSpec<TextLine, TextLineTime>& lines,
                                              const ResultSinks& sinks);

/// The same of the lines of files, which have no event times: not the windowed form.
std::unique_ptr<engine::Query> BuildWordcountOfFiles(Form form, const std::vector<engine::ListedFile>& files,
                                                     const engine::LineSourceOptions& options,
                                                     const ResultSinks& sinks);

}  // namespace glaive::queries::wordcount
