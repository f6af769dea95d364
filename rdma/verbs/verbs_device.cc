#include "rdma/verbs/verbs_device.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rdma/base/address.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/numa_nodes.h"
#include "rdma/verbs/data_order.h"
#include "rdma/verbs/device_event.h"
#include "rdma/verbs/devices.h"
#include "rdma/verbs/gid_table.h"
#include "rdma/verbs/thread_domain.h"

namespace glaive::rdma {
namespace {

// Where to try, in order. A name of `choice.near` that cannot be looked up changes nothing.
absl::StatusOr<std::vector<SocketAddress>> AddressesOf(const DeviceChoice& choice) {
  if (!choice.address.empty()) return ResolveAddress(choice.address, 0);
  const absl::StatusOr<std::vector<SocketAddress>> near =
      choice.near.empty() ? std::vector<SocketAddress>() : ResolveAddress(choice.near, 0);
  std::vector<SocketAddress> addresses;
  for (const InterfaceAddress& local :
       OrderAddresses(ListInterfaceAddresses(), near.ok() ? *near : std::vector<SocketAddress>())) {
    addresses.push_back(local.address);
  }
  return addresses;
}

}  // namespace

std::string VerbsDeviceInfo::Describe() const {
  const std::string type = gid_type.empty() ? "" : absl::StrCat(" (", gid_type, ")");
  const double ack_ms = absl::ToDoubleMilliseconds(AckTimeout(ack_timeout_exponent));
  return absl::StrCat(device, " port ", port, " (", link_layer, ") at ", address, ", GID ",
                      gid_index < 0 ? "?" : absl::StrCat(gid_index), " ", gid, type, ", MTU ", mtu_bytes, " B",
                      is_iwarp ? "" : absl::StrFormat(", ACK timeout %.3g ms", ack_ms),
                      has_thread_domains ? ", thread domains" : ", no thread domains",
                      numa_node.has_value() ? absl::StrCat(", NUMA node ", *numa_node) : "");
}

absl::StatusOr<std::shared_ptr<VerbsDevice>> VerbsDevice::Open(const DeviceChoice& choice) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses = AddressesOf(choice);
  if (!addresses.ok()) return addresses.status();
  const std::vector<RdmaPort> ports = ListRdmaPorts();
  if (ports.empty()) return NoUsableDevice(choice, ports);
  std::shared_ptr<VerbsDevice> device(new VerbsDevice);
  device->connections_ = choice.connections;
  device->events_ = rdma_create_event_channel();
  if (device->events_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("transport verbs: rdma_cm is not available: ",
                                                      ErrorText(errno, "load its kernel module: modprobe rdma_ucm")));
  }
  for (const SocketAddress& address : *addresses) {
    const absl::StatusOr<bool> usable = device->TryAddress(address, choice);
    if (!usable.ok()) return usable.status();
    if (!*usable) continue;
    absl::Status status = device->OpenEvents();
    if (!status.ok()) return status;
    return device;
  }
  return NoUsableDevice(choice, ports);
}

// Whether the device with this address fits and its port is active; then it is described.
absl::StatusOr<bool> VerbsDevice::TryAddress(SocketAddress address, const DeviceChoice& choice) {
  if (rdma_create_id(events_, &anchor_, nullptr, RDMA_PS_TCP) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("transport verbs: rdma_cm gives no endpoint: ", strerror(errno), "; see ulimit -n and ulimit -l"));
  }
  const bool bound = rdma_bind_addr(anchor_, reinterpret_cast<sockaddr*>(&address.storage)) == 0;
  const ibv_context* const verbs = bound ? context() : nullptr;
  if (verbs != nullptr && (choice.device.empty() || choice.device == ibv_get_device_name(verbs->device))) {
    info_.address = FormatHost(address);
    absl::StatusOr<bool> active = Describe();
    if (!active.ok() || *active) return active;
  }
  rdma_destroy_id(std::exchange(anchor_, nullptr));
  return false;
}

// Fills in info_ and allocates the protection domain. False, and neither, if the port is not active.
absl::StatusOr<bool> VerbsDevice::Describe() {
  ibv_context* const verbs = context();
  info_.device = ibv_get_device_name(verbs->device);
  info_.driver = DriverOf(info_.device);
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
  if (described.state != "active") return false;
  info_.link_layer = described.link_layer;
  Gid gid{};
  std::memcpy(gid.data(), anchor_->route.addr.addr.ibaddr.sgid.raw, gid.size());
  info_.gid = Format(gid);
  const auto most_gids = static_cast<std::size_t>(device.phys_port_cnt) * static_cast<std::size_t>(port.gid_tbl_len);
  const std::vector<GidEntry> gids = ReadGidTable(verbs, most_gids);
  const GidEntry* const found = FindGid(gids, anchor_->port_num, gid);
  info_.gid_index = found == nullptr ? -1 : found->index;
  info_.gid_type = found == nullptr ? "" : Name(found->type);
  info_.mtu_bytes = 128U << port.active_mtu;  // IBV_MTU_256 is 1
  info_.numa_node = NumaNodes::Read().are_several() ? NumaNodeOfDevice(info_.device) : std::nullopt;
  info_.is_iwarp = verbs->device->transport_type == IBV_TRANSPORT_IWARP;
  info_.max_queue_pairs = static_cast<std::uint32_t>(device.max_qp);
  info_.max_queue_depth = static_cast<std::uint32_t>(device.max_qp_wr);
  info_.max_completions = static_cast<std::uint32_t>(device.max_cqe);
  info_.max_receives = device.max_srq > 0 ? static_cast<std::uint32_t>(device.max_srq_wr) : 0;
  info_.ack_timeout_exponent = AckTimeoutExponent(connections_.peer_timeout);
  protection_domain_ = ibv_alloc_pd(verbs);
  if (protection_domain_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("transport verbs: ", info_.device, " gives no protection domain: ", strerror(errno)));
  }
  info_.has_thread_domains = ThreadDomain(verbs, protection_domain_).is_own();
  return true;
}

// Events are taken without waiting for them.
absl::Status VerbsDevice::OpenEvents() {
  health_ = DeviceHealth(info_.device, info_.port);
  const int fd = context()->async_fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("transport verbs: the events of ", info_.device, " cannot be read: ", strerror(errno)));
}

void VerbsDevice::TakeInEvents() {
  ibv_async_event event{};
  while (ibv_get_async_event(context(), &event) == 0) {
    TakeIn(PlainEvent(event), health_, clock_.NowNanos());
    ibv_ack_async_event(&event);
  }
  if (errno != EAGAIN && errno != EINTR) health_.OnFatal("the device was removed from this host");
}

bool VerbsDevice::PortIsActive() const {
  ibv_port_attr port{};
  return ibv_query_port(context(), anchor_->port_num, &port) != 0 || port.state == IBV_PORT_ACTIVE;
}

absl::Status VerbsDevice::PollFailure(bool writes_have_failed) {
  const std::lock_guard lock(health_mutex_);
  TakeInEvents();
  // Writes may fail before the event of a port that goes down has come.
  if (writes_have_failed && !PortIsActive()) health_.OnPortDown(info_.port, clock_.NowNanos());
  return health_.Failure(clock_.NowNanos(), writes_have_failed);
}

absl::Status VerbsDevice::PollFatal() {
  const std::lock_guard lock(health_mutex_);
  TakeInEvents();
  return health_.Fatal();
}

absl::Status VerbsDevice::PortDown() {
  const std::lock_guard lock(health_mutex_);
  return health_.PortDown();
}

bool VerbsDevice::HasQueuePairErrors() {
  const std::lock_guard lock(health_mutex_);
  return health_.has_queue_pair_errors();
}

std::optional<absl::Status> VerbsDevice::TakeQueuePairError(std::uint32_t number) {
  const std::lock_guard lock(health_mutex_);
  return health_.TakeQueuePairError(number);
}

VerbsDevice::~VerbsDevice() {
  if (protection_domain_ != nullptr) ibv_dealloc_pd(protection_domain_);
  if (anchor_ != nullptr) rdma_destroy_id(anchor_);
  if (events_ != nullptr) rdma_destroy_event_channel(events_);
}

ibv_context* VerbsDevice::context() const { return anchor_->verbs; }

}  // namespace glaive::rdma
