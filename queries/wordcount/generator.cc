#include "queries/wordcount/generator.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include "queries/common/random.h"
#include "queries/common/vocabulary.h"

namespace glaive::queries::wordcount {
namespace {

std::string_view DrawSeparator(std::uint64_t random) {
  switch (random % 64) {
    case 0:
    case 1:
    case 2:
      return ", ";
    case 3:
    case 4:
      return ". ";
    case 5:
      return "-";
    case 6:
      return "  ";
    default:
      return " ";
  }
}

void Append(std::string_view text, TextLine& line) {
  std::memcpy(line.bytes.data() + line.length, text.data(), text.size());
  line.length += static_cast<std::uint32_t>(text.size());
}

}  // namespace

TextLine LineGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  TextLine line{.event_time_ms = event_time_ms, .length = 0, .bytes = {}};
  const std::uint64_t of_line = draw(kMostWordsOfLine);
  const std::size_t most_bytes = of_line % 16 == 0 ? Below(TextLine::kMostBytes, Mix(of_line)) : TextLine::kMostBytes;
  for (std::uint64_t i = 0; i < kMostWordsOfLine; ++i) {
    const std::uint64_t random = draw(i);
    const GeneratedWord word = WordOf(keys().Draw(random));
    const std::string_view separator = i == 0 ? "" : DrawSeparator(Mix(random));
    if (line.length + separator.size() + word.length > most_bytes) {
      break;
    }
    Append(separator, line);
    Append(word.view(), line);
  }
  return line;
}

}  // namespace glaive::queries::wordcount
