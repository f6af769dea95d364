#include "engine/format/csv_text.h"

namespace glaive::engine {

void AppendCsvText(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
  } else {
    AppendQuotedCsv(line, text);
  }
}

void AppendQuotedCsv(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    line.append(c == '"' ? 2 : 1, c);
  }
  line += '"';
}

}  // namespace glaive::engine
