#include "engine/files/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

/// Refuses a file under the part's name that is not the part.
absl::Status AppendPart(WholeFile& out, const ResultPart& part, const std::string& path, bool with_header,
                        const Watch& watch) {
  const UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat there{};
  if (!in.valid() || fstat(in.get(), &there) != 0) {
    return FileError("join the part", path);
  }
  if (!IsPart(part, there)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot join the part ", path, ": another run has replaced it; give each run an output of its own"));
  }
  std::vector<char> buffer(kReadBytes);
  std::uint64_t left_out = with_header ? 0 : part.header_bytes;
  while (true) {
    const ssize_t count = read(in.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return absl::OkStatus();
    }
    if (count < 0 && errno != EINTR) {
      return FileError("read", path);
    }
    std::string_view bytes(buffer.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
    const std::uint64_t here = std::min<std::uint64_t>(left_out, bytes.size());
    bytes.remove_prefix(static_cast<std::size_t>(here));
    left_out -= here;
    absl::Status status = out.Write(bytes);
    status.Update(watch());
    if (!status.ok()) {
      return status;
    }
  }
}

}  // namespace

absl::StatusOr<PartFile> PartFile::Create(const std::string& path, ExecutorId executor, std::uint32_t executor_count,
                                          FileClaims* claims, const PartFileOptions& options) {
  if (std::optional<WholeFile> claimed = claims == nullptr ? std::nullopt : claims->TakePart(path, executor)) {
    return PartFile(*std::move(claimed), path, executor, claims, options);
  }
  absl::StatusOr<WholeFile> file = CreatePart(path, executor, executor_count);
  if (!file.ok()) {
    return file.status();
  }
  return PartFile(*std::move(file), path, executor, claims, options);
}

PartFile::PartFile(WholeFile file, std::string path, ExecutorId executor, FileClaims* claims,
                   const PartFileOptions& options)
    : path_(std::move(path)),
      executor_(executor),
      writer_(std::make_unique<FileWriter>(std::move(file), claims, options.thread)),
      publishes_(claims != nullptr && claims->publication() == Publication::kWhileRunning),
      buffer_bytes_(options.buffer_bytes) {
  buffer_.reserve(buffer_bytes_);
}

absl::Status PartFile::AppendHeader(std::string_view header) {
  GLAIVE_CHECK(bytes_ == 0, "a header comes behind ", bytes_, " bytes");
  header_bytes_ = header.size();
  return Append(header);
}

absl::Status PartFile::Append(std::string_view bytes) {
  GLAIVE_CHECK(!finishing_, bytes.size(), " bytes came after the end");
  buffer_.append(bytes);
  bytes_ += bytes.size();
  if (buffer_.size() < buffer_bytes_ || !writer_->Idle()) {
    return absl::OkStatus();
  }
  if (writer_->status().ok()) {
    Start(/*is_last=*/false);
    return absl::OkStatus();
  }
  return writer_->status();
}

void PartFile::Complete(std::uint64_t rows, std::optional<std::int64_t> until_ms) {
  const Completeness complete{.bytes = bytes_, .rows = rows, .until_ms = until_ms};
  unpublished_ = unpublished_ || (rows > 0 && complete != complete_);  // an earlier result stays until there is a row
  complete_ = complete;
}

bool PartFile::WantsToPublish(std::int64_t now_ns) const {
  return publishes_ && unpublished_ && !finishing_ && writer_->Idle() && now_ns - published_ns_ >= kPublishIntervalNs;
}

absl::Status PartFile::Publish(std::int64_t now_ns) {
  published_ns_ = now_ns;
  if (!writer_->status().ok()) {
    return writer_->status();
  }
  Start(/*is_last=*/false);  // status() is the writer's from here on
  return absl::OkStatus();
}

void PartFile::Start(bool is_last) {
  const bool publishes = publishes_ && unpublished_;
  writer_->Start(buffer_, {.publish = publishes ? std::optional(complete_) : std::nullopt, .is_last = is_last});
  unpublished_ = false;
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
    Start(/*is_last=*/true);
    return false;
  }
  writer_->ReleaseThread();
  return true;
}

ResultPart PartFile::Describe(std::uint64_t rows) const {
  return {.output = path_,
          .executor = Value(executor_),
          .rows = rows,
          .bytes = writer_->file().bytes(),
          .header_bytes = header_bytes_,
          .inode = writer_->file().is_stream() ? 0 : writer_->file().inode()};
}

absl::Status JoinParts(WholeFile& out, std::span<const ResultPart> parts, const Watch& watch) {
  const auto count = static_cast<std::uint32_t>(parts.size());
  absl::Status status;
  for (const ResultPart& part : parts) {
    if (status.ok()) {
      status = AppendPart(out, part, PathOf(part, count),
                          /*with_header=*/&part == &parts.front(), watch);
    }
  }
  if (status.ok()) {
    status = out.Commit();
  }
  if (status.ok() && !out.is_stream()) {
    status = RemoveProgress(out.target());  // of an earlier run
  }
  if (!status.ok()) {
    return status;
  }
  for (const ResultPart& part : parts) {
    RemovePart(part, PathOf(part, count));
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
