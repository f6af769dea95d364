// Reads text files as the sources of queries do, plain and as gzip in pieces of any length, and compares lines,
// numbers, records, watermarks and errors with those of a slow reader that has all of the text at hand. So nothing may
// depend on how reading was cut into pieces. Then it damages the gzip data: either an error names the file, or the text
// is right.
//
// A record is a line that begins with a digit, its event time; a line that begins with '~' is outside the input's time.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/source/input_file.h"
#include "engine/source/line_reader.h"
#include "engine/source/line_source.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text_lines.h"

namespace glaive::engine {
namespace {

struct Digit {
  std::int64_t time_ms = 0;
};
constexpr auto kDigitTime = [](const Digit& digit) { return digit.time_ms; };

struct ParseDigit {
  Parsed operator()(std::string_view line, Digit& digit, ParseError& error) const {
    if (line.front() == '~') return Parsed::kOutside;
    if (line.front() < '0' || line.front() > '9') return error.At(1, "no digit");
    digit.time_ms = line.front() - '0';
    return Parsed::kRecord;
  }
};

/// What reading a file comes to.
struct Record {
  std::int64_t time_ms;
  std::int64_t watermark_ms;  // behind it, if one belongs there

  bool operator==(const Record&) const = default;
};
struct Findings {
  std::vector<Record> records;
  std::uint64_t bad = 0;
  std::uint64_t outside = 0;
  std::string first_bad;  // "LINE:1: ..."
  std::int64_t last_watermark_ms = kMinEventTimeMs;
};

/// By LineSource's description, from the whole text; of a bad line's reason it knows nothing.
Findings Expected(const std::vector<FileLine>& lines, std::uint64_t watermark_every) {
  Findings findings;
  std::int64_t greatest_ms = kMinEventTimeMs;
  for (const FileLine& line : lines) {
    const char first = line.is_too_long ? ' ' : line.text.front();
    if (first == '~') {
      ++findings.outside;
    } else if (first < '0' || first > '9') {
      if (findings.bad++ == 0) findings.first_bad = std::to_string(line.number) + ":1: ";
    } else {
      greatest_ms = std::max<std::int64_t>(greatest_ms, first - '0');
      const bool moves = (findings.records.size() + 1) % watermark_every == 0;
      findings.last_watermark_ms = moves ? greatest_ms : findings.last_watermark_ms;
      findings.records.push_back({.time_ms = first - '0', .watermark_ms = findings.last_watermark_ms});
    }
  }
  findings.last_watermark_ms = greatest_ms;
  return findings;
}

/// By a LineSource that skips bad lines.
Findings Found(const std::string& path, std::uint64_t watermark_every) {
  const absl::StatusOr<ListedFile> listed = ListFile(path);
  Require(listed.ok(), "the file is there");
  LineSource<Digit, ParseDigit, decltype(kDigitTime)> source(
      WholeFiles({*listed}), ParseDigit{}, kDigitTime,
      {.on_bad_record = OnBadRecord::kSkip, .watermark_every = watermark_every});
  Findings findings;
  for (bool ended = false; !ended;) {
    const SourceBatch<Digit> batch = source.Poll();
    Require(source.status().ok(), "a file that is whole is read to its end");
    const std::int64_t before_ms = findings.last_watermark_ms;
    for (const Digit& digit : batch.records) {
      findings.records.push_back({.time_ms = digit.time_ms, .watermark_ms = before_ms});
    }
    // A record behind which the watermark moves is its batch's last; at the end it moves whatever came before.
    const bool moves = !batch.records.empty() && findings.records.size() % watermark_every == 0;
    if (moves) findings.records.back().watermark_ms = batch.watermark_ms;
    Require(moves || batch.ended || batch.watermark_ms == before_ms, "the watermark moves at its records alone");
    findings.last_watermark_ms = batch.watermark_ms;
    ended = batch.ended;
  }
  findings.bad = source.findings().bad_records;
  findings.outside = source.findings().outside_records;
  findings.first_bad = source.findings().first_bad_record;
  return findings;
}

void CheckSource(const std::string& path, const std::vector<FileLine>& lines, std::uint64_t watermark_every) {
  const Findings expected = Expected(lines, watermark_every);
  const Findings found = Found(path, watermark_every);
  Require(found.records == expected.records, "each record is read, and has its watermark");
  Require(found.last_watermark_ms == expected.last_watermark_ms, "the last watermark is the greatest time");
  Require(found.bad == expected.bad && found.outside == expected.outside, "other lines are counted");
  Require(expected.bad == 0 ? found.first_bad.empty() : found.first_bad.starts_with(path + ":" + expected.first_bad),
          "the first bad line is named");
}

/// What a LineReader says of some files: all of it up to the first error.
struct Read {
  struct Line {
    std::size_t file;
    std::uint64_t number;
    bool is_too_long;
    std::string text;
  };
  std::vector<Line> lines;
  absl::Status status;
};

Read ReadAll(const std::vector<std::string>& paths) {
  std::vector<ListedFile> files;
  for (const std::string& path : paths) {
    files.push_back(*ListFile(path));
  }
  LineReader reader(WholeFiles(files));
  Read read;
  std::size_t file = 0;
  while (true) {
    const LineEvent event = reader.Next();
    if (event == LineEvent::kEnd) return read;
    while (reader.path() != paths[file]) ++file;
    if (event == LineEvent::kWait) {
      read.status = reader.Read();
      if (!read.status.ok()) return read;
      continue;
    }
    const bool is_fault = event == LineEvent::kFault;
    read.lines.push_back({.file = file,
                          .number = reader.line_number(),
                          .is_too_long = is_fault,
                          .text = is_fault ? "" : std::string(reader.line())});
    const std::string place = paths[file] + ":" + std::to_string(reader.line_number()) + ":1: ";
    Require(!is_fault || reader.fault().starts_with(place), "a fault names its line");
  }
}

void CheckLine(const Read::Line& found, const FileLine& line) {
  Require(found.number == line.number, "a line has its number");
  Require(found.is_too_long == line.is_too_long, "a line that is too long is a fault, and no other");
  Require(found.text == line.text, "a line is all of its text");
}

void CheckReader(const std::vector<std::string>& paths, const std::vector<std::vector<FileLine>>& lines) {
  const Read read = ReadAll(paths);
  Require(read.status.ok(), "files that are whole are read to their ends");
  std::size_t at = 0;
  for (std::size_t file = 0; file < lines.size(); ++file) {
    for (const FileLine& line : lines[file]) {
      Require(at < read.lines.size(), "no line is lost");
      const Read::Line& found = read.lines[at++];
      Require(found.file == file, "a line has its file");
      CheckLine(found, line);
    }
  }
  Require(at == read.lines.size(), "no line comes from nowhere");
}

/// Where a file is cut, its last line is the beginning of a line. `line` is null behind the text's last one. The cut
/// may be within a byte order mark, which is then no mark any more.
void CheckCutLine(const Read::Line& found, const FileLine* line, const std::string& text) {
  if (found.number == 1) {
    Require(text.starts_with(found.text) || text.starts_with(std::string(kByteOrderMark) + found.text),
            "the first line of a cut file is the text's beginning");
    return;
  }
  Require(line != nullptr && found.number == line->number, "the last line of a cut file has its number");
  Require(line->is_too_long || line->text.starts_with(found.text), "the last line of a cut file is a line's beginning");
}

/// Some bytes of a gzip file are another, or are missing. Half of the cuts are where a member begins, or at the file's
/// end: such a file can be read.
void CheckDamage(FuzzedDataProvider& input, const std::string& text, std::string file) {
  const bool is_cut = input.ConsumeBool();
  auto at = input.ConsumeIntegralInRange<std::size_t>(2, file.size() - 1);
  if (is_cut) {
    if (input.ConsumeBool()) at = std::min(file.find(kGzipMagic, at), file.size());
    file.resize(at);
  } else {
    file[at] = static_cast<char>(file[at] ^ input.ConsumeIntegralInRange<int>(1, 255));
  }
  const MemoryFile damaged(file);
  const Read read = ReadAll({damaged.path()});
  if (!read.status.ok()) {
    const std::string message(read.status.message());
    Require(message.starts_with(damaged.path() + ": "), "an error of a file names it");
    return;
  }
  const std::vector<FileLine> lines = LinesOf(text);
  Require(is_cut || read.lines.size() == lines.size(), "a damaged file that can be read has all lines");
  // Cut where a member ends, it is a whole file.
  const std::size_t whole_lines = read.lines.size() - (is_cut && !read.lines.empty() ? 1 : 0);
  Require(whole_lines <= lines.size(), "a cut file has no other lines");
  for (std::size_t i = 0; i < whole_lines; ++i) CheckLine(read.lines[i], lines[i]);
  if (whole_lines < read.lines.size()) {
    CheckCutLine(read.lines.back(), whole_lines < lines.size() ? &lines[whole_lines] : nullptr, text);
  }
}

std::string DrawText(FuzzedDataProvider& input) {
  constexpr std::string_view kPieces[] = {"\n", "\r\n", "\r", " ", "\t", "\xef\xbb\xbf", "1", "9", "~", "x", "\n\n"};
  std::string text;
  int long_lines = 1;
  while (input.remaining_bytes() > 0 && input.ConsumeIntegralInRange<int>(0, 31) != 0) {
    const auto choice = input.ConsumeIntegralInRange<int>(0, 127);
    if (choice == 0 && long_lines-- > 0) {  // of about the greatest length
      text.append(kMostLineBytes - 4 + input.ConsumeIntegralInRange<std::size_t>(0, 8), '7');
    } else if (choice < 4) {
      text.append(input.ConsumeIntegralInRange<std::size_t>(0, 1000), '5');
    } else if (choice < 12) {
      text += input.ConsumeRandomLengthString(16);
    } else {
      text += input.PickValueInArray(kPieces);
    }
  }
  return text.starts_with(kGzipMagic) ? text.substr(1) : text;  // that would be gzip
}

void Fuzz(FuzzedDataProvider& input) {
  std::vector<std::unique_ptr<MemoryFile>> files;
  std::vector<std::string> paths;
  std::vector<std::vector<FileLine>> lines;
  std::vector<std::string> texts;
  const std::uint64_t watermark_every = input.ConsumeIntegralInRange<std::uint64_t>(1, 5);
  const auto count = input.ConsumeIntegralInRange<std::size_t>(1, 3);
  for (std::size_t i = 0; i < count; ++i) texts.push_back(DrawText(input));
  const bool is_plain = input.ConsumeBool();
  const auto lengths = input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange<std::size_t>(0, 40));
  for (const std::string& text : texts) {
    files.push_back(std::make_unique<MemoryFile>(is_plain ? text : GzipMembers(text, lengths)));
    paths.push_back(files.back()->path());
    lines.push_back(LinesOf(text));
  }
  CheckReader(paths, lines);
  CheckSource(paths.front(), lines.front(), watermark_every);
  if (!is_plain) CheckDamage(input, texts.front(), GzipMembers(texts.front(), lengths));
}

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  glaive::engine::Fuzz(input);
  return 0;
}
