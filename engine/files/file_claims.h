// FileClaims: the result files that this node will write, taken from other runs before the run's work begins.
//
// Each claim is a WholeFile under its temporary name (whole_file.h): another run that asks for the name is refused.
// A part becomes its sink's when the sink is opened. Any other file is written in place, and other runs are refused
// until Clear, also once it has its name. Claims that are never written leave nothing.
//
// Filled and cleared by the main thread, while no executor runs; TakePart and the published parts are for any thread.
//
//   FileClaims claims;
//   status = claims.ClaimPart("counts.csv", executor, executor_count);
//   status = claims.Claim("export-input", "bids.csv");
//   ... input is generated ...
//   std::optional<WholeFile> part = claims.TakePart("counts.csv", executor);
//   if (WholeFile* file = claims.FileOf("export-input")) status = file->WriteAndCommit(text);
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/completeness.h"
#include "engine/files/whole_file.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

/// Opens the temporary file of an executor's part of `output`. Refuses a name that another run writes, a link or device
/// under it (unless there is one executor: it may write to a device or pipe), and parts of a result of another number
/// of executors beside it.
absl::StatusOr<WholeFile> CreatePart(const std::string& output, ExecutorId executor, std::uint32_t executor_count);

/// The list of an executor's files in a result that is a folder (partition_folder.h), whose parts claim the folder.
inline constexpr std::string_view kListName = "partitions.csv";
std::string ListPath(const std::string& folder);

/// When the rows of a part are visible under its name.
enum class Publication {
  kWhileRunning,  ///< soon after they are final, and for good
  kEnd,           ///< once all nodes have succeeded: all of them or none
};

class FileClaims {
 public:
  /// How parts are published; kEnd until it is set.
  void SetPublication(Publication publication) { publication_ = publication; }
  Publication publication() const { return publication_; }

  /// CreatePart, and holds the file until TakePart. The errors are those of CreatePart.
  absl::Status ClaimPart(const std::string& output, ExecutorId executor, std::uint32_t executor_count);
  /// Makes the folder of a result, unless it is there, before its parts are claimed. FailedPrecondition for a
  /// folder in which something lies already. Clear removes a folder that was made here and is empty.
  absl::Status ClaimFolder(const std::string& folder);
  /// The part, once; nothing for one that was not claimed.
  std::optional<WholeFile> TakePart(const std::string& output, ExecutorId executor);

  /// WholeFile::Create of the path that a flag has, and holds the file. The errors are those of Create.
  absl::Status Claim(const std::string& flag, const std::string& path);
  /// The file of a flag, valid until Clear; null for a flag whose file was not claimed.
  WholeFile* FileOf(const std::string& flag);

  /// How far the parts are published, by name; those that are not published are missing. For any thread.
  void SetPublished(const std::string& part, const Completeness& complete);
  std::map<std::string, Completeness> published() const;

  /// Gives up the parts that no sink has taken, and all other files.
  void Clear();

 private:
  Publication publication_ = Publication::kEnd;
  std::map<std::string, WholeFile> files_;  // by flag
  std::vector<std::string> made_folders_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Completeness> published_;
  std::map<std::pair<std::string, ExecutorId>, WholeFile> parts_;
};

}  // namespace glaive::engine
