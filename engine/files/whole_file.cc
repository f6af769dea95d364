#include "engine/files/whole_file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "rdma/base/ending_signals.h"
#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr mode_t kMode = 0666;  // and the process's umask
constexpr int kMostLinks = 40;  // as in the kernel
constexpr int kStreamPollMillis = 100;

absl::Status Unfit(const std::string& path, std::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("cannot write ", path, ": ", std::string(why)));
}

absl::Status OtherFile(const std::string& path) {
  return Unfit(path, "another program has written a file of this name since this run began; that file stays");
}

/// Whether a signal that asks the process to end is pending: the main thread blocks them and polls for them.
bool EndIsAskedFor() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  const sigset_t ending = EndingSignals();
  sigset_t both;
  sigandset(&both, &pending, &ending);
  return sigisemptyset(&both) == 0;
}

/// Whether `path` is the open file.
bool IsSameFile(const std::string& path, int fd) {
  struct stat there{};
  struct stat mine{};
  return lstat(path.c_str(), &there) == 0 && fstat(fd, &mine) == 0 && there.st_dev == mine.st_dev &&
         there.st_ino == mine.st_ino;
}

/// Whether a WholeFile that is open elsewhere has locked the file.
bool IsLocked(int fd) {
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// Renames, but not over a file, where the file system can tell.
bool RenameToFreeName(const std::string& from, const std::string& to) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ||
         ((errno == EINVAL || errno == ENOSYS) && rename(from.c_str(), to.c_str()) == 0);
}

/// Refuses a path that another WholeFile writes.
absl::Status CheckNobodyWrites(const std::string& path, const std::string& mine) {
  const std::string folder = FolderOf(path);
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(folder);
  if (!names.ok()) {
    return names.status();
  }
  const std::string name = fs::path(path).filename();
  for (const std::string& other : *names) {
    const std::string temporary = absl::StrCat(folder, "/", other);
    const std::string taken = NameBehind(other) == name && other != mine ? WhyTaken(temporary) : "";
    if (!taken.empty()) {
      return Unfit(path, taken);
    }
  }
  // A run holds the lock of a file that has its name already until it ends.
  const UniqueFd named(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (named.valid() && IsLocked(named.get())) {
    return Unfit(path, "another run writes it and has not ended yet; wait for its end, or write to another name");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FileError(std::string_view what, std::string_view path) {
  const int error = errno;
  return absl::FailedPreconditionError(
      absl::StrCat("cannot ", std::string(what), " ", std::string(path), ": ", ErrorText(error)));
}

std::optional<int> StandardStreamOf(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open_already{};
    if (fstat(stream, &open_already) == 0 && open_already.st_dev == file.st_dev && open_already.st_ino == file.st_ino) {
      return stream;
    }
  }
  return std::nullopt;
}

std::string FollowLinks(const std::string& path) {
  fs::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) {
      break;
    }
    target = target.parent_path() / next;
  }
  return target;
}

absl::Status SyncFolder(const std::string& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that may be written but not read cannot be opened; some file systems sync no folders.
  const bool synced = !fd.valid() ? errno == EACCES : fsync(fd.get()) == 0 || errno == EINVAL || errno == EROFS;
  return synced ? absl::OkStatus() : FileError("sync the folder", folder);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  if (error && error != std::errc::permission_denied) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot list the folder ", folder, ": ", ErrorText(error.value())));
  }
  return names;
}

std::string_view NameBehind(std::string_view temporary) {
  if (!temporary.starts_with('.') || !temporary.ends_with(kTemporarySuffix)) {
    return {};
  }
  temporary.remove_prefix(1);
  temporary.remove_suffix(std::min(kTemporarySuffix.size(), temporary.size()));
  const std::size_t dot = temporary.rfind('.');
  if (dot == std::string_view::npos) {
    return {};
  }
  const std::string_view numbers = temporary.substr(dot + 1);
  const std::size_t hyphen = numbers.find('-');
  constexpr std::string_view kDigits = "0123456789";
  const bool fits = hyphen != 0 && hyphen != std::string_view::npos && hyphen + 1 < numbers.size() &&
                    numbers.find_first_not_of(kDigits) == hyphen &&
                    numbers.find_first_not_of(kDigits, hyphen + 1) == std::string_view::npos;
  return fits ? temporary.substr(0, dot) : std::string_view();
}

std::string WhyTaken(const std::string& temporary) {
  const UniqueFd fd(open(temporary.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    return errno != EACCES
               ? ""
               : absl::StrCat("this user cannot read ", temporary,
                              ": another user's run writes it, or has left it behind when it was killed; wait for "
                              "the run's end, or remove the file if there is none, or write to another name");
  }
  if (!IsLocked(fd.get())) {
    return "";
  }
  return absl::StrContains(temporary, absl::StrCat(".", getpid(), "-"))
             ? absl::StrCat("this run writes it already, as ", temporary,
                            "; give each of its outputs a name of its own")
             : absl::StrCat("another run writes it, as ", temporary, "; wait for its end, or write to another name");
}

absl::StatusOr<WholeFile> WholeFile::Create(const std::string& path) {
  struct stat there{};
  if (stat(path.c_str(), &there) != 0) {  // where the kernel protects links in shared folders, it refuses them here
    return errno == ENOENT ? CreateTemporary(FollowLinks(path)) : FileError("write", path);
  }
  if (StandardStreamOf(there).has_value() || S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode)) {
    return OpenStream(path);
  }
  if (!S_ISREG(there.st_mode)) {
    return Unfit(path, S_ISDIR(there.st_mode) ? "this is a folder; write the name of a file"
                                              : "this is no file, pipe or character device");
  }
  return CreateTemporary(FollowLinks(path));
}

absl::StatusOr<WholeFile> WholeFile::CreateFile(const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Unfit(path, "what lies there is no file; remove it, or write to another name");
  }
  return CreateTemporary(path);
}

absl::StatusOr<WholeFile> WholeFile::OpenStream(const std::string& path) {
  struct stat there{};
  const std::optional<int> stream = stat(path.c_str(), &there) == 0 ? StandardStreamOf(there) : std::nullopt;
  UniqueFd fd(stream.has_value() ? fcntl(*stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                 : open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENXIO && !S_ISFIFO(there.st_mode)) {
      return Unfit(path, "there is no device behind this name; /dev/tty needs a process with a terminal");
    }
    return errno == ENXIO ? Unfit(path, "no process reads from this pipe; start its reader first")
                          : FileError("write", path);
  }
  return WholeFile(path, /*temporary=*/"", std::move(fd));
}

absl::StatusOr<WholeFile> WholeFile::CreateTemporary(const std::string& target) {
  std::string temporary;
  UniqueFd fd;
  for (std::uint64_t number = 0; !fd.valid(); ++number) {
    const std::string name = absl::StrCat(".", fs::path(target).filename().string(), ".", getpid(), "-", number,
                                          std::string(kTemporarySuffix));
    temporary = fs::path(target).parent_path() / name;
    fd = UniqueFd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (!fd.valid() && errno != EEXIST) {
      return FileError("create", temporary);
    }
  }
  WholeFile file(target, temporary, std::move(fd));
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  const bool locked = fcntl(file.fd_.get(), F_OFD_SETLK, &lock) == 0;
  if (!locked && (errno == EAGAIN || errno == EACCES)) {  // file systems without locks do without
    return FileError("lock", temporary);
  }
  // Behind the lock: of two that come at once, at least the later one sees the other.
  if (absl::Status status = CheckNobodyWrites(target, fs::path(temporary).filename()); !status.ok()) {
    return status;
  }
  file.before_ = IdentityOf(target);
  return file;
}

std::optional<WholeFile::Identity> WholeFile::IdentityOf(const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0) {
    return std::nullopt;
  }
  return Identity{.device = there.st_dev,
                  .inode = there.st_ino,
                  .modified_ns = absl::ToUnixNanos(absl::TimeFromTimespec(there.st_mtim))};
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : is_stream_(other.is_stream_),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      before_(other.before_),
      fd_(std::move(other.fd_)),
      bytes_(other.bytes_),
      published_bytes_(std::exchange(other.published_bytes_, std::nullopt)) {}

WholeFile::~WholeFile() {
  if (published_bytes_.has_value() && *published_bytes_ < bytes_) {
    (void)ftruncate(fd_.get(), static_cast<off_t>(*published_bytes_));
  }
  if (!temporary_.empty() && IsSameFile(temporary_, fd_.get())) {
    unlink(temporary_.c_str());
  }
}

absl::Status WholeFile::Write(std::string_view bytes, const Watch& watch) {
  while (!bytes.empty()) {
    pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    if (is_stream_ && poll(&ready, 1, kStreamPollMillis) <= 0) {
      if (EndIsAskedFor()) {
        return absl::CancelledError(absl::StrCat("cannot write ", target_, ": interrupted while nobody reads from it"));
      }
      if (absl::Status status = watch(); !status.ok()) {
        return status;
      }
      continue;
    }
    // A pipe that is ready has room for PIPE_BUF bytes: more would wait for its reader.
    const ssize_t written =
        write(fd_.get(), bytes.data(), is_stream_ ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size());
    if (written < 0 && errno == EPIPE) {
      return absl::OkStatus();
    }
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return FileError("write", temporary_.empty() ? target_ : temporary_);
    }
    const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    bytes.remove_prefix(done);
    bytes_ += done;
  }
  return absl::OkStatus();
}

absl::Status WholeFile::Sync() {
  // Pipes and devices such as /dev/null have nothing to sync.
  const bool synced = fsync(fd_.get()) == 0 || errno == EINVAL || errno == EROFS;
  return synced ? absl::OkStatus() : FileError("write", temporary_.empty() ? target_ : temporary_);
}

absl::Status WholeFile::Publish(std::uint64_t bytes) {
  if (is_stream_) {
    return absl::OkStatus();
  }
  absl::Status status = TakeName();
  if (status.ok()) {
    published_bytes_ = bytes;
  }
  return status;
}

absl::Status WholeFile::Commit() {
  absl::Status status = Sync();
  if (status.ok() && is_stream_) {
    fd_.Reset();
    return status;
  }
  if (status.ok()) {
    status = TakeName();
  }
  if (status.ok()) {
    published_bytes_.reset();
    status = SyncFolder(FolderOf(target_));
  }
  return status;
}

absl::Status WholeFile::CheckName() const {
  const std::string& name = temporary_.empty() ? target_ : temporary_;
  if (!IsSameFile(name, fd_.get())) {
    const char* const fate = access(name.c_str(), F_OK) == 0 ? "replaced by another" : "removed";
    return Unfit(target_, temporary_.empty() ? absl::StrCat("it was ", fate, " while this run wrote it")
                                             : absl::StrCat("its temporary file ", temporary_, " was ", fate));
  }
  if (const std::optional<Identity> there = IdentityOf(target_);
      !temporary_.empty() && there.has_value() && there != before_) {
    return OtherFile(target_);
  }
  return absl::OkStatus();
}

absl::Status WholeFile::TakeName() {
  if (absl::Status status = CheckName(); !status.ok() || temporary_.empty()) {
    return status;
  }
  const bool named = before_.has_value() && IdentityOf(target_).has_value()
                         ? rename(temporary_.c_str(), target_.c_str()) == 0
                         : RenameToFreeName(temporary_, target_);
  if (!named && errno == EEXIST) {
    return OtherFile(target_);
  }
  if (!named) {
    return FileError("name", target_);
  }
  temporary_.clear();
  return absl::OkStatus();
}

std::uint64_t WholeFile::inode() const {
  struct stat file{};
  return fstat(fd_.get(), &file) == 0 ? file.st_ino : 0;
}

absl::Status WholeFile::WriteAndCommit(std::string_view bytes) {
  absl::Status status = Write(bytes);
  return status.ok() ? Commit() : status;
}

}  // namespace glaive::engine
