// InputFile: the text of one local file, plain or gzip, a bounded piece at a time.
//
// Compression is told by the file's first two bytes, not by its name; a gzip file may have several members, as `cat`
// and parallel compressors make them, with zeros behind each, as tapes and block devices leave them. A file is read
// only as it was listed: one that has been written to since is an error. Owned by a source, used by its executor's
// thread: Read waits for the disk or the page cache, for 64 KiB at most. For local files that is as short as a turn has
// to be; input that could keep a reader waiting for longer (pipes, sockets) needs a source of its own.
//
//   absl::StatusOr<InputFile> file = InputFile::Open(*ListFile(path));
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

/// A file as it was when the input was listed.
struct ListedFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970, by the clock of its file system

  friend bool operator==(const ListedFile&, const ListedFile&) = default;
};

/// The file as it is now. FailedPrecondition with the path and the reason.
absl::StatusOr<ListedFile> ListFile(std::string path);

class Inflater;

class InputFile {
 public:
  /// The most that a Read takes from the file.
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

  /// Opens the file and reads its first bytes. FailedPrecondition with the path and the reason, also if the file is
  /// another than when it was listed.
  static absl::StatusOr<InputFile> Open(ListedFile listed);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  /// Puts the next text into `into`, which is not empty, and says how many bytes: perhaps 0, also before the end.
  /// FailedPrecondition when the file cannot be read or has changed since it was listed, or when its gzip data are
  /// damaged or cut off; it names the file and the byte in it.
  absl::StatusOr<std::size_t> Read(std::span<char> into);

  /// Whether all text has been read.
  bool ended() const { return ended_; }

  /// Whether it is gzip.
  bool compressed() const { return inflater_ != nullptr; }
  /// Goes on reading at a byte of the file, which is plain.
  absl::Status Seek(std::uint64_t offset);
  /// FailedPrecondition when the file has changed since it was listed. For a reader that does not read to the end,
  /// where Read finds out.
  absl::Status CheckUnchanged() const;

 private:
  InputFile(ListedFile listed, UniqueFd fd);

  absl::Status Fill();
  absl::StatusOr<std::size_t> Inflate(std::span<char> into);

  ListedFile listed_;
  UniqueFd fd_;
  std::unique_ptr<char[]> block_;       // read and not yet handed out: [begin_, end_)
  std::unique_ptr<Inflater> inflater_;  // null: a plain file
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of the file, up to which it was read
  bool at_end_of_file_ = false;
  bool ended_ = false;
};

}  // namespace glaive::engine
