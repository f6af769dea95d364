#include "engine/sink/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "rdma/base/check.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

absl::Status AppendFile(WholeFile& out, const std::string& path, bool with_first_line) {
  const UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.valid()) {
    return FileError("join the part", path);
  }
  std::vector<char> buffer(kReadBytes);
  bool in_first_line = !with_first_line;
  while (true) {
    const ssize_t count = read(in.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return absl::OkStatus();
    }
    if (count < 0 && errno != EINTR) {
      return FileError("read", path);
    }
    std::string_view bytes(buffer.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
    if (in_first_line) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      in_first_line = end == bytes.size();
      bytes.remove_prefix(in_first_line ? end : end + 1);
    }
    if (absl::Status status = out.Write(bytes); !status.ok()) {
      return status;
    }
  }
}

void RemoveParts(const std::string& path, std::uint32_t executor_count) {
  for (std::uint32_t i = 0; i < executor_count; ++i) {
    unlink(PartPath(path, ExecutorId{i}, executor_count).c_str());
  }
}

}  // namespace

std::string PartPath(const std::string& path, ExecutorId executor, std::uint32_t executor_count) {
  return absl::StrFormat("%s.part-%03u-of-%03u", path, Value(executor), executor_count);
}

absl::StatusOr<PartFile> PartFile::Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count) {
  absl::StatusOr<WholeFile> whole = WholeFile::Create(PartPath(path, executor, executor_count));
  if (!whole.ok()) {
    return whole.status();
  }
  return PartFile(*std::move(whole), path, executor_count);
}

PartFile::PartFile(WholeFile file, std::string path, std::uint32_t executor_count)
    : path_(std::move(path)), executor_count_(executor_count), writer_(std::make_unique<FileWriter>(std::move(file))) {
  buffer_.reserve(kBufferBytes);
}

absl::Status PartFile::Append(std::string_view bytes) {
  GLAIVE_CHECK(!finishing_, bytes.size(), " bytes came after the end");
  buffer_.append(bytes);
  if (buffer_.size() < kBufferBytes || !writer_->Idle()) {
    return absl::OkStatus();
  }
  if (writer_->status().ok()) {
    writer_->Start(buffer_, /*is_last=*/false);
    return absl::OkStatus();
  }
  return writer_->status();
}

absl::StatusOr<bool> PartFile::TryFinish() {
  finishing_ = true;
  if (!writer_->Idle()) {
    return false;
  }
  if (!writer_->status().ok()) {
    return writer_->status();
  }
  if (!syncing_) {
    syncing_ = true;
    writer_->Start(buffer_, /*is_last=*/true);
    return false;
  }
  return true;
}

void PartFile::Retract() { RemoveParts(path_, executor_count_); }

absl::Status JoinParts(const std::string& path, std::uint32_t executor_count) {
  absl::StatusOr<WholeFile> out = WholeFile::Create(path);
  absl::Status status = out.status();
  for (std::uint32_t i = 0; i < executor_count && status.ok(); ++i) {
    status = AppendFile(*out, PartPath(path, ExecutorId{i}, executor_count), /*with_first_line=*/i == 0);
  }
  if (status.ok()) {
    status = out->Commit();
  }
  if (!status.ok()) {
    return status;
  }
  RemoveParts(path, executor_count);
  return absl::OkStatus();
}

}  // namespace glaive::engine
