#include "engine/flags/named_files.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/files/completeness.h"
#include "engine/files/result_part.h"
#include "engine/files/whole_file.h"
#include "engine/source/input_files.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;

using Inode = std::pair<dev_t, ino_t>;

absl::Status Wrong(const NamedFile& file, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat("--", file.flag, "=", file.path, ": ", text));
}

bool IsWritten(const NamedFile& file) { return file.use != FileUse::kRead; }

/// The one path of a file, however it is written; the file itself need not exist.
fs::path Canonical(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(FollowLinks(path), error);
  fs::path canonical = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : canonical;
}

absl::Status CheckPlace(const NamedFile& file, std::uint32_t executor_count) {
  struct stat there{};
  const bool exists = stat(file.path.c_str(), &there) == 0;
  if (file.use == FileUse::kWriteFolder && exists) {
    return S_ISDIR(there.st_mode) ? absl::OkStatus()
                                  : Wrong(file, "this is no directory; remove it, or write the name of another one");
  }
  if (exists && S_ISDIR(there.st_mode)) {
    return Wrong(file, "this is a directory; write the name of a file");
  }
  if (exists && !S_ISREG(there.st_mode) && file.use == FileUse::kWriteParts && executor_count > 1) {
    return Wrong(file,
                 "this is a device or a pipe, but each executor writes a part of the results, a file beside this name; "
                 "write the name of a file, run one executor, or leave the flag out");
  }
  const std::string folder = FolderOf(FollowLinks(file.path));
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return Wrong(file, absl::StrCat("there is no directory ", folder, "; create it first"));
  }
  return absl::OkStatus();
}

/// The files that there are of a flag, and its own path.
std::vector<std::string> PathsOf(const NamedFile& file) {
  std::vector<std::string> paths = {file.path};
  if (file.use == FileUse::kWriteParts) {
    const std::string folder = FolderOf(file.path);
    const std::string part = PartPrefix(fs::path(file.path).filename());
    for (const std::string& name : NamesIn(folder).value_or(std::vector<std::string>())) {
      if (name.starts_with(part)) {
        paths.push_back(fs::path(folder) / name);
      }
    }
  }
  if (file.use == FileUse::kRead) {
    const absl::StatusOr<std::vector<ListedFile>> found = FindInputFiles(file.path);
    if (found.ok()) {  // else the source says what is wrong with it
      paths.clear();
      std::ranges::transform(*found, std::back_inserter(paths), &ListedFile::path);
    }
  }
  return paths;
}

/// The name, in its folder's canonical path, that the parts of a result begin with: parts lie beside a link, not beside
/// its target.
std::string NameOfParts(const NamedFile& file) {
  return Canonical(FolderOf(file.path)) / fs::path(file.path).filename();
}

/// Whether what `file` writes would be part of the input that `read` names: of a folder, or of those like a pattern.
bool WouldBeRead(const NamedFile& file, const NamedFile& read, std::uint32_t executor_count) {
  const fs::path path = Canonical(file.path);
  const bool has_parts = file.use == FileUse::kWriteParts;
  std::error_code ignored;
  if (fs::is_directory(read.path, ignored)) {
    const fs::path folder = Canonical(read.path);
    return path.parent_path() == folder || (has_parts && Canonical(FolderOf(file.path)) == folder);
  }
  const std::size_t wildcard = read.path.find_first_of("*?[");
  if (wildcard == std::string::npos || fs::exists(read.path, ignored)) {
    return false;
  }
  const std::size_t slash = read.path.rfind('/', wildcard);
  const std::size_t fixed = slash == std::string::npos ? 0 : slash + 1;
  const fs::path pattern = Canonical(fixed == 0 ? "." : read.path.substr(0, fixed)) / read.path.substr(fixed);
  const auto matches = [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
  };
  bool is_read = matches(path);
  for (std::uint32_t i = 0; has_parts && i < executor_count && !is_read; ++i) {
    is_read = matches(PartPath(NameOfParts(file), ExecutorId{i}, executor_count));
  }
  return is_read;
}

/// Which flag uses which file, and whether that goes together.
class FileUses {
 public:
  /// InvalidArgument if another flag uses the file, or the folder, and one of both writes it.
  absl::Status Add(const NamedFile& file, const std::string& path) {
    struct stat there{};
    const bool exists = stat(path.c_str(), &there) == 0;
    if (exists && !S_ISREG(there.st_mode) && file.use != FileUse::kWriteFolder) {
      return absl::OkStatus();
    }
    absl::Status status = Check(file, *by_path_.emplace(Canonical(path), &file).first->second);
    if (exists) {
      status.Update(Check(file, *by_inode_.emplace(Inode{there.st_dev, there.st_ino}, &file).first->second));
    }
    return status;
  }

  /// The same for every name that the file's parts may have.
  absl::Status AddParts(const NamedFile& file) const {
    const std::string part = PartPrefix(NameOfParts(file));
    absl::Status status;
    for (auto other = by_path_.lower_bound(part); other != by_path_.end() && other->first.starts_with(part); ++other) {
      status.Update(Check(file, *other->second));
    }
    return status;
  }

 private:
  static absl::Status Check(const NamedFile& file, const NamedFile& other) {
    if (&file == &other || !(IsWritten(file) || IsWritten(other))) {
      return absl::OkStatus();
    }
    return Wrong(file, absl::StrCat("--", other.flag, "=", other.path,
                                    " is the same file, or one of its parts is; give each flag a file of its own"));
  }

  std::map<std::string, const NamedFile*> by_path_;
  std::map<Inode, const NamedFile*> by_inode_;
};

/// Refuses a regular file that standard output or standard error writes to: the stream would go on into the old file
/// after a new file has its name, or into an input while the run reads it. `path` is one of the flag's files. A link
/// such as /dev/stdout means the stream itself.
absl::Status CheckStandardStreams(const NamedFile& file, const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) {
    return absl::OkStatus();
  }
  if (const std::optional<int> stream = StandardStreamOf(there)) {
    return Wrong(file, absl::StrCat(*stream == STDOUT_FILENO ? "standard output" : "standard error", " goes to ",
                                    path == file.path ? "the same file" : absl::StrCat("its file ", path),
                                    "; give each a file of its own"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckNamedFiles(const std::vector<NamedFile>& files, std::uint32_t executor_count, bool is_rank_0) {
  FileUses uses;
  absl::Status status;
  for (const NamedFile& file : files) {
    if (file.use == FileUse::kWriteParts || file.use == FileUse::kWriteFolder ||
        (file.use == FileUse::kWrite && is_rank_0)) {
      status.Update(CheckPlace(file, executor_count));
    }
    for (const std::string& path : PathsOf(file)) {
      status.Update(uses.Add(file, path));
      status.Update(CheckStandardStreams(file, path));
    }
  }
  for (const NamedFile& file : files) {
    if (file.use == FileUse::kWriteParts) {
      status.Update(uses.AddParts(file));
      for (std::uint32_t i = 0; i < executor_count; ++i) {
        status.Update(uses.Add(file, ProgressPath(PartPath(file.path, ExecutorId{i}, executor_count))));
      }
    }
    for (const NamedFile& read : files) {
      if (read.use == FileUse::kRead && IsWritten(file) && WouldBeRead(file, read, executor_count)) {
        status.Update(Wrong(file, absl::StrCat("a file of this name would be part of the input --", read.flag, "=",
                                               read.path, "; write it to another folder")));
      }
    }
  }
  return status;
}

}  // namespace glaive::engine
