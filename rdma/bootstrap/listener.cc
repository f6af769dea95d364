#include "rdma/bootstrap/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/address.h"
#include "rdma/base/exhaustion.h"

namespace glaive::rdma {
namespace {

constexpr int kBacklog = 1024;

absl::Status CannotListen(const std::string& where, int error) {
  const std::string text = absl::StrCat("cannot listen at ", where, ": ");
  switch (error) {
    case EADDRINUSE:
      return absl::AlreadyExistsError(absl::StrCat(
          text, "the port is in use; take another one, port 0 for any free one, or end the process that has it"));
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(
          absl::StrCat(text, "the address is not this machine's; rank 0 has to run where the address is"));
    case EACCES:
      return absl::PermissionDeniedError(absl::StrCat(text, "the port is reserved; take one above 1023"));
    default:
      return absl::UnavailableError(absl::StrCat(text, ErrorText(error)));
  }
}

std::uint16_t PortOf(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace

bool IsLoopbackHereAlone(const std::string& host, const std::vector<SocketAddress>& addresses) {
  const bool means_this_host = absl::StrContains(host, "localhost") || absl::StrContains(host, "loopback");
  return !means_this_host && !NumericAddress(host, 0).ok() && std::ranges::all_of(addresses, IsLoopback);
}

absl::StatusOr<Listener> Listener::Bind(const std::string& host, std::uint16_t port) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses = ResolveAddress(host, port);
  if (!addresses.ok()) return addresses.status();
  return Listen(*addresses, host, port);
}

// An IPv6 socket at all addresses takes IPv4 connections, too.
absl::StatusOr<Listener> Listener::BindToAll(const std::string& host, std::uint16_t port) {
  absl::StatusOr<Listener> listener = Listen({*NumericAddress("::", port)}, host, port);
  if (listener.ok() || absl::IsAlreadyExists(listener.status())) return listener;
  return Listen({*NumericAddress("0.0.0.0", port)}, host, port);
}

absl::StatusOr<Listener> Listener::Listen(const std::vector<SocketAddress>& addresses, const std::string& host,
                                          std::uint16_t port) {
  int error = 0;
  for (const SocketAddress& address : addresses) {
    UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    const int off = 0;
    // All addresses of IPv6 are those of IPv4, too, whatever the system's default (net.ipv6.bindv6only).
    if (address.storage.ss_family == AF_INET6) {
      (void)::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    if (fd.valid() && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) == 0 &&
        ::listen(fd.get(), kBacklog) == 0) {
      const std::uint16_t bound_port = PortOf(LocalAddress(fd.get()));
      return Listener(std::move(fd), FormatHostPort(host, bound_port), bound_port);
    }
    error = errno;
  }
  return CannotListen(FormatHostPort(host, port), error);
}

}  // namespace glaive::rdma
