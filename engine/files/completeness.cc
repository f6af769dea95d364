#include "engine/files/completeness.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/base/event_time.h"
#include "engine/files/whole_file.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

constexpr mode_t kNoteMode = 0666;  // and the process's umask

std::string LineOf(std::uint64_t inode, const Completeness& complete) {
  std::string line = absl::StrCat("{\"inode\":", inode, ",\"bytes\":", complete.bytes, ",\"rows\":", complete.rows);
  if (complete.until_ms == kEndedMs) {
    line += ",\"ended\":true";
  } else if (complete.until_ms.has_value()) {
    absl::StrAppend(&line, ",\"complete_until_ms\":", *complete.until_ms);
  }
  return line + "}\n";
}

/// Makes a new file of that content; on an error there is none.
absl::Status WriteNew(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNoteMode));
  if (!fd.valid()) return FileError("create", path);
  const ssize_t written = write(fd.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  if (written >= 0) errno = ENOSPC;
  absl::Status status = FileError("write", path);
  unlink(path.c_str());
  return status;
}

}  // namespace

std::string ProgressPath(const std::string& result) {
  const std::filesystem::path path = result;
  return path.parent_path() / absl::StrCat(".", path.filename().string(), ".progress");
}

absl::Status WriteProgress(const std::string& result, std::uint64_t inode, const Completeness& complete) {
  const std::string path = ProgressPath(result);
  const std::string next = path + ".next";
  unlink(next.c_str());  // of a run that was killed
  absl::Status status = WriteNew(next, LineOf(inode, complete));
  if (status.ok() && rename(next.c_str(), path.c_str()) != 0) {
    status = FileError("name", path);
    unlink(next.c_str());
  }
  return status;
}

absl::Status RemoveProgress(const std::string& result) {
  const std::string path = ProgressPath(result);
  return unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus() : FileError("remove", path);
}

std::string Describe(const std::string& result, const Completeness& complete) {
  std::string text = absl::StrCat(result, " has ", complete.rows, complete.rows == 1 ? " row" : " rows");
  if (complete.until_ms == kEndedMs) {
    text += ", all of the stream";
  } else if (complete.until_ms.has_value() && *complete.until_ms != kMinEventTimeMs) {
    absl::StrAppend(
        &text, ", complete until ",
        absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(*complete.until_ms), absl::UTCTimeZone()));
  }
  return text;
}

}  // namespace glaive::engine
