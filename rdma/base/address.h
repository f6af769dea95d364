// TCP addresses as a user writes them, and as the operating system wants them.
//
// Free functions; any thread. ResolveAddress may ask a name server and wait for it; the others never block.
//
//   absl::StatusOr<HostPort> where = ParseHostPort("node-a:7700");
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace glaive::rdma {

/// "host:port" in two parts. An IPv6 host is written in brackets: "[::1]:7700".
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

/// A socket address as bind(2) and connect(2) take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// Reads "host:port". kInvalidArgument says what is wrong with it; port 0 is let through.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

/// Reads "host:port" or only "host", whose port is then 0. An IPv6 host without a port may be written with or without
/// brackets.
absl::StatusOr<HostPort> ParseHostMaybePort(std::string_view text);

/// Writes "host:port", IPv6 hosts in brackets.
std::string FormatHostPort(std::string_view host, std::uint16_t port);

/// All TCP addresses of a host's name, at least one. kInvalidArgument: there is no such host; kUnavailable: the name
/// could not be looked up now.
absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(const std::string& host, std::uint16_t port);

/// The address that `host` writes in numbers, e.g. one that a peer has sent: no name is ever looked up.
/// kInvalidArgument: it is a name, or none.
absl::StatusOr<SocketAddress> NumericAddress(const std::string& host, std::uint16_t port);

/// Whether only processes of this host reach it.
bool IsLoopback(const SocketAddress& address);

/// A numeric "host:port" for messages.
std::string FormatAddress(const SocketAddress& address);

/// Its host alone, numeric: an IPv4 address that is written as an IPv6 one as IPv4. Empty: the address has length 0.
std::string FormatHost(const SocketAddress& address);

/// The local or the remote end of a connected socket; empty (length 0) when it has none.
SocketAddress LocalAddress(int fd);
SocketAddress PeerAddress(int fd);

}  // namespace glaive::rdma
