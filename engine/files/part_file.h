// PartFile: one leader's part of a result. It is published while it grows, or has a temporary name until the whole run
// has succeeded. The part of a run's only executor is the result.
//
//   .path.part-002-of-004.4711-0.tmp   while process 4711 writes it; removed if the PartFile ends without Commit
//   path.part-002-of-004               after the first Publish, or after Commit
//   .path.part-002-of-004.progress     how far it is complete, until Commit (completeness.h)
//   path                              after JoinParts, which removes the parts
//
// Owned by its leader's sink. Buffers of 1 MiB are filled here and written by another thread (file_writer.h): nothing
// but Create and Commit waits for the disk. While a full buffer waits for the one before, Ready is false. A caller
// that waits for Ready needs memory for two buffers and one Append.
//
// Bytes that are published stay, whatever becomes of the run. Complete says which rows may be published; the writer's
// thread publishes them with the next full buffer, or with what there is at Publish.
//
// Parts of two runs of several executors never lie side by side: Create refuses a path that another run writes, and one
// beside which there are parts of a result of another number of executors.
//
//   absl::StatusOr<PartFile> file = PartFile::Create("counts.csv", executor, executor_count);
//   status = file->Append("1,2,3\n");
//   file->Complete(1, window_end_ms);
//   if (file->WantsToPublish(now_ns)) status = file->Publish(now_ns);
//   while (!*file->TryFinish()) { do something else }   ...   status = file->Commit();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/completeness.h"
#include "engine/files/file_claims.h"
#include "engine/files/file_writer.h"
#include "engine/files/result_part.h"
#include "engine/files/whole_file.h"
#include "engine/files/writer_thread.h"
#include "rdma/base/ids.h"
#include "rdma/base/watch.h"

namespace glaive::engine {

struct PartFileOptions {
  std::size_t buffer_bytes = std::size_t{1} << 20;
  std::shared_ptr<WriterThread> thread = nullptr;  ///< that writes it; null: one of its own
};

class PartFile {
 public:
  /// Takes the temporary file from `claims`, which may be null, or opens it where the part was not claimed. The error
  /// names the path and the reason.
  static absl::StatusOr<PartFile> Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count,
                                         FileClaims* claims = nullptr, const PartFileOptions& options = {});

  /// Whether the writer has nothing to do.
  bool Idle() const { return writer_->Idle(); }
  /// Whether there is room in the buffer, or TryFinish has got further.
  bool Ready() const { return writer_->Idle() || (!finishing_ && buffer_.size() < buffer_bytes_); }
  /// Adds the header, which is the same in all parts; before all else.
  absl::Status AppendHeader(std::string_view header);
  /// Adds bytes. The error may be of bytes that were added long before.
  absl::Status Append(std::string_view bytes);
  /// All bytes so far are final: `rows` rows, all those of event times before `until_ms`, if there is one.
  void Complete(std::uint64_t rows, std::optional<std::int64_t> until_ms);
  /// Whether there is a row to publish, or a later time, and time has passed since the last Publish.
  bool WantsToPublish(std::int64_t now_ns) const;
  /// Has the writer publish what is complete; after WantsToPublish. Does not wait.
  absl::Status Publish(std::int64_t now_ns);
  /// True once all bytes are on the disk; false: ask again when Ready. No Append afterwards.
  absl::StatusOr<bool> TryFinish();
  /// The part, of so many rows. Only after TryFinish was true.
  ResultPart Describe(std::uint64_t rows) const;
  /// Gives the file its final name, unless it has it.
  absl::Status Commit() { return writer_->Commit(); }

 private:
  static constexpr std::int64_t kPublishIntervalNs = 100'000'000;

  PartFile(WholeFile file, std::string path, ExecutorId executor, FileClaims* claims, const PartFileOptions& options);

  /// Hands the buffer over, and publishes what is complete with it.
  void Start(bool is_last);

  std::string path_;  // of the result
  ExecutorId executor_;
  std::unique_ptr<FileWriter> writer_;
  bool publishes_;
  std::size_t buffer_bytes_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;  // all that were added
  std::uint64_t header_bytes_ = 0;
  Completeness complete_;
  bool unpublished_ = false;  // complete_ has not been handed over
  std::int64_t published_ns_ = 0;
  bool finishing_ = false;  // no bytes will follow
  bool syncing_ = false;    // the last of them are with the writer
};

/// Joins the committed parts of all executors, in their order, into `out`, commits it and removes them. The header of
/// every part but the first is left out. `watch` may end it.
absl::Status JoinParts(WholeFile& out, std::span<const ResultPart> parts, const Watch& watch = GoOn);

}  // namespace glaive::engine
