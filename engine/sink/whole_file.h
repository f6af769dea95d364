// WholeFile: a file that appears under its name whole or not at all.
//
//   path.tmp   while it is written; removed if the WholeFile ends without Commit
//   path       after Commit, replacing what was there
//
// Used by one thread at a time. Calls wait for the disk.
//
//   absl::StatusOr<WholeFile> file = WholeFile::Create("report.json");
//   status = file->Write(text);   ...   status = file->Commit();
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"

namespace glaive::engine {

class WholeFile {
 public:
  /// Opens the temporary file. Like all errors here a FailedPrecondition, with the path and the reason.
  static absl::StatusOr<WholeFile> Create(std::string path);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  absl::Status Write(std::string_view bytes);
  /// Waits until what was written is on the disk.
  absl::Status Sync();
  /// Syncs, then gives the file its name. Quick if it is synced already.
  absl::Status Commit();

 private:
  WholeFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;  // the final name; empty once committed or moved from
  UniqueFd fd_;
};

/// Creates, writes and commits a file of these bytes.
absl::Status WriteWholeFile(std::string path, std::string_view bytes);

/// "cannot <what> <path>: <reason of errno>", as a FailedPrecondition: whoever asked for the file has to act.
absl::Status FileError(std::string_view what, std::string_view path);

}  // namespace glaive::engine
