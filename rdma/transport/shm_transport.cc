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

namespace glaive::rdma {
namespace {

absl::StatusOr<std::uint64_t> InodeOf(int fd, const std::string& name) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot examine ", name));
  return static_cast<std::uint64_t>(status.st_ino);
}

// The file that was described: a sealed memory file with that inode and size.
absl::Status CheckMemoryFile(int fd, const std::string& name, const RegionDescriptor& descriptor) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot examine ", name));
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

ShmTransport::ShmTransport(std::uint32_t queue_depth)
    : CopyTransport(queue_depth), process_(static_cast<std::uint64_t>(getpid())) {}

EndpointDescriptor ShmTransport::endpoint() const { return {.owner = process_}; }

absl::StatusOr<ExposedRegion> ShmTransport::Expose(std::size_t size_bytes) {
  absl::StatusOr<PageRegion> region = PageRegion::MapShared(size_bytes);
  if (!region.ok()) return region.status();
  absl::StatusOr<std::uint64_t> inode = InodeOf(region->fd(), "the new memory file");
  if (!inode.ok()) return inode.status();
  const PageRegion& kept = exposed_.emplace_back(*std::move(region));
  return ExposedRegion{.memory = kept.bytes(),
                       .descriptor = {.owner = process_,
                                      .key = static_cast<std::uint64_t>(kept.fd()),
                                      .address = *inode,
                                      .size_bytes = kept.size_bytes()},
                       .pages = kept.pages()};
}

absl::StatusOr<RemoteRegion> ShmTransport::Attach(const RegionDescriptor& descriptor) {
  const std::string name = absl::StrCat("/proc/", descriptor.owner, "/fd/", descriptor.key);
  const UniqueFd fd(open(name.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("transport shm: cannot open ", name,
                                                   "; the peer must run on this host, as this user and in the same "
                                                   "container, and be alive"));
  }
  if (absl::Status status = CheckMemoryFile(fd.get(), absl::StrCat("transport shm: ", name), descriptor);
      !status.ok()) {
    return status;
  }
  absl::StatusOr<PageRegion> mapped = PageRegion::MapFile(fd.get(), descriptor.size_bytes);
  if (!mapped.ok()) return mapped.status();
  const PageRegion& kept = attached_.emplace_back(*std::move(mapped));
  return RemoteRegion{
      .address = reinterpret_cast<std::uint64_t>(kept.data()), .size_bytes = descriptor.size_bytes, .key = 0};
}

absl::StatusOr<QueuePair*> ShmTransport::Connect(NodeId peer, const EndpointDescriptor& there) {
  if (there.owner != process_) {
    if (absl::Status status = Watch(peer, there.owner); !status.ok()) return status;
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
    return absl::ErrnoToStatus(errno, "transport shm: cannot watch a peer with epoll");
  }
  peers_.push_back({peer, process, std::move(pidfd)});
  return absl::OkStatus();
}

absl::Status ShmTransport::PollFailure() {
  if (peers_.empty()) return absl::OkStatus();
  epoll_event event{};
  if (epoll_wait(watcher_.get(), &event, 1, /*timeout=*/0) != 1) return absl::OkStatus();
  const WatchedPeer& dead = peers_[event.data.u64];
  epoll_ctl(watcher_.get(), EPOLL_CTL_DEL, dead.pidfd.get(), nullptr);
  return absl::UnavailableError(
      absl::StrCat("node ", Value(dead.node), " (process ", dead.process, ") was lost: it has ended"));
}

}  // namespace glaive::rdma
