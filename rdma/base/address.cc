#include "rdma/base/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace glaive::rdma {

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const auto wrong = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is no address; write host:port, e.g. 127.0.0.1:7700 or [::1]:7700"));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of(bracketed ? "[]" : "[]:") != std::string_view::npos) return wrong();
  const std::string digits(text.substr(colon + 1));
  std::uint32_t port = 0;
  if (digits.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(digits, &port) || port > 65535) {
    return wrong();
  }
  return HostPort{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

absl::StatusOr<HostPort> ParseHostMaybePort(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool ipv6_alone = colon != text.rfind(':') && text.front() != '[';
  const bool bracketed_alone = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (bracketed_alone) return HostPort{.host = std::string(text.substr(1, text.size() - 2)), .port = 0};
  if (ipv6_alone) return HostPort{.host = std::string(text), .port = 0};
  if (colon != std::string_view::npos) return ParseHostPort(text);
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is no address; write host or host:port, e.g. 10.0.0.1 or [::1]:7700"));
  }
  return HostPort{.host = std::string(text), .port = 0};
}

std::string FormatHostPort(std::string_view host, std::uint16_t port) {
  const bool bracketed = host.find(':') != std::string_view::npos;
  return absl::StrCat(bracketed ? "[" : "", std::string(host), bracketed ? "]:" : ":", port);
}

namespace {

absl::StatusOr<std::vector<SocketAddress>> Resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    const std::string text = absl::StrCat("cannot find host '", host, "': ", ::gai_strerror(error));
    return error == EAI_AGAIN ? absl::UnavailableError(text) : absl::InvalidArgumentError(text);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
  }
  return addresses;
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(const std::string& host, std::uint16_t port) {
  return Resolve(host, port, /*flags=*/0);
}

absl::StatusOr<SocketAddress> NumericAddress(const std::string& host, std::uint16_t port) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(host, port, AI_NUMERICHOST);
  if (!addresses.ok()) return absl::InvalidArgumentError(absl::StrCat("'", host, "' is no numeric address"));
  return addresses->front();
}

bool IsLoopback(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    constexpr std::uint32_t kLoopbackNet = 127;
    return ntohl(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr) >> 24 == kLoopbackNet;
  }
  return address.storage.ss_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr);
}

std::string FormatAddress(const SocketAddress& address) {
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
  if (address.length == 0 || ::getnameinfo(generic, address.length, host, sizeof(host), service, sizeof(service),
                                           NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  return std::string_view(host).find(':') != std::string_view::npos ? absl::StrCat("[", host, "]:", service)
                                                                    : absl::StrCat(host, ":", service);
}

std::string FormatHost(const SocketAddress& address) {
  constexpr std::string_view kMapped = "::ffff:";
  const absl::StatusOr<HostPort> parts = ParseHostPort(FormatAddress(address));
  if (address.length == 0 || !parts.ok()) return "";
  const bool is_mapped = parts->host.starts_with(kMapped) && parts->host.find('.') != std::string::npos;
  return is_mapped ? parts->host.substr(kMapped.size()) : parts->host;
}

SocketAddress LocalAddress(int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) address.length = 0;
  return address;
}

SocketAddress PeerAddress(int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) address.length = 0;
  return address;
}

}  // namespace glaive::rdma
