// DeviceCounters: what an RDMA device counted of trouble: retransmissions, packets out of sequence, congestion
// notifications.
//
// Reads /sys/class/infiniband/DEVICE/ports/PORT/{hw_counters,counters}. Every driver has its own names and they stay as
// they are, so that the vendor's manual explains them. Counters of plain traffic (packets, bytes, requests) are left
// out. siw has no counters.
//
//   const DeviceCounters before = ReadDeviceCounters("rxe0", 1);
//   ...
//   for (const auto& [name, count] : ChangesSince(before, ReadDeviceCounters("rxe0", 1))) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace glaive::bench {

/// By name, of one port.
using DeviceCounters = std::map<std::string, std::uint64_t>;

/// The counters as they are now; those that cannot be read are left out. `root` is where the kernel lists devices.
DeviceCounters ReadDeviceCounters(const std::string& device, std::uint32_t port,
                                  const std::filesystem::path& root = "/sys/class/infiniband");

/// By how much counters have changed, those alone that have. One that was reset meanwhile is left out.
DeviceCounters ChangesSince(const DeviceCounters& before, const DeviceCounters& after);

/// What one end reports of its device.
struct EndCounters {
  std::string device;  ///< host and name: two ends may have the same
  DeviceCounters changes;

  /// For another process.
  std::string Encode() const;
  /// InvalidArgument if `text` is not of Encode.
  static absl::StatusOr<EndCounters> Decode(std::string_view text);
};

/// The changes at the receiver's device as "receiver:NAME", and the sums over the senders' other devices as
/// "senders:NAME". The first of `ends` is the receiver. A device of several ends counts once.
DeviceCounters Collect(std::span<const EndCounters> ends);

}  // namespace glaive::bench
