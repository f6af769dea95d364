#include "rdma/verbs/device_choice.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace glaive::rdma {
namespace {

constexpr char kWithoutDevice[] =
    "on one host --transport=shm needs none, and scripts/softroce gives a host or a test an emulated one";

SocketAddress CopyOf(const sockaddr* address, socklen_t length) {
  SocketAddress copy;
  std::memcpy(&copy.storage, address, length);
  copy.length = length;
  return copy;
}

// Bytes of the IP address; empty for other families.
std::span<const std::byte> HostBytes(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr, 1));
  }
  if (address.storage.ss_family == AF_INET6) {
    return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr, 1));
  }
  return {};
}

bool HasSameFamily(const InterfaceAddress& local, const SocketAddress& other) {
  return local.address.storage.ss_family == other.storage.ss_family;
}

bool IsInSubnet(const InterfaceAddress& local, const SocketAddress& other) {
  const std::span<const std::byte> here = HostBytes(local.address);
  const std::span<const std::byte> there = HostBytes(other);
  const std::span<const std::byte> mask = HostBytes(local.netmask);
  if (here.size() != there.size() || here.size() != mask.size() || here.empty()) return false;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (((here[i] ^ there[i]) & mask[i]) != std::byte{0}) return false;
  }
  return true;
}

// 0 is tried first.
int Distance(const InterfaceAddress& local, const std::vector<SocketAddress>& near) {
  const int family = local.address.storage.ss_family == AF_INET ? 0 : 1;
  const auto same_subnet = [&](const SocketAddress& other) { return IsInSubnet(local, other); };
  const auto same_family = [&](const SocketAddress& other) { return HasSameFamily(local, other); };
  if (std::any_of(near.begin(), near.end(), same_subnet)) return family;
  if (std::any_of(near.begin(), near.end(), same_family)) return 2 + family;
  return 4 + family;
}

std::string PortList(const std::vector<RdmaPort>& ports) {
  return absl::StrJoin(ports, ", ", [](std::string* out, const RdmaPort& port) {
    absl::StrAppend(out, port.device, " port ", port.port, " (", port.state, ")");
  });
}

// Ports of the chosen device, or all.
std::vector<RdmaPort> Chosen(const DeviceChoice& choice, const std::vector<RdmaPort>& ports) {
  std::vector<RdmaPort> chosen;
  for (const RdmaPort& port : ports) {
    if (choice.device.empty() || port.device == choice.device) chosen.push_back(port);
  }
  return chosen;
}

std::vector<RdmaPort> Active(const std::vector<RdmaPort>& ports) {
  std::vector<RdmaPort> active;
  for (const RdmaPort& port : ports) {
    if (port.state == "active" && port.has_connections) active.push_back(port);
  }
  return active;
}

absl::Status Refuse(const std::string& reason) {
  return absl::FailedPreconditionError(absl::StrCat("transport verbs: ", reason));
}

// Active ports that could be used, but have no address.
absl::Status WithoutAddress(const DeviceChoice& choice, const std::vector<RdmaPort>& active,
                            const std::vector<RdmaPort>& ports) {
  std::vector<RdmaPort> infiniband;
  for (const RdmaPort& port : active) {
    if (port.link_layer == "InfiniBand") infiniband.push_back(port);
  }
  if (infiniband.size() == active.size()) {
    return Refuse(absl::StrCat(PortList(infiniband),
                               " is InfiniBand without an IP address, which connections are made by: load IPoIB "
                               "(modprobe ib_ipoib) and give its interface an address (ip address add "
                               "ADDRESS/LENGTH dev ib0)"));
  }
  return Refuse(absl::StrCat(choice.device.empty() ? "no RDMA device has" : absl::StrCat(choice.device, " has no"),
                             " an IP address, which connections are made by; give its network interface one (ip "
                             "address add ADDRESS/LENGTH dev DEV). There are ",
                             PortList(ports)));
}

}  // namespace

std::vector<InterfaceAddress> ListInterfaceAddresses() {
  std::vector<InterfaceAddress> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_netmask == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    socklen_t length = 0;
    if (entry->ifa_addr->sa_family == AF_INET) {
      length = sizeof(sockaddr_in);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      length = sizeof(sockaddr_in6);
    } else {
      continue;
    }
    addresses.push_back({.address = CopyOf(entry->ifa_addr, length), .netmask = CopyOf(entry->ifa_netmask, length)});
  }
  return addresses;
}

std::vector<InterfaceAddress> OrderAddresses(std::vector<InterfaceAddress> addresses,
                                             const std::vector<SocketAddress>& near) {
  std::stable_sort(addresses.begin(), addresses.end(), [&near](const InterfaceAddress& a, const InterfaceAddress& b) {
    return Distance(a, near) < Distance(b, near);
  });
  return addresses;
}

absl::Status NoUsableDevice(const DeviceChoice& choice, const std::vector<RdmaPort>& ports) {
  if (ports.empty()) return Refuse(absl::StrCat("this host has no RDMA device; ", kWithoutDevice));
  const std::vector<RdmaPort> chosen = Chosen(choice, ports);
  if (chosen.empty()) {
    return Refuse(absl::StrCat("--device=", choice.device, ": there is no such device; there are ", PortList(ports)));
  }
  const auto unconnectable = [](const RdmaPort& port) { return !port.has_connections; };
  if (std::all_of(chosen.begin(), chosen.end(), unconnectable)) {
    return Refuse(absl::StrCat(PortList(chosen),
                               ": no reliable connections by rdma_cm on such a device, as on EFA, and Glaive uses "
                               "nothing else: use hosts with InfiniBand, RoCE or iWARP; ",
                               kWithoutDevice));
  }
  const std::vector<RdmaPort> active = Active(chosen);
  if (active.empty()) {
    return Refuse(absl::StrCat("no port is active: ", PortList(chosen),
                               "; bring its network interface up (ip link set DEV up), or check cable and subnet "
                               "manager"));
  }
  if (!choice.address.empty()) {
    return Refuse(absl::StrCat(
        "--bind=", choice.address, ": no active port of ", choice.device.empty() ? "an RDMA device" : choice.device,
        " has this address; `rdma link` and `ip address` show which have which, of ", PortList(ports)));
  }
  return WithoutAddress(choice, active, ports);
}

}  // namespace glaive::rdma
