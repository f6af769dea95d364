#include "rdma/bootstrap/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/address.h"

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
      return absl::UnavailableError(absl::StrCat(text, ::strerrordesc_np(error)));
  }
}

std::uint16_t PortOf(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace

absl::StatusOr<Listener> Listener::Bind(const std::string& host, std::uint16_t port) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses = ResolveAddress(host, port);
  if (!addresses.ok()) return addresses.status();
  int error = 0;
  for (const SocketAddress& address : *addresses) {
    UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
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
