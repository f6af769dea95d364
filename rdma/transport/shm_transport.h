// ShmTransport: between processes of one host. A descriptor names a memory file of its owner; a write is a copy.
//
// A peer opens the file through /proc/<pid>/fd/<fd>, so nothing has a name that could outlive a killed process. Before
// it is used, process and file must be this user's; for a process of root the kernel does not check that. The file must
// be the very one that was described (inode), of the size described, and a memory file sealed against shrinking, since
// a read behind a cut file would end this process by SIGBUS. Peers may be in this process too. The end of a peer is
// noticed by a pidfd, with one system call for all peers. Where the kernel has none, the bootstrap connection notices
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/unique_fd.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/copy_transport.h"

namespace glaive::rdma {

/// See the head of this file.
class ShmTransport final : public CopyTransport {
 public:
  explicit ShmTransport(const TransportOptions& options);

  TransportKind kind() const override { return TransportKind::kShm; }
  EndpointDescriptor endpoint() const override;
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override;
  /// NotFound when the process is gone or keeps no such file, PermissionDenied when it may not be opened or another
  /// user's is named,
  /// InvalidArgument when it is another file or has another size.
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) override;
  /// NotFound when the process is gone already.
  absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) override;
  absl::Status PollFailure() override;

 private:
  struct WatchedPeer {
    NodeId node;
    std::uint64_t process;
    UniqueFd pidfd;
  };

  absl::Status Watch(NodeId peer, std::uint64_t process);

  std::uint64_t process_;
  TransportOptions options_;
  std::vector<PageRegion> exposed_;
  std::vector<PageRegion> attached_;
  UniqueFd watcher_;  // epoll over the pidfds
  std::vector<WatchedPeer> peers_;
};

}  // namespace glaive::rdma
