// HashtagGenerator: hashtags; see queries/common/generator.h. A key of the options is a word's number: the hashtag is a
// '#' and the word of that number (queries/common/vocabulary.h), which is cut off where both are longer than a Hashtag
// may be. No word of the first billion is.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/top_words/hashtag.h"

namespace glaive::queries::top_words {

class HashtagGenerator final : public DrawnGenerator<Hashtag, 1> {
 public:
  /// `options` must be valid.
  explicit HashtagGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  Hashtag Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::top_words
