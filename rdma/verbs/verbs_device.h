// VerbsDevice: an RDMA device as a node uses it, opened at one of its addresses, with one protection domain.
//
// The executors of a node share it, and its protection domain: a queue pair of one may write into the memory of all.
// Made before the executors start; afterwards any thread may use it. It outlives all objects that were made on it
// (transports hold it by shared_ptr). All objects for one device in a process share its asynchronous events, so there
// should be one.
//
// Addresses are those of rdma_cm: a RoCE or iWARP device has those of its network interface, an InfiniBand port those
// of its IPoIB interface.
//
//   absl::StatusOr<std::shared_ptr<VerbsDevice>> device = VerbsDevice::Open({.device = "rxe0"});
//   std::cout << (*device)->info().Describe() << "\n";
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/steady_clock.h"
#include "rdma/verbs/connect_failures.h"
#include "rdma/verbs/connection_settings.h"
#include "rdma/verbs/device_choice.h"
#include "rdma/verbs/device_health.h"

struct ibv_context;
struct ibv_pd;
struct rdma_event_channel;
struct rdma_cm_id;

namespace glaive::rdma {

/// What was found.
struct VerbsDeviceInfo {
  std::string device;
  std::string driver;  ///< of the kernel: see DriverOf
  std::uint32_t port = 0;
  std::string address;           ///< numeric, without a port
  std::string gid;               ///< of that address, as an IPv6 address
  std::int32_t gid_index = -1;   ///< in the port's table, of RoCE v2 if it is there; -1: not found there
  std::string gid_type;          ///< "RoCE v2", "RoCE v1", "InfiniBand" or empty
  std::uint32_t mtu_bytes = 0;   ///< active_mtu of the port
  std::string link_layer;        ///< "InfiniBand", "Ethernet" or "unspecified"
  std::optional<int> numa_node;  ///< that it is attached to; absent: unknown, or the host has one
  bool is_iwarp = false;
  bool has_thread_domains = false;  ///< each executor has its own: see thread_domain.h
  std::uint32_t max_queue_pairs = 0;
  std::uint32_t max_queue_depth = 0;  ///< work requests of one queue pair
  std::uint32_t max_completions = 0;  ///< entries of one completion queue
  std::uint32_t max_receives = 0;     ///< work requests of one shared receive queue; 0: the device has none
  std::uint8_t ack_timeout_exponent = kDefaultAckTimeoutExponent;  ///< of all queue pairs; iWARP has TCP's instead

  /// Whether messages can arrive by Arrival::kImmediate: iWARP has no WRITE with an immediate value.
  bool has_immediates() const { return !is_iwarp && max_receives > 0; }

  /// "mlx5_0 port 1 (Ethernet) at 10.0.0.1, GID 1 ::ffff:10.0.0.1 (RoCE v2), MTU 4096 B, ACK timeout 67.1 ms,
  /// thread domains, NUMA node 0"; or "no thread domains". The NUMA node is left out where it is absent.
  std::string Describe() const;
};

/// See the head of this file.
class VerbsDevice {
 public:
  /// The first device, in the order of OrderAddresses, that fits `choice` and whose port is active. FailedPrecondition
  /// when there is none: see NoUsableDevice.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> Open(const DeviceChoice& choice);

  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;
  ~VerbsDevice();

  const VerbsDeviceInfo& info() const { return info_; }
  const ConnectionSettings& connections() const { return connections_; }
  ibv_context* context() const;
  ibv_pd* protection_domain() const { return protection_domain_; }

  /// Of the connections that are made over it.
  ConnectFailures& connect_failures() { return connect_failures_; }

  /// A system call.
  bool PortIsActive() const;
  /// Takes in the device's asynchronous events. FailedPrecondition: what is wrong with the whole device, on each call;
  /// where writes have failed also a port that has just gone down. A system call or two.
  absl::Status PollFailure(bool writes_have_failed);
  /// The same while connections are made, when a port that is down is waited for.
  absl::Status PollFatal();
  /// FailedPrecondition: the port is down, as of the last call of one of these two.
  absl::Status PortDown();
  /// Whether the device has reported errors of queue pairs that were not taken yet.
  bool HasQueuePairErrors();
  /// What the device has reported of a queue pair, once: see QueuePairFailure.
  std::optional<absl::Status> TakeQueuePairError(std::uint32_t number);

 private:
  VerbsDevice() = default;

  absl::Status OpenEvents();
  void TakeInEvents();  // with health_mutex_ held
  absl::StatusOr<bool> TryAddress(SocketAddress address, const DeviceChoice& choice);
  absl::StatusOr<bool> Describe();

  rdma_event_channel* events_ = nullptr;
  rdma_cm_id* anchor_ = nullptr;  // bound to the address; keeps the device open
  ibv_pd* protection_domain_ = nullptr;
  ConnectionSettings connections_;
  ConnectFailures connect_failures_;
  VerbsDeviceInfo info_;
  std::mutex health_mutex_;
  DeviceHealth health_;  // guarded by health_mutex_
  SteadyClock clock_;
};

}  // namespace glaive::rdma
