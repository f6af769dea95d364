#include "engine/sink/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace glaive::engine {
namespace {

std::string TemporaryName(const std::string& path) { return absl::StrCat(path, ".tmp"); }

}  // namespace

absl::Status FileError(std::string_view what, std::string_view path) {
  const int error = errno;
  return absl::FailedPreconditionError(
      absl::StrCat("cannot ", std::string(what), " ", std::string(path), ": ", std::strerror(error)));
}

absl::StatusOr<WholeFile> WholeFile::Create(std::string path) {
  const std::string temporary = TemporaryName(path);
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    return FileError("create", temporary);
  }
  return WholeFile(std::move(path), std::move(fd));
}

WholeFile::WholeFile(WholeFile&& other) noexcept : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)) {}

WholeFile::~WholeFile() {
  if (!path_.empty()) {
    unlink(TemporaryName(path_).c_str());
  }
}

absl::Status WholeFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return FileError("write", TemporaryName(path_));
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WholeFile::Sync() {
  // Pipes and devices such as /dev/null have nothing to sync.
  const bool synced = fsync(fd_.get()) == 0 || errno == EINVAL || errno == EROFS;
  return synced ? absl::OkStatus() : FileError("write", TemporaryName(path_));
}

absl::Status WholeFile::Commit() {
  if (absl::Status status = Sync(); !status.ok()) {
    return status;
  }
  if (rename(TemporaryName(path_).c_str(), path_.c_str()) != 0) {
    return FileError("name", path_);
  }
  path_.clear();
  return absl::OkStatus();
}

absl::Status WriteWholeFile(std::string path, std::string_view bytes) {
  absl::StatusOr<WholeFile> file = WholeFile::Create(std::move(path));
  absl::Status status = file.status();
  if (status.ok()) {
    status = file->Write(bytes);
  }
  return status.ok() ? file->Commit() : status;
}

}  // namespace glaive::engine
