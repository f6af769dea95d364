#include "engine/files/partition_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <ranges>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/files/completeness.h"
#include "engine/files/whole_file.h"

namespace glaive::engine {
namespace {

constexpr mode_t kFolderMode = 0777;  // and the process's umask
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::string_view kListHeader = "partition,rows,bytes\n";

absl::Status MakeFolder(const std::string& folder) {
  return mkdir(folder.c_str(), kFolderMode) == 0 || errno == EEXIST ? absl::OkStatus() : FileError("create", folder);
}

}  // namespace

std::string PartitionName(std::string_view column, std::string_view value) {
  constexpr std::string_view kEscaped = "\"#%'*/:=?\\{[]^";
  std::string name = absl::StrCat(std::string(column), "=");
  if (value.empty()) {
    return name + "__HIVE_DEFAULT_PARTITION__";
  }
  for (const char character : value) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F || kEscaped.find(character) != std::string_view::npos) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      name += character;
    }
  }
  return name;
}

absl::StatusOr<std::unique_ptr<PartitionFolder>> PartitionFolder::Open(const std::string& folder,
                                                                       const Options& options, ExecutorId executor,
                                                                       std::uint32_t executor_count,
                                                                       FileClaims* claims) {
  if (absl::Status status = MakeFolder(folder); !status.ok()) {
    return status;
  }
  auto thread = std::make_shared<WriterThread>();
  absl::StatusOr<PartFile> list = PartFile::Create(ListPath(folder), executor, executor_count, claims,
                                                   {.buffer_bytes = kBufferBytes, .thread = thread});
  if (!list.ok()) {
    return list.status();
  }
  if (absl::Status status = list->AppendHeader(kListHeader); !status.ok()) {
    return status;
  }
  return std::unique_ptr<PartitionFolder>(
      new PartitionFolder(folder, options, executor, executor_count, claims, std::move(thread), *std::move(list)));
}

PartitionFolder::PartitionFolder(const std::string& folder, const Options& options, ExecutorId executor,
                                 std::uint32_t executor_count, FileClaims* claims, std::shared_ptr<WriterThread> thread,
                                 PartFile list)
    : folder_(folder),
      options_(options),
      executor_(executor),
      executor_count_(executor_count),
      claims_(claims),
      thread_(std::move(thread)),
      list_(std::move(list)) {}

PartitionFolder::~PartitionFolder() {
  std::set<std::string, std::greater<>> folders;  // inner ones first
  for (const auto& [path, partition] : partitions_) {
    std::ranges::move(FoldersOf(path), std::inserter(folders, folders.end()));
  }
  partitions_.clear();
  for (const std::string& folder : folders) {
    rmdir(folder.c_str());  // fails if files are in it
  }
}

std::vector<std::string> PartitionFolder::FoldersOf(const std::string& path) const {
  std::vector<std::string> folders;
  for (std::string inner = path; !inner.empty(); inner.resize(std::max<std::size_t>(inner.rfind('/') + 1, 1) - 1)) {
    folders.push_back(absl::StrCat(folder_, "/", inner));
  }
  return folders;
}

absl::StatusOr<PartitionFolder::Partition*> PartitionFolder::Find(const std::string& path) {
  auto found = partitions_.find(path);
  if (found == partitions_.end()) {
    if (absl::Status status = OpenPartition(path); !status.ok()) {
      return status;
    }
    found = partitions_.find(path);
  }
  return &found->second;
}

absl::Status PartitionFolder::OpenPartition(const std::string& path) {
  if (partitions_.size() == options_.most_partitions) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot write ", folder_, "/", path, ": executor ", Value(executor_), " has ", options_.most_partitions,
        " partitions there, each an open file, and may have no more; divide the rows into fewer, or raise the limit"));
  }
  std::vector<std::string> folders = FoldersOf(path);
  for (const std::string& folder : folders | std::views::reverse) {
    if (absl::Status status = MakeFolder(folder); !status.ok()) {
      return status;
    }
  }
  absl::StatusOr<PartFile> file =
      PartFile::Create(absl::StrCat(folders.front(), "/", options_.file_name), executor_, executor_count_, claims_,
                       {.buffer_bytes = kBufferBytes, .thread = thread_});
  if (!file.ok()) {
    for (const std::string& folder : folders) {
      rmdir(folder.c_str());
    }
    return file.status();
  }
  if (!options_.header.empty()) {
    if (absl::Status status = file->AppendHeader(options_.header + "\n"); !status.ok()) {
      return status;
    }
  }
  partitions_.emplace(path, Partition{.path = path, .file = *std::move(file)});
  return absl::OkStatus();
}

absl::Status PartitionFolder::Append(Partition& partition, std::string_view row) {
  ++partition.rows;
  if (!partition.is_touched) {
    partition.is_touched = true;
    touched_.push_back(&partition);
  }
  const bool was_ready = partition.file.Ready();
  absl::Status status = partition.file.Append(row);
  if (was_ready && !partition.file.Ready()) {
    full_.push_back(&partition.file);
  }
  return status;
}

bool PartitionFolder::Ready() {
  if (finishing_) {
    return list_.Idle() && std::ranges::all_of(partitions_, [](const auto& each) { return each.second.file.Idle(); });
  }
  std::erase_if(full_, [](const PartFile* file) { return file->Ready(); });
  return full_.empty();
}

void PartitionFolder::Complete(std::optional<std::int64_t> until_ms) {
  for (Partition* const partition : touched_) {
    partition->is_touched = false;
    partition->file.Complete(partition->rows, until_ms);
    if (std::ranges::find(unpublished_, partition) == unpublished_.end()) {
      unpublished_.push_back(partition);
    }
  }
  touched_.clear();
}

bool PartitionFolder::WantsToPublish(std::int64_t now_ns) const {
  return std::ranges::any_of(unpublished_,
                             [now_ns](const Partition* each) { return each->file.WantsToPublish(now_ns); });
}

absl::Status PartitionFolder::Publish(std::int64_t now_ns) {
  absl::Status status;
  std::erase_if(unpublished_, [&](Partition* each) {
    const bool wants = each->file.WantsToPublish(now_ns);
    if (wants) {
      status.Update(each->file.Publish(now_ns));
    }
    return wants;
  });
  return status;
}

absl::StatusOr<bool> PartitionFolder::TryFinish() {
  if (!finishing_) {
    finishing_ = true;
    for (auto& [path, partition] : partitions_) {
      partition.file.Complete(partition.rows, kEndedMs);
    }
  }
  bool finished = true;
  for (auto& [path, partition] : partitions_) {
    const absl::StatusOr<bool> one = partition.file.TryFinish();
    if (!one.ok()) {
      return one;
    }
    finished = finished && *one;
  }
  if (finished && !is_listed_) {
    is_listed_ = true;
    for (const auto& [path, partition] : partitions_) {
      const ResultPart part = Describe(partition.file, path, partition.rows);
      if (absl::Status status = list_.Append(absl::StrCat(path, ",", part.rows, ",", part.bytes, "\n")); !status.ok()) {
        return status;
      }
    }
    list_.Complete(partitions_.size(), kEndedMs);
  }
  if (!finished) {
    return false;
  }
  absl::StatusOr<bool> listed = list_.TryFinish();
  if (listed.ok() && *listed) {
    thread_.reset();  // no file needs it any more
  }
  return listed;
}

ResultPart PartitionFolder::Describe(const PartFile& file, const std::string& inside, std::uint64_t rows) const {
  ResultPart part = file.Describe(rows);
  part.output = folder_;
  part.inside = inside;
  return part;
}

void PartitionFolder::AddParts(std::vector<ResultPart>& parts) const {
  parts.push_back(Describe(list_, std::string(kListName), partitions_.size()));
  for (const auto& [path, partition] : partitions_) {
    parts.push_back(Describe(partition.file, absl::StrCat(path, "/", options_.file_name), partition.rows));
  }
}

absl::Status PartitionFolder::Commit() {
  absl::Status status;
  std::set<std::string> folders;
  for (auto& [path, partition] : partitions_) {
    if (status.ok()) {
      status = partition.file.Commit();
    }
    std::vector<std::string> of_partition = FoldersOf(path);
    folders.insert(std::next(of_partition.begin()), of_partition.end());  // Commit syncs the innermost
  }
  folders.insert(FolderOf(folder_));
  for (const std::string& folder : folders) {
    status.Update(SyncFolder(folder));
  }
  return status.ok() ? list_.Commit() : status;
}

}  // namespace glaive::engine
