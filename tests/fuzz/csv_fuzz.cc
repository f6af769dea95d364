// Reads CSV files as executors that share them do, one to five of them, and compares records and bad lines with those
// of a slow reader that has all of the text at hand and goes over it once, a character at a time. So nothing may depend
// on where a file is cut. What was read is then written, and read again.
//
// An input is the file's text behind its first byte, which says how many executors there are; or it is drawn.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/format/csv_text.h"
#include "engine/source/csv_file.h"
#include "engine/source/input_files.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/parse_outcome.h"
#include "tests/fuzz/require.h"

namespace glaive::engine {
namespace {

struct FuzzedRow {
  std::uint8_t id;
  Text name;
  std::optional<Text> note;
};
GLAIVE_RECORD(FuzzedRow, id, name, note)

constexpr std::string_view kHeaderLine = "note,id,other,name\n";
constexpr std::size_t kColumns = 4;

/// The same, with texts of its own.
struct OwnedRow {
  std::uint8_t id;
  std::string name;
  std::optional<std::string> note;

  auto operator<=>(const OwnedRow&) const = default;
};

struct Findings {
  std::vector<OwnedRow> rows;
  std::uint64_t bad = 0;

  void Sort() { std::ranges::sort(rows); }
};

/// A field as it is written.
struct RawField {
  std::string text;  // of quoted ones, what is meant
  bool is_quoted = false;
  bool is_right = true;  // a quoted field ends at its closing quote
};

/// The records of a text, by RFC 4180 and what csv_quotes.h says of quotes in the wrong place.
class SlowReader {
 public:
  explicit SlowReader(std::string_view text) : text_(text) {}

  bool ended() const { return at_ == text_.size(); }

  std::vector<RawField> Next() {
    std::vector<RawField> fields;
    do {
      fields.push_back(Field());
    } while (Take(','));
    if (!ended()) {
      Require(Take('\n'), "a record ends at a newline");
    }
    // A carriage return before the end is part of it.
    RawField& last = fields.back();
    if (!last.is_quoted && last.text.ends_with('\r')) last.text.pop_back();
    return fields;
  }

 private:
  bool Take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  RawField Field() {
    RawField field;
    field.is_quoted = Take('"');
    if (field.is_quoted) {
      while (true) {
        if (ended()) {
          field.is_right = false;
          return field;
        }
        if (Take('"')) {
          if (!Take('"')) break;
          field.text += '"';
        } else {
          field.text += text_[at_];
          (void)Take(text_[at_]);
        }
      }
      std::string behind;
      while (!ended() && text_[at_] != ',' && text_[at_] != '\n') {
        behind += text_[at_];
        (void)Take(text_[at_]);
      }
      const bool is_last = ended() || text_[at_] == '\n';
      field.is_right = behind.empty() || (behind == "\r" && is_last);
      return field;
    }
    while (!ended() && text_[at_] != ',' && text_[at_] != '\n') {
      field.text += text_[at_];
      (void)Take(text_[at_]);
    }
    return field;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::uint8_t> ToByte(const std::string& text) {
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min(10 * value + static_cast<unsigned>(c - '0'), 1000U);
  }
  return text.empty() || value > 255 ? std::nullopt : std::optional(static_cast<std::uint8_t>(value));
}

std::optional<OwnedRow> ToRow(const std::vector<RawField>& fields) {
  if (fields.size() != kColumns || !std::ranges::all_of(fields, &RawField::is_right)) return std::nullopt;
  const std::optional<std::uint8_t> id = ToByte(fields[1].text);
  if (!id.has_value()) return std::nullopt;
  const bool has_note = fields[0].is_quoted || !fields[0].text.empty();
  return OwnedRow{.id = *id, .name = fields[3].text, .note = has_note ? std::optional(fields[0].text) : std::nullopt};
}

/// What the rows behind the header say.
Findings Expect(std::string_view rows) {
  Findings findings;
  SlowReader reader(rows);
  while (!reader.ended()) {
    const std::vector<RawField> fields = reader.Next();
    if (fields.size() == 1 && !fields[0].is_quoted && fields[0].text.empty()) continue;  // blank
    if (std::optional<OwnedRow> row = ToRow(fields)) {
      findings.rows.push_back(*std::move(row));
    } else {
      ++findings.bad;
    }
  }
  return findings;
}

Findings ReadByExecutors(const std::string& path, std::uint32_t executors) {
  const absl::StatusOr<ListedFile> listed = ListFile(path);
  Require(listed.ok(), "the file is there");
  const auto spec = CsvFile<FuzzedRow>({*listed}, {.on_bad_record = OnBadRecord::kSkip, .watermark_every = 7});
  Findings findings;
  for (std::uint32_t executor = 0; executor < executors; ++executor) {
    auto source = spec.open({.executor = ExecutorId{executor}, .executor_count = executors});
    Require(source.ok(), "a source is opened");
    for (bool ended = false; !ended;) {
      const SourceBatch<FuzzedRow> batch = (*source)->Poll();
      Require((*source)->status().ok(), "a file with the right header is read to its end");
      for (const FuzzedRow& row : batch.records) {
        findings.rows.push_back({.id = row.id,
                                 .name = std::string(row.name.view()),
                                 .note = row.note ? std::optional(std::string(row.note->view())) : std::nullopt});
      }
      ended = batch.ended;
    }
    const SourceFindings of_source = (*source)->findings();
    findings.bad += of_source.bad_records;
    Require(of_source.bad_records == 0 || IsMessage(of_source.first_bad_record), "an error is short and printable");
    Require(of_source.bad_records == 0 || of_source.first_bad_record.starts_with(path + ":"),
            "an error names the file");
  }
  return findings;
}

void Check(std::string_view rows, std::uint32_t executors) {
  const MemoryFile file(std::string(kHeaderLine) + std::string(rows));
  Findings expected = Expect(rows);
  const Findings alone = ReadByExecutors(file.path(), 1);
  Require(alone.rows == expected.rows, "each record is read, in the file's order");
  Require(alone.bad == expected.bad, "each bad record is counted");
  Findings shared = ReadByExecutors(file.path(), executors);
  shared.Sort();
  std::string written(kHeaderLine);
  for (const OwnedRow& row : expected.rows) {
    AppendCsvValue(written, row.note ? std::optional(Text(*row.note)) : std::nullopt);
    written += "," + std::to_string(row.id) + ",,";
    AppendCsvValue(written, Text(row.name));
    written += '\n';
  }
  const MemoryFile again(written);
  Require(ReadByExecutors(again.path(), 1).rows == expected.rows, "what is written is read again");
  expected.Sort();
  Require(shared.rows == expected.rows && shared.bad == expected.bad,
          "executors that share a file read all of it once");
}

std::string DrawRows(FuzzedDataProvider& input) {
  constexpr std::string_view kPieces[] = {"\n",
                                          "\r\n",
                                          "\r",
                                          ",",
                                          "\"",
                                          "\"\"",
                                          "1",
                                          "255",
                                          "256",
                                          "x",
                                          " ",
                                          ",\"",
                                          "\",",
                                          "\"\n",
                                          "\n\"",
                                          std::string_view("\0", 1),
                                          "a,1,,b\n",
                                          ",7,,",
                                          "\"a\n\"\"b\",8,\"\",\"c,\"\n",
                                          "\n\n",
                                          "\xef\xbb\xbf"};
  std::string rows;
  while (input.remaining_bytes() > 0) {
    if (input.ConsumeIntegralInRange<int>(0, 15) == 0) {
      rows += input.ConsumeRandomLengthString(12);
    } else {
      rows += input.PickValueInArray(kPieces);
    }
  }
  return rows;
}

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint32_t executors = 2 + data[0] % 4;
  if (data[0] >= 128) {
    FuzzedDataProvider input(data + 1, size - 1);
    glaive::engine::Check(glaive::engine::DrawRows(input), executors);
  } else {
    glaive::engine::Check({reinterpret_cast<const char*>(data + 1), size - 1}, executors);
  }
  return 0;
}
