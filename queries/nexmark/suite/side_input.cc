#include "queries/nexmark/suite/side_input.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/format/csv_reader.h"
#include "engine/format/csv_text.h"
#include "engine/source/line_reader.h"
#include "state/record/record.h"
#include "state/record/text.h"
#include "state/record/text_arena.h"

namespace glaive::queries::nexmark::suite {
namespace {

struct SideRow {
  std::uint64_t key;
  Text value;
};
GLAIVE_RECORD(SideRow, key, value)

/// The rows read so far.
class SideRows {
 public:
  /// A line, or the header, that a reader is at.
  absl::Status Take(const engine::LineReader& lines, engine::LineEvent event) {
    engine::ParseError error;
    engine::Parsed parsed = engine::Parsed::kBlank;
    if (event == engine::LineEvent::kHeader) {
      parsed = parser_.ReadHeader(lines.line(), error);
    } else {
      SideRow row{};
      parsed = parser_(lines.line(), row, texts_, error);
      if (parsed == engine::Parsed::kRecord && !table_.emplace(row.key, row.value.view()).second) {
        parsed = error.At(1, absl::StrCat("the key ", row.key, " is there twice"));
      }
      texts_.Clear();
    }
    return parsed == engine::Parsed::kBad
               ? absl::FailedPreconditionError(absl::StrCat(lines.Place(error.column), ": ", error.reason))
               : absl::OkStatus();
  }

  SideInput& table() { return table_; }

 private:
  engine::CsvParser<SideRow> parser_;
  state::TextArena texts_;
  SideInput table_;
};

}  // namespace

SideInput AllSideKeys() {
  SideInput table;
  for (std::uint64_t key = 0; key < kSideInputKeys; ++key) {
    table.emplace_hint(table.end(), key, absl::StrCat(key));
  }
  return table;
}

absl::StatusOr<SideInput> ReadSideInput(const std::string& path, const Watch& watch) {
  absl::StatusOr<engine::ListedFile> file = engine::ListFile(path);
  if (!file.ok()) {
    return file.status();
  }
  engine::LineReader lines(engine::WholeFiles({*std::move(file)}), {.csv = true});
  SideRows rows;
  while (true) {
    absl::Status status;
    switch (const engine::LineEvent event = lines.Next()) {
      case engine::LineEvent::kHeader:
      case engine::LineEvent::kLine:
        status = rows.Take(lines, event);
        break;
      case engine::LineEvent::kFault:
        status = absl::FailedPreconditionError(lines.fault());
        break;
      case engine::LineEvent::kWait:
        status = watch();
        status.Update(status.ok() ? lines.Read() : absl::OkStatus());
        break;
      case engine::LineEvent::kEnd:
        if (rows.table().empty()) {
          return absl::FailedPreconditionError(absl::StrCat(path, ": has no rows; a row is a key and a value"));
        }
        return std::move(rows.table());
    }
    if (!status.ok()) {
      return status;
    }
  }
}

std::string SideInputAsCsv(const SideInput& table) {
  std::string csv = "key,value\n";
  for (const auto& [key, value] : table) {
    absl::StrAppend(&csv, key, ",");
    engine::AppendQuotedCsv(csv, value);
    csv += '\n';
  }
  return csv;
}

}  // namespace glaive::queries::nexmark::suite
