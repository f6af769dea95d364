// DeviceHealth: the state of a device's port and queue pairs, by its asynchronous events (ibv_get_async_event(3)).
//
// In a run, a port that is down counts as a failure after kPortPatienceNanos, since a link that trains again in that
// time costs only some retries. If writes have failed, it counts at once. While connections are made it is no failure,
// since they are tried until the join timeout. Plain state without a device, so that it can be tested. Owned and locked
// by a VerbsDevice.
//
//   health.OnPortDown(1, now_ns);
//   if (absl::Status failure = health.Failure(later_ns, writes_have_failed); !failure.ok()) return failure;
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace glaive::rdma {

/// See the head of this file.
class DeviceHealth {
 public:
  static constexpr std::int64_t kPortPatienceNanos = 500'000'000;

  DeviceHealth() = default;
  /// Of other ports than `port` nothing is noted.
  DeviceHealth(std::string device, std::uint32_t port) : device_(std::move(device)), port_(port) {}

  void OnPortDown(std::uint32_t port, std::int64_t now_ns);
  void OnPortUp(std::uint32_t port);
  /// Nothing on the device goes on. The first reason stays.
  void OnFatal(const std::string& reason);
  /// The queue pair of that number has failed.
  void OnQueuePairError(std::uint32_t number, const absl::Status& error);

  /// FailedPrecondition: what is wrong with the whole device, now and ever after; a port that is down, until it is up.
  absl::Status Failure(std::int64_t now_ns, bool writes_have_failed) const;
  /// The same without the port.
  absl::Status Fatal() const;
  /// FailedPrecondition: the port is down, for however short a time.
  absl::Status PortDown() const;
  bool has_queue_pair_errors() const { return !queue_pair_errors_.empty(); }
  /// The first error of a queue pair, once.
  std::optional<absl::Status> TakeQueuePairError(std::uint32_t number);

 private:
  std::string device_;
  std::uint32_t port_ = 0;
  std::optional<std::int64_t> down_since_ns_;
  std::string fatal_;
  std::map<std::uint32_t, absl::Status> queue_pair_errors_;
};

}  // namespace glaive::rdma
