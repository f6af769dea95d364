// DeviceChoice: chooses which of a host's RDMA devices a node uses, orders the addresses to be tried, and makes the
// error if no device can be used.
//
// Free functions of plain values, so that hosts with other devices than the present one can be tested.
//
//   for (const InterfaceAddress& address : OrderAddresses(ListInterfaceAddresses(), near)) ...
//   return NoUsableDevice(choice, ListRdmaPorts());
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "rdma/base/address.h"
#include "rdma/verbs/connection_settings.h"
#include "rdma/verbs/devices.h"

namespace glaive::rdma {

/// Which device, and how its connections are made. Without a device and an address: the first with an active port and
/// an address, those near `near` first.
struct DeviceChoice {
  std::string device{};   ///< name, as `rdma link` and `ibv_devices` show it
  std::string address{};  ///< an IP address of this host
  std::string near{};     ///< a host to which this one has a connection, for instance the coordinator's; may be empty
  ConnectionSettings connections{};
};

/// An address of a network interface of this host.
struct InterfaceAddress {
  SocketAddress address;
  SocketAddress netmask;  ///< of the same family
};

/// Those that a peer can reach: no loopback, nothing link-local.
std::vector<InterfaceAddress> ListInterfaceAddresses();

/// First the addresses whose subnet holds one of `near`, then those of the same family as one of them, then the others;
/// among equals IPv4 first, which makes routable GIDs on RoCE, and else the order of the list.
std::vector<InterfaceAddress> OrderAddresses(std::vector<InterfaceAddress> addresses,
                                             const std::vector<SocketAddress>& near);

/// FailedPrecondition: why none of these ports can be used for `choice`, with all that there are and what to do.
absl::Status NoUsableDevice(const DeviceChoice& choice, const std::vector<RdmaPort>& ports);

}  // namespace glaive::rdma
