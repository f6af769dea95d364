// PartFile: one leader's part of a result, written under a temporary name until the whole run has succeeded.
//
//   path.part-002-of-004.tmp   while it is written; removed if the PartFile ends without Commit
//   path.part-002-of-004       after Commit
//   path                       after JoinParts, which removes the parts
//
// Owned by its leader's sink. Every byte goes through a 1 MiB buffer.
//
//   absl::StatusOr<PartFile> file = PartFile::Create("counts.csv", executor, executor_count);
//   status = file->Append("1,2,3\n");
//   status = file->Flush();   ...   status = file->Commit();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {

class PartFile {
 public:
  /// Opens the temporary file. The error names the path and the reason.
  static absl::StatusOr<PartFile> Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count);

  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  absl::Status Append(std::string_view bytes);
  /// Writes out the buffer and waits until the file is on its disk.
  absl::Status Flush();
  /// Gives the file its final name.
  absl::Status Commit();

 private:
  PartFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status WriteOut();

  std::string path_;  // the final name; empty once committed or moved from
  UniqueFd fd_;
  std::string buffer_;
};

/// The name of an executor's part of `path`.
std::string PartPath(const std::string& path, ExecutorId executor, std::uint32_t executor_count);

/// Joins the committed parts of all executors into `path`, which appears whole or not at all, and removes them. The
/// first `header_bytes` of every part but the first are left out.
absl::Status JoinParts(const std::string& path, std::uint32_t executor_count, std::size_t header_bytes);

}  // namespace glaive::engine
