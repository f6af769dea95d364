#include "engine/sink/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr const char* kTemporarySuffix = ".tmp";

absl::Status FileError(const char* what, const std::string& path) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno)));
}

std::string TemporaryName(const std::string& path) { return absl::StrCat(path, kTemporarySuffix); }

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return FileError("write", path);
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> OpenForWriting(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.get() < 0) {
    return FileError("create", path);
  }
  return fd;
}

absl::Status AppendFile(int out, const std::string& out_path, const std::string& path, std::size_t skip_bytes) {
  UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) {
    return FileError("join the part", path);
  }
  if (lseek(in.get(), static_cast<off_t>(skip_bytes), SEEK_SET) < 0) {
    return FileError("read", path);
  }
  std::vector<char> buffer(kBufferBytes);
  while (true) {
    const ssize_t count = read(in.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return absl::OkStatus();
    }
    if (count < 0 && errno != EINTR) {
      return FileError("read", path);
    }
    if (count > 0) {
      absl::Status status = WriteAll(out, std::string_view(buffer.data(), static_cast<std::size_t>(count)), out_path);
      if (!status.ok()) {
        return status;
      }
    }
  }
}

}  // namespace

std::string PartPath(const std::string& path, ExecutorId executor, std::uint32_t executor_count) {
  return absl::StrFormat("%s.part-%03u-of-%03u", path, Value(executor), executor_count);
}

absl::StatusOr<PartFile> PartFile::Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count) {
  std::string part = PartPath(path, executor, executor_count);
  absl::StatusOr<UniqueFd> fd = OpenForWriting(TemporaryName(part));
  if (!fd.ok()) {
    return fd.status();
  }
  PartFile file(std::move(part), *std::move(fd));
  file.buffer_.reserve(kBufferBytes);
  return file;
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)), buffer_(std::move(other.buffer_)) {}

PartFile::~PartFile() {
  if (!path_.empty()) {
    unlink(TemporaryName(path_).c_str());
  }
}

absl::Status PartFile::Append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    if (absl::Status status = WriteOut(); !status.ok()) {
      return status;
    }
  }
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status PartFile::WriteOut() {
  absl::Status status = WriteAll(fd_.get(), buffer_, TemporaryName(path_));
  buffer_.clear();
  return status;
}

absl::Status PartFile::Flush() {
  if (absl::Status status = WriteOut(); !status.ok()) {
    return status;
  }
  return fsync(fd_.get()) == 0 || errno == EINVAL || errno == EROFS ? absl::OkStatus()
                                                                    : FileError("write", TemporaryName(path_));
}

absl::Status PartFile::Commit() {
  if (rename(TemporaryName(path_).c_str(), path_.c_str()) != 0) {
    return FileError("name", path_);
  }
  path_.clear();
  return absl::OkStatus();
}

absl::Status JoinParts(const std::string& path, std::uint32_t executor_count, std::size_t header_bytes) {
  const std::string temporary = TemporaryName(path);
  absl::StatusOr<UniqueFd> out = OpenForWriting(temporary);
  if (!out.ok()) {
    return out.status();
  }
  absl::Status status;
  for (std::uint32_t i = 0; i < executor_count && status.ok(); ++i) {
    status =
        AppendFile(out->get(), temporary, PartPath(path, ExecutorId{i}, executor_count), i == 0 ? 0 : header_bytes);
  }
  if (status.ok() && fsync(out->get()) != 0 && errno != EINVAL && errno != EROFS) {
    status = FileError("write", temporary);
  }
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = FileError("name", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  for (std::uint32_t i = 0; i < executor_count; ++i) {
    unlink(PartPath(path, ExecutorId{i}, executor_count).c_str());
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
