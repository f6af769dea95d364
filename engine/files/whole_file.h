// WholeFile: a file that appears under its name whole or not at all, or grows there by whole pieces.
//
//   .path.4711-0.tmp   while process 4711 writes it; removed if the WholeFile ends without Commit
//   path               after the first Publish, or after Commit, replacing a file that was there
//
//   1. The temporary file is a new one, and locked for as long as the WholeFile lives: another one of the same path is
//      refused meanwhile, also behind Commit, whichever process asks for it. A process that is killed leaves the file
//      behind, unlocked; nobody reads, writes or removes it.
//   2. Nothing is removed but that file, and nothing is replaced but the file that had the name when this one was
//      created: one that has come under the name since then stays, and Commit fails.
//   3. A symbolic link is followed: its target is replaced, and the link stays.
//   4. A device or a pipe has no temporary name: bytes are there when Write returns, and Commit closes it, so that a
//      reader sees the end. So has a path that standard output or standard error goes to already, such as /dev/stdout.
//   5. The bytes of a published file up to the last Publish stay, whatever comes: a WholeFile that ends without
//      Commit cuts off those behind them. A process that is killed cannot. Publish and Commit fail once the file under
//      the name is another, or none.
//
// Used by one thread at a time. Calls wait for the disk, or for the reader of a pipe.
//
//   absl::StatusOr<WholeFile> file = WholeFile::Create("report.json");
//   status = file->Write(text);   ...   status = file->Commit();
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"
#include "rdma/base/watch.h"

namespace glaive::engine {

class WholeFile {
 public:
  /// Opens the temporary file, device or pipe. Like nearly all errors here a FailedPrecondition, with the path and the
  /// reason.
  static absl::StatusOr<WholeFile> Create(const std::string& path);
  /// The same where nothing but a file, or nothing, may lie at the path: a link is refused, too.
  static absl::StatusOr<WholeFile> CreateFile(const std::string& path);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  /// A pipe's reader that goes before the end has seen enough: the rest is dropped, and all is well.
  /// While a pipe takes nothing, the process may be asked to end (EndingSignals(), blocked), or `watch` may end the
  /// wait: then Cancelled, or the error of `watch`.
  absl::Status Write(std::string_view bytes, const Watch& watch = GoOn);
  /// Whether the file can have its name, or has it still: the error that Publish or Commit would return.
  absl::Status CheckName() const;
  /// Makes the first `bytes` of those that were written final. The first call gives the file its name. Waits for no
  /// disk.
  absl::Status Publish(std::uint64_t bytes);
  /// Waits until what was written is on the disk.
  absl::Status Sync();
  /// Syncs, gives the file its name and syncs its folder. Quick if the file is synced already.
  absl::Status Commit();
  /// Writes the last bytes, and commits.
  absl::Status WriteAndCommit(std::string_view bytes);

  /// Bytes written so far.
  std::uint64_t bytes() const { return bytes_; }
  /// Whether it is a device or pipe.
  bool is_stream() const { return is_stream_; }
  /// The final name.
  const std::string& target() const { return target_; }
  /// Of the file; it stays the same when the file gets its name.
  std::uint64_t inode() const;
  /// The file's name until it has its final one; empty for a device or pipe.
  const std::string& temporary() const { return temporary_; }

 private:
  /// `target` is the final name, `temporary` the one until then; both empty for a device or pipe.
  WholeFile(std::string target, std::string temporary, UniqueFd fd)
      : is_stream_(temporary.empty()),
        target_(std::move(target)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)) {}

  /// Of the file under a name: tells it from others that have the name later. An inode may have another file later.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t modified_ns = 0;

    friend bool operator==(const Identity&, const Identity&) = default;
  };
  /// None if nothing has the name.
  static std::optional<Identity> IdentityOf(const std::string& path);

  /// Gives the file its name, unless it has it; not of a device or pipe.
  absl::Status TakeName();

  static absl::StatusOr<WholeFile> OpenStream(const std::string& path);
  static absl::StatusOr<WholeFile> CreateTemporary(const std::string& target);

  bool is_stream_;  // a device or pipe
  std::string target_;
  std::string temporary_;           // empty once there is no such file, or none of this one's
  std::optional<Identity> before_;  // of the file under the final name when this one was created
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::optional<std::uint64_t> published_bytes_;  // of a file that is published and not committed
};

/// The path that `path` stands for if it is a symbolic link, or a chain of them: its target need not exist.
std::string FollowLinks(const std::string& path);

/// The folder that a path lies in.
std::string FolderOf(const std::string& path);
/// Waits until the names in a folder are on the disk.
absl::Status SyncFolder(const std::string& folder);
/// The names in a folder.
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder);

/// "o.csv" for ".o.csv.4711-0.tmp"; empty for a name that is no WholeFile's temporary one.
std::string_view NameBehind(std::string_view temporary);
/// Why this run may not write the file that is, or that the temporary one is for, and what to do; empty if no other run
/// writes it. One that this user cannot read may be written or left behind: a process sees the lock only of a file that
/// it can open.
std::string WhyTaken(const std::string& temporary);

/// The descriptor, standard output's or standard error's, that goes to this file; none if neither does.
std::optional<int> StandardStreamOf(const struct stat& file);

/// "cannot <what> <path>: <reason of errno>", as a FailedPrecondition: whoever asked for the file has to act.
absl::Status FileError(std::string_view what, std::string_view path);

}  // namespace glaive::engine
