// PlainFile: a file that --verify reads in place of the engine's sources, plain or gzip. It shares no code with them.
//
//   PlainFile file("part.csv.gz");
//   absl::StatusOr<std::string_view> text = file.Read();    // and so on, up to an empty one
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace glaive::queries {

/// zlib takes plain files as they are.
class PlainFile {
 public:
  explicit PlainFile(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {}

  /// The text that comes next, valid until the next call; empty at the end.
  absl::StatusOr<std::string_view> Read() {
    const int bytes = file_ == nullptr ? -1 : gzread(file_.get(), block_.data(), static_cast<unsigned>(block_.size()));
    return bytes < 0 ? absl::StatusOr<std::string_view>(
                           absl::FailedPreconditionError(absl::StrCat("--verify cannot read ", path_)))
                     : std::string_view(block_.data(), static_cast<std::size_t>(bytes));
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
  std::array<char, std::size_t{64} << 10> block_;
};

}  // namespace glaive::queries
