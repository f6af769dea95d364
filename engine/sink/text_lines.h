// TextLines: a sink that writes texts as lines, one file an executor (see part_file.h).
//
// No row moves: each executor writes its own.
//
// A row is a Text, or a described record whose only member is one, such as TextLine (engine/source/line_source.h),
// which reads the file again. A text with line breaks becomes several lines.
//
//   From(Lines(files)).Filter(&HasError).To(TextLines{"errors.txt"});
#pragma once

#include <string>

#include "engine/format/shape.h"
#include "engine/sink/file_sink.h"
#include "engine/sink/sink.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::engine {

template <typename Row>
struct TextRow {
  static std::string Header() { return ""; }
  static void Append(std::string& line, const Row& row) {
    ForEachText(row, [&line](const Text& text) { line += text.view(); });
  }
};

struct TextLines {
  std::string path;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    static_assert(
        kIsOneText<Row>,
        "glaive: TextLines writes a Text, or a GLAIVE_RECORD whose only member is one: make it by a Map before");
    if constexpr (kIsOneText<Row>) {
      return FileSinkFactory<Row, TextRow<Row>>(path);
    } else {
      return nullptr;
    }
  }
};

}  // namespace glaive::engine
