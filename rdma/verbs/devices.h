// The RDMA devices of this host, for the start banner and the results. The one place that includes verbs.
//
//   for (const RdmaPort& port : ListRdmaPorts()) std::cout << port.device << " " << port.state << "\n";
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct ibv_context;
struct ibv_port_attr;

namespace glaive::rdma {

/// One port of an RDMA device.
struct RdmaPort {
  std::string device;           ///< "mlx5_0", "rxe0"
  std::uint32_t port = 1;       ///< from 1
  std::string state;            ///< "active", "down", "init", "armed", or "unreadable" with the reason
  std::string link_layer;       ///< "InfiniBand", "Ethernet" or "unspecified"
  bool has_connections = true;  ///< whether rdma_cm makes reliable connections there: InfiniBand, RoCE and iWARP
};

/// The port of that number of an open device, as ibv_query_port found it.
RdmaPort DescribePort(const ibv_context& context, std::uint8_t number, const ibv_port_attr& attributes);

/// All ports of all devices; empty where the host has none or its kernel no RDMA. Opens each device for a moment.
std::vector<RdmaPort> ListRdmaPorts();

}  // namespace glaive::rdma
