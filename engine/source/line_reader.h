// LineReader: the lines of several input files, one file after the other.
//
// A line ends at a newline, with or without a carriage return before it, or at the end of its file. Blank lines, the
// byte order mark that some editors put at a file's beginning, and files without text are passed over. Reading is apart
// from finding lines, so that the caller decides how much is read in a turn: Read takes in 64 KiB of text at most.
// Owned by a source. Holds a little more than a line of the greatest length, of which the system provides what is used.
//
//   LineReader reader(files);
//   while (true) switch (reader.Next()) {
//       case LineEvent::kLine: Use(reader.line()); break;
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

#include "engine/source/input_file.h"

namespace glaive::engine {

enum class LineEvent : std::uint8_t {
  kLine,   // line() is the next one
  kFault,  // fault() says what is wrong with the input here; the next call goes on behind it
  kWait,   // what was read holds no further line: call Read
  kEnd,    // no further file
};

class LineReader {
 public:
  /// A longer line is a fault, in bytes.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  /// What a reader holds, in bytes.
  static constexpr std::size_t kMemoryBytes = kMaxLineBytes + 2 * InputFile::kBlockBytes;

  explicit LineReader(std::vector<ListedFile> files);

  LineEvent Next();

  /// Reads more text, opening the next file if need be; only after kWait. The errors are those of InputFile, with the
  /// line that was reached.
  absl::Status Read();

  /// Without its end. Valid until Read.
  std::string_view line() const { return line_; }
  /// Which line and where: the file's path, and the number from 1.
  const std::string& path() const { return files_[file_index_].path; }
  std::uint64_t line_number() const { return line_number_; }
  /// "FILE:LINE:1: ..."; valid until Next.
  const std::string& fault() const { return fault_; }

 private:
  LineEvent NextOfAny();
  LineEvent Take(std::size_t end, std::size_t next);
  void EndFile();

  std::vector<ListedFile> files_;
  std::size_t file_index_ = 0;
  std::optional<InputFile> file_;  // none: not opened yet
  std::unique_ptr<char[]> text_;   // read and not yet taken: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t searched_ = 0;   // no newline before it
  bool in_long_line_ = false;  // whose beginning has been thrown away
  std::uint64_t line_number_ = 0;
  std::string_view line_;
  std::string fault_;
};

}  // namespace glaive::engine
