#include "rdma/transport/shm_transport.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/exhaustion.h"

namespace glaive::rdma {
namespace {

absl::StatusOr<std::uint64_t> InodeOf(int fd, const std::string& name) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot examine ", name));
  return static_cast<std::uint64_t>(status.st_ino);
}

absl::Status CheckOwner(const struct stat& facts, const std::string& name) {
  if (facts.st_uid == geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(name, " is of user ", facts.st_uid, ", but this process of user ",
                                                  geteuid(), "; run all nodes of a host as one user"));
}

// The file that was described: this user's, a sealed memory file, with that inode and size.
absl::Status CheckMemoryFile(int fd, const std::string& name, const RegionDescriptor& descriptor) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot examine ", name));
  if (absl::Status owned = CheckOwner(status, name); !owned.ok()) return owned;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is not a memory file sealed against shrinking"));
  }
  if (static_cast<std::uint64_t>(status.st_ino) != descriptor.address) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is another memory file than described: inode ",
                                                   status.st_ino, ", expected ", descriptor.address));
  }
  if (static_cast<std::uint64_t>(status.st_size) != descriptor.size_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has ", status.st_size, " bytes, expected ", descriptor.size_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

ShmTransport::ShmTransport(const TransportOptions& options)
    : CopyTransport(options), process_(static_cast<std::uint64_t>(getpid())), options_(options) {}

EndpointDescriptor ShmTransport::endpoint() const { return {.owner = process_}; }

absl::StatusOr<ExposedRegion> ShmTransport::Expose(std::size_t size_bytes) {
  absl::StatusOr<PageRegion> region = PageRegion::MapShared(RegionBytes(size_bytes));
  if (!region.ok()) return region.status();
  absl::StatusOr<std::uint64_t> inode = InodeOf(region->fd(), "the new memory file");
  if (!inode.ok()) return inode.status();
  const PageRegion& retained = exposed_.emplace_back(*std::move(region));
  return ExposedRegion{.memory = AddQueue(retained.bytes()),
                       .descriptor = {.owner = process_,
                                      .key = static_cast<std::uint64_t>(retained.fd()),
                                      .address = *inode,
                                      .size_bytes = retained.size_bytes()},
                       .pages = retained.pages()};
}

absl::StatusOr<RemoteRegion> ShmTransport::Attach(const RegionDescriptor& descriptor) {
  const std::string process = absl::StrCat("/proc/", descriptor.owner);
  const std::string name = absl::StrCat(process, "/fd/", descriptor.key);
  // Everything is read by this descriptor: another process that gets the number later is not meant by it.
  const UniqueFd folder(open(process.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat facts{};
  if (folder.valid() && fstat(folder.get(), &facts) == 0) {
    if (absl::Status status = CheckOwner(facts, absl::StrCat("transport shm: ", process)); !status.ok()) return status;
  }
  const UniqueFd fd(
      folder.valid() ? openat(folder.get(), absl::StrCat("fd/", descriptor.key).c_str(), O_RDWR | O_CLOEXEC) : -1);
  if (!fd.valid()) {
    constexpr char kRemedy[] = "the peer must run on this host, as this user and in the same container, and be alive";
    return absl::Status(absl::ErrnoToStatusCode(errno),
                        absl::StrCat("transport shm: cannot open ", name, ": ", ErrorText(errno, kRemedy)));
  }
  if (absl::Status status = CheckMemoryFile(fd.get(), absl::StrCat("transport shm: ", name), descriptor);
      !status.ok()) {
    return status;
  }
  absl::StatusOr<PageRegion> mapped = PageRegion::MapFile(fd.get(), descriptor.size_bytes);
  if (!mapped.ok()) return mapped.status();
  const PageRegion& retained = attached_.emplace_back(*std::move(mapped));
  return AttachMapped(retained.bytes().first(descriptor.size_bytes));
}

absl::StatusOr<QueuePair*> ShmTransport::Connect(ExecutorId peer, const EndpointDescriptor& there) {
  if (there.owner != process_) {
    if (absl::Status status = Watch(options_.NodeOf(peer), there.owner); !status.ok()) return status;
  }
  return MakeQueuePair();
}

absl::Status ShmTransport::Watch(NodeId peer, std::uint64_t process) {
  if (process == 0 || process > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max())) {
    return absl::InvalidArgumentError(
        absl::StrCat("transport shm: node ", Value(peer), " claims the process id ", process));
  }
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0U)));
  if (!pidfd.valid()) {
    if (errno != ESRCH) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("transport shm: node ", Value(peer), " is gone, there is no process ", process));
  }
  if (!watcher_.valid()) watcher_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {.u64 = peers_.size()}};
  if (!watcher_.valid() || epoll_ctl(watcher_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0) {
    return {absl::ErrnoToStatusCode(errno),
            absl::StrCat("transport shm: cannot watch a peer with epoll: ", ErrorText(errno))};
  }
  peers_.push_back({peer, process, std::move(pidfd)});
  return absl::OkStatus();
}

absl::Status ShmTransport::PollFailure() {
  if (absl::Status status = CopyTransport::PollFailure(); !status.ok()) return status;
  if (peers_.empty()) return absl::OkStatus();
  epoll_event event{};
  if (epoll_wait(watcher_.get(), &event, 1, /*timeout=*/0) != 1) return absl::OkStatus();
  const WatchedPeer& dead = peers_[event.data.u64];
  epoll_ctl(watcher_.get(), EPOLL_CTL_DEL, dead.pidfd.get(), nullptr);
  return absl::UnavailableError(
      absl::StrCat("node ", Value(dead.node), " (process ", dead.process, ") was lost: it has ended"));
}

}  // namespace glaive::rdma
