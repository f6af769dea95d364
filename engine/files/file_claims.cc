#include "engine/files/file_claims.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/files/result_part.h"

namespace glaive::engine {
namespace {

/// Refuses a path beside which there are parts, finished or being written, of another number of executors: parts are
/// read together (`cat path.part-*`), so they have to be of one run.
absl::Status CheckOtherParts(const std::string& path, std::uint32_t executor_count) {
  const std::string folder = FolderOf(path);
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(folder);
  if (!names.ok()) {
    return names.status();
  }
  const std::string output = std::filesystem::path(path).filename();
  for (const std::string& name : *names) {
    const std::string_view behind = NameBehind(name);
    const std::uint32_t count = ExecutorCountOf(behind.empty() ? name : behind, output);
    if (count == 0 || (count == executor_count && count > 1)) {
      continue;
    }
    if (const std::string taken = WhyTaken(absl::StrCat(folder, "/", name)); !taken.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("cannot write ", path, ": ", taken));
    }
    if (behind.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot write ", path, ": ", folder, "/", name, " is of an earlier result of ", count,
                       count == 1 ? " executor" : " executors", "; remove its parts, or write to another name"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WholeFile> CreatePart(const std::string& output, ExecutorId executor, std::uint32_t executor_count) {
  absl::StatusOr<WholeFile> file = executor_count == 1
                                       ? WholeFile::Create(output)
                                       : WholeFile::CreateFile(PartPath(output, executor, executor_count));
  if (!file.ok()) {
    return file.status();
  }
  // Behind the new file: of two runs that come at once, at least the later one sees the other's.
  if (absl::Status status = CheckOtherParts(output, executor_count); !status.ok()) {
    return status;
  }
  return file;
}

std::string ListPath(const std::string& folder) { return absl::StrCat(folder, "/", std::string(kListName)); }

absl::Status FileClaims::ClaimPart(const std::string& output, ExecutorId executor, std::uint32_t executor_count) {
  absl::StatusOr<WholeFile> file = CreatePart(output, executor, executor_count);
  if (!file.ok()) {
    return file.status();
  }
  const std::lock_guard lock(mutex_);
  parts_.emplace(std::pair(output, executor), *std::move(file));
  return absl::OkStatus();
}

absl::Status FileClaims::ClaimFolder(const std::string& folder) {
  constexpr mode_t kMode = 0777;  // and the process's umask
  if (mkdir(folder.c_str(), kMode) == 0) {
    made_folders_.push_back(folder);
  } else if (errno != EEXIST) {
    return FileError("create", folder);
  }
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(folder);
  if (!names.ok()) {
    return names.status();
  }
  for (const std::string& name : *names) {
    if (!name.starts_with('.')) {  // names that do are of runs that write it now, or were killed
      return absl::FailedPreconditionError(absl::StrCat("cannot write into ", folder, ": ", name,
                                                        " is there already; remove what lies in the folder, or write "
                                                        "to another one"));
    }
  }
  return absl::OkStatus();
}

std::optional<WholeFile> FileClaims::TakePart(const std::string& output, ExecutorId executor) {
  const std::lock_guard lock(mutex_);
  auto claim = parts_.extract(std::pair(output, executor));
  return claim.empty() ? std::nullopt : std::optional<WholeFile>(std::move(claim.mapped()));
}

absl::Status FileClaims::Claim(const std::string& flag, const std::string& path) {
  absl::StatusOr<WholeFile> file = WholeFile::Create(path);
  if (!file.ok()) {
    return file.status();
  }
  files_.emplace(flag, *std::move(file));
  return absl::OkStatus();
}

WholeFile* FileClaims::FileOf(const std::string& flag) {
  const auto found = files_.find(flag);
  return found == files_.end() ? nullptr : &found->second;
}

void FileClaims::SetPublished(const std::string& part, const Completeness& complete) {
  const std::lock_guard lock(mutex_);
  published_[part] = complete;
}

std::map<std::string, Completeness> FileClaims::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void FileClaims::Clear() {
  files_.clear();
  std::map<std::pair<std::string, ExecutorId>, WholeFile> parts;  // goes without the lock: the disk may not answer
  {
    const std::lock_guard lock(mutex_);
    parts_.swap(parts);
  }
  parts.clear();
  for (const std::string& folder : std::exchange(made_folders_, {})) {
    rmdir(folder.c_str());  // fails if files are in it
  }
}

}  // namespace glaive::engine
