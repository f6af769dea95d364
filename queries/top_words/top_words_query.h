// The most frequent words of each sliding window: the rolling top words of RStream and Noir.
//
// Each window's words are counted, and the results are a stream: those of one window are the records of a tumbling
// window as long as the slide, of which the greatest are taken. Of words that are equally frequent, the one whose bytes
// are greater comes first.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/common/result_sinks.h"
#include "queries/top_words/hashtag.h"

namespace glaive::queries::top_words {

/// Words of a window that have a row.
inline constexpr std::size_t kPlaces = 4;

struct TopWordsOptions {
  absl::Duration window = absl::Seconds(1);
  absl::Duration slide = absl::Milliseconds(500);
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// A row for each of the kPlaces words: the window, the word and its count.
std::unique_ptr<engine::Query> BuildTopWords(const TopWordsOptions& options,
                                             const engine::SourceSpec<Hashtag, HashtagTime>& tags,
                                             const ResultSinks& sinks);

}  // namespace glaive::queries::top_words
