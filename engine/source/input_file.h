// InputFile: the text of one local file, plain or gzip, a bounded piece at a time.
//
// Compression is told by the file's first two bytes, not by its name; a gzip file may have several members, as `cat`
// and parallel compressors make them. Owned by a source, used by its executor's thread: Read waits for the disk or the
// page cache, for 64 KiB at most. For local files that is as short as a turn has to be; input that could keep a reader
// waiting for longer (pipes, sockets) needs a source of its own.
//
//   absl::StatusOr<InputFile> file = InputFile::Open(path);
//   while (!file->ended()) { absl::StatusOr<std::size_t> bytes = file->Read(buffer); ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"

namespace glaive::engine {

class Inflater;

class InputFile {
 public:
  /// The most that a Read takes from the file.
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

  /// Opens the file and looks at its first bytes. FailedPrecondition with the path and the reason.
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  /// Puts the next text into `into`, which is not empty, and says how many bytes: perhaps 0, also before the end.
  /// FailedPrecondition when the file cannot be read, or when its gzip data are damaged or cut off; it names the file
  /// and the byte in it.
  absl::StatusOr<std::size_t> Read(std::span<char> into);

  /// Whether all text has been read.
  bool ended() const { return ended_; }

 private:
  InputFile(std::string path, UniqueFd fd);

  absl::Status Fill();
  absl::StatusOr<std::size_t> Inflate(std::span<char> into);

  std::string path_;
  UniqueFd fd_;
  std::unique_ptr<char[]> block_;       // read and not yet handed out: [begin_, end_)
  std::unique_ptr<Inflater> inflater_;  // null: a plain file
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // bytes of the file read so far
  bool at_end_of_file_ = false;
  bool ended_ = false;
};

}  // namespace glaive::engine
