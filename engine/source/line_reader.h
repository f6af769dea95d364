// LineReader: the lines of several input files, or of shares of them (file_share.h), one file after the other.
//
// A line ends at a newline, with or without a carriage return before it, or at the end of its file. The byte order mark
// that some editors put at a file's beginning and files without text are passed over, and so are blank lines, unless
// the rules say otherwise. Reading is apart from finding lines, so that the caller decides how much is read in a turn:
// Read takes in 64 KiB of text at most. Owned by a source. It reserves 1 MiB and two blocks; pages are used as lines
// need them.
//
// By the rule `csv` a newline inside a quoted field (csv_quotes.h) ends no line. Then a share's reader goes over the
// text between its stretches, too: only the text before a newline tells whether it is quoted.
//
//   LineReader reader(WholeFiles(files));
//   while (true) switch (reader.Next()) {
//       case LineEvent::kLine: Use(reader.line()); break;
//       case LineEvent::kHeader: break;  // by the rule `csv`
//       case LineEvent::kFault: std::cerr << reader.fault(); break;
//       case LineEvent::kWait: status = reader.Read(); break;
//       case LineEvent::kEnd: return;
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine/format/csv_quotes.h"
#include "engine/source/file_share.h"
#include "engine/source/input_file.h"

namespace glaive::engine {

enum class LineEvent : std::uint8_t {
  kLine,    // line() is the next one
  kHeader,  // line() is a file's header, its first line that is not blank
  kFault,   // fault() says what is wrong with the input here; the next call goes on behind it
  kWait,    // what was read holds no further line: call Read
  kEnd,     // no further file
};

/// The rules by which text is cut into lines.
struct LineRules {
  /// Newlines inside quoted fields end no line, and each file begins with a header, which belongs to all of its shares.
  bool csv = false;
  /// Blank lines are lines as well.
  bool blank_lines = false;
};

class LineReader {
 public:
  /// A longer line is a fault, in bytes.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  /// Behind a line there are so many bytes that may be read, as some parsers do.
  static constexpr std::size_t kPaddingBytes = 64;
  /// The memory that a reader holds, in bytes.
  static constexpr std::size_t kMemoryBytes = kMaxLineBytes + 2 * InputFile::kBlockBytes + kPaddingBytes;

  explicit LineReader(std::vector<FileShare> files, LineRules rules = {});

  LineEvent Next();

  /// Reads more text, opening the next file if need be; only after kWait. The errors are those of InputFile, with the
  /// lines that were read before.
  absl::Status Read();

  /// Without its end. Valid until Read.
  std::string_view line() const { return line_; }
  /// Which line and where: the file's path, and the number from 1 of its first line. 0 in a share whose reader does not
  /// know it.
  const std::string& path() const { return files_[file_index_].file.path; }
  std::uint64_t line_number() const { return has_numbers_ ? line_number_ : 0; }
  /// "FILE:LINE:COLUMN" for a column of the line, from 1; in a share whose reader knows no line numbers
  /// "FILE:byte BYTE:COLUMN" with the line's first byte, from 1, as `tail -c +BYTE FILE` takes it.
  std::string Place(std::size_t column) const;
  /// "FILE:LINE:1: ..."; valid until Next.
  const std::string& fault() const { return fault_; }
  /// Whether it is in the header that the file's other lines need.
  bool fault_is_of_header() const { return wants_header_; }

 private:
  LineEvent NextOfAny();
  LineEvent NextOfFile();
  /// The place of the newline that ends the line at begin_, among what was read; npos: none.
  std::size_t FindEnd();
  LineEvent Take(std::size_t end, std::size_t next);
  /// Takes the text up to `next` off.
  void Discard(std::size_t next);
  /// Goes to the next stretch if the line at begin_ belongs to none of the share. kWait: it has to read or to end
  /// first.
  std::optional<LineEvent> FindStretch();
  absl::Status Open();
  void EndFile();
  std::uint64_t offset() const { return text_offset_ + begin_; }  // of begin_ in the file's text

  std::vector<FileShare> files_;
  LineRules rules_;
  std::size_t file_index_ = 0;
  std::optional<InputFile> file_;  // none: not opened yet
  std::unique_ptr<char[]> text_;   // read and not yet taken: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t searched_ = 0;       // no end of a line before it
  std::uint64_t text_offset_ = 0;  // of text_ in the file's text
  bool in_lost_line_ = false;      // its beginning has been thrown away, and so is its rest
  bool wants_header_ = false;
  CsvQuotes quotes_;

  bool is_cut_ = false;                   // the share is not all of the file
  FileStretch stretch_{0, 0};             // of the share: a line that begins in it is one of the share
  std::optional<std::uint64_t> gap_end_;  // text before it is gone over, and taken off
  std::optional<std::uint64_t> seek_to_;  // where to go on reading
  bool is_done_ = false;                  // no further line of the share

  bool has_numbers_ = true;
  std::uint64_t lines_before_ = 0;  // newlines before begin_
  std::uint64_t line_number_ = 0;
  std::uint64_t line_offset_ = 0;
  std::string_view line_;
  std::string fault_;
};

}  // namespace glaive::engine
