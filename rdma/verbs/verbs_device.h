// VerbsDevice: an RDMA device as a node uses it, opened at one of its addresses, with one protection domain.
//
// The executors of a node share it: a peer's queue pair to one of them writes into the memory of all of them. Made
// before the executors start; afterwards it is only read, so any thread may use it. It outlives all that was made on it
// (transports hold it by shared_ptr).
//
// Addresses are those of rdma_cm: a RoCE or iWARP device has those of its network interface, an InfiniBand port those
// of its IPoIB interface.
//
//   absl::StatusOr<std::shared_ptr<VerbsDevice>> device = VerbsDevice::Open({.device = "rxe0"});
//   std::cout << (*device)->info().Describe() << "\n";
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct ibv_context;
struct ibv_pd;
struct rdma_event_channel;
struct rdma_cm_id;

namespace glaive::rdma {

/// Which device; both empty: the first with an active port and an address.
struct DeviceChoice {
  std::string device;   ///< name, as `rdma link` and `ibv_devices` show it
  std::string address;  ///< an IP address of this host
};

/// What was found.
struct VerbsDeviceInfo {
  std::string device;
  std::uint32_t port = 0;
  std::string address;          ///< numeric, without a port
  std::string gid;              ///< of that address, as an IPv6 address
  std::int32_t gid_index = -1;  ///< in the port's table; -1: not found there
  std::uint32_t mtu_bytes = 0;  ///< active_mtu of the port
  std::string link_layer;       ///< "InfiniBand", "Ethernet" or "unspecified"
  bool is_iwarp = false;
  std::uint32_t max_queue_pairs = 0;
  std::uint32_t max_queue_depth = 0;  ///< work requests of one queue pair
  std::uint32_t max_completions = 0;  ///< entries of one completion queue

  /// "rxe0 port 1 (Ethernet) at 10.0.0.1, GID 1 ::ffff:10.0.0.1, MTU 4096 B".
  std::string Describe() const;
};

/// See the head of this file.
class VerbsDevice {
 public:
  /// FailedPrecondition when the host has no device, no such device, the port is not active, the device has no address
  /// or the address no device; the message lists what there is and says what to do.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> Open(const DeviceChoice& choice);

  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;
  ~VerbsDevice();

  const VerbsDeviceInfo& info() const { return info_; }
  ibv_context* context() const;
  ibv_pd* protection_domain() const { return protection_domain_; }

 private:
  VerbsDevice() = default;

  absl::Status Describe();

  rdma_event_channel* events_ = nullptr;
  rdma_cm_id* anchor_ = nullptr;  // bound to the address; keeps the device open
  ibv_pd* protection_domain_ = nullptr;
  VerbsDeviceInfo info_;
};

}  // namespace glaive::rdma
