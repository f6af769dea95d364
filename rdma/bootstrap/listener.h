// Listener: the TCP socket where the coordinator (rank 0) waits for the other nodes.
//
// Made in `main` before the other nodes are started, so that they can be given its port. Owned by one thread; handed
// over to ControlPlane::Coordinate, which closes it once all nodes have come.
//
//   absl::StatusOr<Listener> listener = Listener::Bind("127.0.0.1", 0);
//   std::string where = listener->address();   // "127.0.0.1:41237"
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/address.h"
#include "rdma/base/unique_fd.h"

namespace glaive::rdma {

/// Whether other hosts find another address under the name `host` than this one, which found `addresses`: they are
/// loopback addresses, as Debian's /etc/hosts has one (127.0.1.1) for the host's own name. Not for names like
/// localhost, which mean this host alone, nor for addresses in numbers.
bool IsLoopbackHereAlone(const std::string& host, const std::vector<SocketAddress>& addresses);

/// A bound, listening, nonblocking, close-on-exec socket.
class Listener {
 public:
  /// Listens at `host` (a name or an address) and `port`; port 0 takes any free one.
  /// Errors: kAlreadyExists when the port is in use, kInvalidArgument when the host is unknown or not this
  /// machine's, kPermissionDenied for a privileged port. Each says what to do.
  static absl::StatusOr<Listener> Bind(const std::string& host, std::uint16_t port);

  /// Listens at all addresses of this host, for those that find it by its name `host`. Errors like Bind's.
  static absl::StatusOr<Listener> BindToAll(const std::string& host, std::uint16_t port);

  /// Where to reach it, with the port really taken.
  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }
  int fd() const { return fd_.get(); }

 private:
  Listener(UniqueFd fd, std::string address, std::uint16_t port)
      : fd_(std::move(fd)), address_(std::move(address)), port_(port) {}

  /// At the first of `addresses` that can be had.
  static absl::StatusOr<Listener> Listen(const std::vector<SocketAddress>& addresses, const std::string& host,
                                         std::uint16_t port);

  UniqueFd fd_;
  std::string address_;
  std::uint16_t port_ = 0;
};

}  // namespace glaive::rdma
