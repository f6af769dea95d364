#include "engine/source/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/files/whole_file.h"
#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};
// The largest window, plus what makes zlib expect gzip's header and check its trailer.
constexpr int kGzipWindowBits = 15 + 16;

ListedFile Listed(std::string path, const struct stat& status) {
  return {.path = std::move(path),
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = absl::ToUnixNanos(absl::TimeFromTimespec(status.st_mtim))};
}

}  // namespace

absl::StatusOr<ListedFile> ListFile(std::string path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    return FileError("examine the input", path);
  }
  return Listed(std::move(path), status);
}

/// zlib's state for one file. It stays where it is: zlib stores a pointer to it.
class Inflater {
 public:
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  bool Start() { return ::inflateInit2(&stream_, kGzipWindowBits) == Z_OK; }

  struct Step {
    int result;
    std::size_t taken;
    std::size_t made;
  };

  /// Inflates as much of `from` as there is room for.
  Step Run(std::span<char> from, std::span<char> into) {
    if (between_members_) {
      ::inflateReset(&stream_);
    }
    stream_.next_in = reinterpret_cast<Bytef*>(from.data());
    stream_.avail_in = static_cast<uInt>(from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), InputFile::kBlockBytes));
    const std::size_t room = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    between_members_ = result == Z_STREAM_END;
    return {.result = result, .taken = from.size() - stream_.avail_in, .made = room - stream_.avail_out};
  }

  bool between_members() const { return between_members_; }
  const char* complaint() const { return stream_.msg == nullptr ? "unknown error" : stream_.msg; }

 private:
  z_stream stream_{};
  bool between_members_ = false;
};

InputFile::InputFile(ListedFile listed, UniqueFd fd)
    : listed_(std::move(listed)), fd_(std::move(fd)), block_(std::make_unique_for_overwrite<char[]>(kBlockBytes)) {}

InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

absl::StatusOr<InputFile> InputFile::Open(ListedFile listed) {
  UniqueFd fd(open(listed.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return FileError("open the input", listed.path);
  }
  InputFile file(std::move(listed), std::move(fd));
  if (absl::Status status = file.CheckUnchanged(); !status.ok()) {
    return status;
  }
  while (file.end_ < sizeof(kGzipMagic) && !file.at_end_of_file_) {
    if (absl::Status status = file.Fill(); !status.ok()) {
      return status;
    }
  }
  if (file.end_ >= sizeof(kGzipMagic) && std::memcmp(file.block_.get(), kGzipMagic, sizeof(kGzipMagic)) == 0) {
    file.inflater_ = std::make_unique<Inflater>();
    if (!file.inflater_->Start()) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot inflate ", file.listed_.path, ": no memory"));
    }
  }
  file.ended_ = file.end_ == 0;
  return file;
}

/// Reads behind what the block holds, once.
absl::Status InputFile::Fill() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  }
  const ssize_t count = read(fd_.get(), block_.get() + end_, kBlockBytes - end_);
  if (count < 0 && errno != EINTR) {
    return FileError("read the input", listed_.path);
  }
  at_end_of_file_ = count == 0;
  end_ += count < 0 ? 0 : static_cast<std::size_t>(count);
  offset_ += count < 0 ? 0 : static_cast<std::uint64_t>(count);
  return at_end_of_file_ || offset_ > listed_.bytes ? CheckUnchanged() : absl::OkStatus();
}

/// Whether the file is what was listed, and no more of it was read. A file that has been replaced by another still has
/// its open descriptor, and with it what was listed.
absl::Status InputFile::CheckUnchanged() const {
  struct stat status{};
  if (fstat(fd_.get(), &status) != 0) {
    return FileError("examine the input", listed_.path);
  }
  const ListedFile now = Listed(listed_.path, status);
  if (now == listed_ && offset_ <= listed_.bytes) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      listed_.path, ": was written to after the run had begun",
      now.bytes == listed_.bytes ? "" : absl::StrCat(": it had ", listed_.bytes, " bytes and has ", now.bytes),
      "; start again when the input is complete"));
}

absl::Status InputFile::Seek(std::uint64_t offset) {
  GLAIVE_CHECK(!compressed(), listed_.path, " is gzip");
  if (lseek(fd_.get(), static_cast<off_t>(offset), SEEK_SET) < 0) {
    return FileError("read the input", listed_.path);
  }
  offset_ = offset;
  begin_ = end_ = 0;
  at_end_of_file_ = ended_ = false;
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> InputFile::Read(std::span<char> into) {
  if (begin_ == end_ && !at_end_of_file_) {
    if (absl::Status status = Fill(); !status.ok()) {
      return status;
    }
  }
  if (inflater_ != nullptr) {
    return Inflate(into);
  }
  const std::size_t count = std::min(into.size(), end_ - begin_);
  std::copy_n(block_.get() + begin_, count, into.data());
  begin_ += count;
  ended_ = at_end_of_file_ && begin_ == end_;
  return count;
}

absl::StatusOr<std::size_t> InputFile::Inflate(std::span<char> into) {
  if (inflater_->between_members()) {  // zeros may follow, and another member
    const char* const rest = std::find_if(block_.get() + begin_, block_.get() + end_, [](char c) { return c != 0; });
    begin_ = static_cast<std::size_t>(rest - block_.get());
    if (begin_ == end_) {
      ended_ = at_end_of_file_;
      return std::size_t{0};
    }
  }
  const Inflater::Step step = inflater_->Run({block_.get() + begin_, end_ - begin_}, into);
  begin_ += step.taken;
  const std::uint64_t byte = offset_ - (end_ - begin_);
  if (step.result == Z_MEM_ERROR) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot inflate ", listed_.path, ": no memory"));
  }
  // Z_BUF_ERROR says that there was nothing to do: the next block may bring more.
  if (step.result != Z_OK && step.result != Z_STREAM_END && step.result != Z_BUF_ERROR) {
    return absl::FailedPreconditionError(
        absl::StrCat(listed_.path, ": damaged gzip data at byte ", byte, ": ", inflater_->complaint()));
  }
  if (step.made == 0 && begin_ == end_ && at_end_of_file_ && !inflater_->between_members()) {
    return absl::FailedPreconditionError(
        absl::StrCat(listed_.path, ": cut off: its gzip data go on behind its last byte, ", byte));
  }
  return step.made;
}

}  // namespace glaive::engine
