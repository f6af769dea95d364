// LineGenerator: lines of text, as those of a paragraph: words up to some 116 bytes, and one line in 16 is shorter. See
// queries/common/generator.h. A key of the options is a word's number (vocabulary.h). Between words is a space, or in
// few places a comma, a full stop, a hyphen or a second space.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/wordcount/text_line.h"

namespace glaive::queries::wordcount {

/// Words of two bytes and a space between each.
inline constexpr std::uint64_t kMostWordsOfLine = (TextLine::kMostBytes + 1) / 3;

class LineGenerator final : public DrawnGenerator<TextLine, kMostWordsOfLine + 1> {
 public:
  /// `options` must be valid.
  explicit LineGenerator(const InputOptions& options) : DrawnGenerator(options) {}

 private:
  TextLine Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::wordcount
