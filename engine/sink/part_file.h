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
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/sink/whole_file.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

class PartFile {
 public:
  /// Opens the temporary file. The error names the path and the reason.
  static absl::StatusOr<PartFile> Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count);

  absl::Status Append(std::string_view bytes);
  /// Writes out the buffer. The system may still keep it in memory.
  absl::Status Flush();
  /// Waits until the file is on its disk and gives it its final name.
  absl::Status Commit() { return file_.Commit(); }

 private:
  explicit PartFile(WholeFile file) : file_(std::move(file)) {}

  WholeFile file_;
  std::string buffer_;
};

/// The name of an executor's part of `path`.
std::string PartPath(const std::string& path, ExecutorId executor, std::uint32_t executor_count);

/// Joins the committed parts of all executors into `path`, which appears whole or not at all, and removes them. The
/// first `header_bytes` of every part but the first are left out.
absl::Status JoinParts(const std::string& path, std::uint32_t executor_count, std::size_t header_bytes);

}  // namespace glaive::engine
