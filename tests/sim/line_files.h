// LineFile: a file of rows as the engine's sinks write it, as CSV, plain lines or JSON lines. The ending of its name
// says which.
//
//   out-0.csv      kind,text                             out-1.txt    row,[0, 700) 5: 3
//                  row,[0, 700) 5: 3
//   out-2.jsonl    {"kind":"row,","text":"[0, 700) 5: 3"}
//
//   auto file = OpenLineFile("out-2.jsonl", context);
//   const std::optional<std::vector<RowLine>> lines = ParseLines("out-2.jsonl", text);
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/sink/sink.h"

namespace glaive::sim {

/// A row as a line of a file.
struct RowLine {
  std::string_view kind;  ///< kRowLine or kLateLine
  std::string text;
};
inline constexpr std::string_view kRowLine = "row,";
inline constexpr std::string_view kLateLine = "late,";

/// The endings of names of results, one for each sink of the engine.
inline constexpr std::array<std::string_view, 3> kFileEndings = {".csv", ".txt", ".jsonl"};

class LineFile : public engine::Sink<RowLine> {
 public:
  /// Whether the file's thread has nothing to do.
  virtual bool Idle() const = 0;
};

/// Opens an executor's part of a file.
absl::StatusOr<std::unique_ptr<LineFile>> OpenLineFile(const std::string& path, const engine::SinkContext& context);

/// The rows of a part's text; none if it lacks its header or its last newline, or has another line.
std::optional<std::vector<RowLine>> ParseLines(std::string_view name, std::string_view text);

}  // namespace glaive::sim
