#include "rdma/verbs/verbs_device.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rdma/base/address.h"
#include "rdma/verbs/devices.h"

namespace glaive::rdma {
namespace {

constexpr char kWithoutDevice[] =
    "on one host --transport=shm needs none, and scripts/softroce gives a host or a test an emulated one";

std::string HostOf(const SocketAddress& address) {
  const absl::StatusOr<HostPort> parts = ParseHostPort(FormatAddress(address));
  return parts.ok() ? parts->host : "";
}

// Addresses that a peer could reach, IPv4 first: they make routable GIDs on RoCE.
std::vector<SocketAddress> LocalAddresses() {
  std::vector<SocketAddress> ipv4;
  std::vector<SocketAddress> ipv6;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    SocketAddress address;
    if (entry->ifa_addr->sa_family == AF_INET) {
      address.length = sizeof(sockaddr_in);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      address.length = sizeof(sockaddr_in6);
    } else {
      continue;
    }
    std::memcpy(&address.storage, entry->ifa_addr, address.length);
    (address.length == sizeof(sockaddr_in) ? ipv4 : ipv6).push_back(address);
  }
  ipv4.insert(ipv4.end(), ipv6.begin(), ipv6.end());
  return ipv4;
}

std::string GidText(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET6, gid.raw, text, sizeof(text)) == nullptr ? "" : text;
}

std::int32_t GidIndex(ibv_context* context, std::uint8_t port, const ibv_gid& wanted, int table_size) {
  for (int i = 0; i < table_size; ++i) {
    ibv_gid gid{};
    if (ibv_query_gid(context, port, i, &gid) == 0 && std::memcmp(&gid, &wanted, sizeof(gid)) == 0) return i;
  }
  return -1;
}

std::string PortList(const std::vector<RdmaPort>& ports) {
  return absl::StrJoin(ports, ", ", [](std::string* out, const RdmaPort& port) {
    absl::StrAppend(out, port.device, " port ", port.port, " (", port.state, ")");
  });
}

absl::Status NotFound(const DeviceChoice& choice, const std::vector<RdmaPort>& ports) {
  if (ports.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: this host has no RDMA device; ", kWithoutDevice));
  }
  bool known = choice.device.empty();
  bool active = false;
  for (const RdmaPort& port : ports) {
    const bool chosen = choice.device.empty() || port.device == choice.device;
    known = known || chosen;
    active = active || (chosen && port.state == "active");
  }
  if (!known) {
    return absl::FailedPreconditionError(absl::StrCat("transport verbs: --device=", choice.device,
                                                      ": there is no such device; there are ", PortList(ports)));
  }
  if (!active) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: no port is active: ", PortList(ports),
                     "; bring its network interface up (ip link set DEV up), or check cable and subnet manager"));
  }
  if (!choice.address.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: --bind=", choice.address, ": no ",
                     choice.device.empty() ? "RDMA device" : choice.device.c_str(),
                     " has this address; `rdma link` and `ip address` show which have which, of ", PortList(ports)));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("transport verbs: ", choice.device.empty() ? "no RDMA device" : choice.device.c_str(),
                   choice.device.empty() ? " has" : " has no",
                   " an IP address, which connections are made by; give "
                   "its network interface one (ip address add ADDRESS/LENGTH dev DEV). There are ",
                   PortList(ports)));
}

}  // namespace

std::string VerbsDeviceInfo::Describe() const {
  return absl::StrCat(device, " port ", port, " (", link_layer, ") at ", address, ", GID ",
                      gid_index < 0 ? "?" : absl::StrCat(gid_index), " ", gid, ", MTU ", mtu_bytes, " B");
}

absl::StatusOr<std::shared_ptr<VerbsDevice>> VerbsDevice::Open(const DeviceChoice& choice) {
  std::vector<SocketAddress> addresses;
  if (choice.address.empty()) {
    addresses = LocalAddresses();
  } else {
    absl::StatusOr<std::vector<SocketAddress>> resolved = ResolveAddress(choice.address, 0);
    if (!resolved.ok()) return resolved.status();
    addresses = *std::move(resolved);
  }
  const std::vector<RdmaPort> ports = ListRdmaPorts();
  if (ports.empty()) return NotFound(choice, ports);
  std::shared_ptr<VerbsDevice> device(new VerbsDevice);
  device->events_ = rdma_create_event_channel();
  if (device->events_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("transport verbs: rdma_cm is not available (", strerror(errno),
                                                      "); load its kernel module: modprobe rdma_ucm"));
  }
  for (SocketAddress& address : addresses) {
    if (rdma_create_id(device->events_, &device->anchor_, nullptr, RDMA_PS_TCP) != 0) {
      return absl::ResourceExhaustedError(absl::StrCat("transport verbs: rdma_cm gives no endpoint: ", strerror(errno),
                                                       "; see ulimit -n and ulimit -l"));
    }
    const bool bound = rdma_bind_addr(device->anchor_, reinterpret_cast<sockaddr*>(&address.storage)) == 0;
    ibv_context* const context = bound ? device->anchor_->verbs : nullptr;
    if (context != nullptr && (choice.device.empty() || choice.device == ibv_get_device_name(context->device))) {
      device->info_.address = HostOf(address);
      if (absl::Status status = device->Describe(); !status.ok()) return status;
      return device;
    }
    rdma_destroy_id(std::exchange(device->anchor_, nullptr));
  }
  return NotFound(choice, ports);
}

// Fills in info_ and allocates the protection domain.
absl::Status VerbsDevice::Describe() {
  ibv_context* const verbs = context();
  info_.device = ibv_get_device_name(verbs->device);
  info_.port = anchor_->port_num;
  ibv_device_attr device{};
  ibv_port_attr port{};
  int error = ibv_query_device(verbs, &device);
  if (error == 0) error = ibv_query_port(verbs, anchor_->port_num, &port);
  if (error != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: cannot examine ", info_.device, ": ", strerror(error)));
  }
  const RdmaPort described = DescribePort(*verbs, anchor_->port_num, port);
  if (described.state != "active") return NotFound({.device = info_.device, .address = ""}, {described});
  info_.link_layer = described.link_layer;
  const ibv_gid& gid = anchor_->route.addr.addr.ibaddr.sgid;
  info_.gid = GidText(gid);
  info_.gid_index = GidIndex(verbs, anchor_->port_num, gid, port.gid_tbl_len);
  info_.mtu_bytes = 128U << port.active_mtu;  // IBV_MTU_256 is 1
  info_.is_iwarp = verbs->device->transport_type == IBV_TRANSPORT_IWARP;
  info_.max_queue_pairs = static_cast<std::uint32_t>(device.max_qp);
  info_.max_queue_depth = static_cast<std::uint32_t>(device.max_qp_wr);
  info_.max_completions = static_cast<std::uint32_t>(device.max_cqe);
  protection_domain_ = ibv_alloc_pd(verbs);
  if (protection_domain_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("transport verbs: ", info_.device, " gives no protection domain: ", strerror(errno)));
  }
  return absl::OkStatus();
}

VerbsDevice::~VerbsDevice() {
  if (protection_domain_ != nullptr) ibv_dealloc_pd(protection_domain_);
  if (anchor_ != nullptr) rdma_destroy_id(anchor_);
  if (events_ != nullptr) rdma_destroy_event_channel(events_);
}

ibv_context* VerbsDevice::context() const { return anchor_->verbs; }

}  // namespace glaive::rdma
