// PartitionFolder: one executor's files of a result that is a folder, with a file for each partition of the rows.
//
//   bids/.partitions.csv.part-000-of-002.4711-0.tmp                while process 4711 writes it: it claims the folder
//   bids/partitions.csv.part-000-of-002                            partition,rows,bytes: the executor's files
//   bids/dt=2015-07-15/hm=00%3A00/rows.csv.part-000-of-002         its rows of this partition
//
// The files are part files (part_file.h): they grow under their names as their rows become final, or get their names
// once the whole run has succeeded. The list of them, partitions.csv, comes last: a folder that has it is complete. The
// files share one thread. Each has a buffer of 64 KiB, of which another may be on its way, and stays open to the end of
// the run; so an executor has a limited number of them.
//
// Folders of partitions are made with their first row. A run that fails leaves no empty one.
//
// Owned by its executor's sink.
//
//   absl::StatusOr<std::unique_ptr<PartitionFolder>> folder = PartitionFolder::Open("bids", {.header = "a,b"}, ...);
//   absl::StatusOr<PartitionFolder::Partition*> partition = (*folder)->Find("dt=2015-07-15/hm=00%3A00");
//   status = (*folder)->Append(**partition, "1,2\n");
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/file_claims.h"
#include "engine/files/part_file.h"
#include "engine/files/result_part.h"
#include "engine/files/writer_thread.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

/// "dt=2015-07-15" for a column and its value. What names of folders cannot have, and ':' and a few others, becomes
/// %XX, as Hive writes it; an empty value becomes __HIVE_DEFAULT_PARTITION__.
std::string PartitionName(std::string_view column, std::string_view value);

class PartitionFolder {
 public:
  struct Options {
    std::string header = {};             ///< the first line of each file; empty: none
    std::string file_name = "rows.csv";  ///< of the files
    std::size_t most_partitions = 256;   ///< of an executor
  };

  /// The rows of one partition.
  struct Partition {
    std::string path;  ///< in the folder
    PartFile file;
    std::uint64_t rows = 0;
    bool is_touched = false;  // since Complete
  };

  /// Takes the list's file from `claims`, which may be null, or opens it where it was not claimed.
  static absl::StatusOr<std::unique_ptr<PartitionFolder>> Open(const std::string& folder, const Options& options,
                                                               ExecutorId executor, std::uint32_t executor_count,
                                                               FileClaims* claims = nullptr);
  PartitionFolder(const PartitionFolder&) = delete;
  PartitionFolder& operator=(const PartitionFolder&) = delete;
  ~PartitionFolder();

  /// A partition by its path, with a new file for its first row; valid as long as the folder. ResourceExhausted for one
  /// too many.
  absl::StatusOr<Partition*> Find(const std::string& path);
  /// Adds a row, which ends in a newline.
  absl::Status Append(Partition& partition, std::string_view row);

  // As in PartFile, of all files.
  bool Ready();
  void Complete(std::optional<std::int64_t> until_ms);
  bool WantsToPublish(std::int64_t now_ns) const;
  absl::Status Publish(std::int64_t now_ns);
  absl::StatusOr<bool> TryFinish();
  void AddParts(std::vector<ResultPart>& parts) const;
  absl::Status Commit();

 private:
  PartitionFolder(const std::string& folder, const Options& options, ExecutorId executor, std::uint32_t executor_count,
                  FileClaims* claims, std::shared_ptr<WriterThread> thread, PartFile list);

  absl::Status OpenPartition(const std::string& path);
  /// The folder of a partition, and those between, the innermost first.
  std::vector<std::string> FoldersOf(const std::string& path) const;
  ResultPart Describe(const PartFile& file, const std::string& inside, std::uint64_t rows) const;

  const std::string folder_;
  const Options options_;
  const ExecutorId executor_;
  const std::uint32_t executor_count_;
  FileClaims* const claims_;
  std::shared_ptr<WriterThread> thread_;  // null after the end
  PartFile list_;
  bool is_listed_ = false;  // all that the list will have
  std::map<std::string, Partition> partitions_;
  std::vector<Partition*> touched_;      // since Complete
  std::vector<Partition*> unpublished_;  // that are complete
  std::vector<PartFile*> full_;          // whose buffers wait for the thread
  bool finishing_ = false;
};

}  // namespace glaive::engine
