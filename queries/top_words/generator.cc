#include "queries/top_words/generator.h"

#include <algorithm>

#include "queries/common/vocabulary.h"

namespace glaive::queries::top_words {

Hashtag HashtagGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const GeneratedWord word = WordOf(keys().Draw(draw(0)));
  const std::string_view view = word.view().substr(0, Hashtag::kMostBytes - 1);
  Hashtag tag{.event_time_ms = event_time_ms, .length = static_cast<std::uint32_t>(view.size() + 1), .bytes = {'#'}};
  std::ranges::copy(view, tag.bytes.begin() + 1);
  return tag;
}

}  // namespace glaive::queries::top_words
