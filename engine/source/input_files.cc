#include "engine/source/input_files.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;

absl::Status NoSuchFile(const std::string& specification) {
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  return absl::NotFoundError(absl::StrCat("there is no input file or folder '", specification,
                                          "'; check the path: relative ones start at ", here.string()));
}

absl::Status Unreadable(const std::string& path, const std::error_code& error) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot examine the input '", path, "': ", ErrorText(error.value())));
}

absl::Status NoFile(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat("the input '", path, "' is a pipe or a device; only files are read: write it to one first"));
}

/// Whether `path` is a file; false for a folder. A broken link, a pipe or a device is an error: its data would be
/// missing in silence.
absl::StatusOr<bool> IsFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(
        absl::StrCat("the input '", path, "' is a broken link, or has just gone; mend the input, and start again"));
  }
  if (error) {
    return Unreadable(path, error);
  }
  if (status.type() != fs::file_type::regular && status.type() != fs::file_type::directory) {
    return NoFile(path);
  }
  return status.type() == fs::file_type::regular;
}

absl::StatusOr<std::vector<ListedFile>> OnlyFiles(const std::vector<std::string>& paths) {
  std::vector<ListedFile> files;
  for (const std::string& path : paths) {
    const absl::StatusOr<bool> is_file = IsFile(path);
    if (!is_file.ok()) {
      return is_file.status();
    }
    if (*is_file) {
      absl::StatusOr<ListedFile> file = ListFile(path);
      if (!file.ok()) {
        return file.status();
      }
      files.push_back(*std::move(file));
    }
  }
  std::ranges::sort(files, {}, &ListedFile::path);
  return files;
}

/// The first character of a path's last part; 0 without one.
char FirstOfName(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.empty() ? '\0' : name.front();
}

absl::StatusOr<std::vector<ListedFile>> FilesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (const char first = FirstOfName(path); first != '.' && first != '_') {
      paths.push_back(path);
    }
  }
  if (error) {
    return Unreadable(folder, error);
  }
  absl::StatusOr<std::vector<ListedFile>> files = OnlyFiles(paths);
  if (files.ok() && files->empty()) {
    return absl::NotFoundError(absl::StrCat("the input folder '", folder,
                                            "' has no files; folders inside it do not count, nor do files that begin "
                                            "with '.' or '_'. Put the parts into it, or name another"));
  }
  return files;
}

absl::StatusOr<std::vector<ListedFile>> FilesLike(const std::string& pattern) {
  glob_t found{};
  const int error = ::glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (FirstOfName(pattern) != '_') {  // glob itself has this rule for '.'
    std::erase_if(paths, [](const std::string& path) { return FirstOfName(path) == '_'; });
  }
  if (error != 0 && error != GLOB_NOMATCH) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot search for the input '", pattern, "': a folder of it cannot be read"));
  }
  absl::StatusOr<std::vector<ListedFile>> files = OnlyFiles(paths);
  if (files.ok() && files->empty()) {
    return absl::NotFoundError(absl::StrCat("the input pattern '", pattern,
                                            "' matches no file; quote it against the shell, and check it with ls"));
  }
  return files;
}

}  // namespace

absl::StatusOr<std::vector<ListedFile>> FindInputFiles(const std::string& specification) {
  std::error_code error;
  const fs::file_status status = fs::status(specification, error);
  switch (status.type()) {
    case fs::file_type::regular:
      return OnlyFiles({specification});
    case fs::file_type::directory:
      return FilesIn(specification);
    case fs::file_type::not_found:
      return specification.find_first_of("*?[") == std::string::npos ? NoSuchFile(specification)
                                                                     : FilesLike(specification);
    case fs::file_type::none:
      return Unreadable(specification, error);
    default:
      return NoFile(specification);
  }
}

std::vector<FileShare> FilesOf(std::span<const ListedFile> files, ExecutorId executor, std::uint32_t executor_count,
                               bool shares_files) {
  std::vector<FileShare> mine;
  if (files.empty()) {
    return mine;
  }
  const std::uint32_t self = Value(executor);
  if (files.size() >= executor_count || !shares_files) {
    for (std::size_t i = self; i < files.size(); i += executor_count) {
      mine.push_back({.file = files[i]});
    }
    return mine;
  }
  const auto count = static_cast<std::uint32_t>(files.size());
  const std::uint32_t part = self % count;
  mine.push_back({.file = files[part], .share = self / count, .shares = (executor_count - part + count - 1) / count});
  return mine;
}

std::string DescribeSplit(std::size_t files, std::uint32_t executor_count) {
  const std::string all = absl::StrCat(files, files == 1 ? " part" : " parts", " among ", executor_count,
                                       executor_count == 1 ? " executor: " : " executors: ");
  if (executor_count == 1) {
    return absl::StrCat(all, "executor 0 reads ", files == 1 ? "it" : "one after the other");
  }
  if (files > executor_count) {
    return absl::StrCat(all, "executor e reads parts e, e+", executor_count, ", ... one after the other");
  }
  if (files == executor_count) {
    return absl::StrCat(all, "executor e reads part e");
  }
  return absl::StrCat(all, files == 1 ? "all share it" : absl::StrCat("executors p, p+", files, ", ... share part p"),
                      ", but executor ", files == 1 ? "0" : "p", " alone reads gzip");
}

}  // namespace glaive::engine
