#include "rdma/verbs/devices.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include <infiniband/verbs.h>

namespace glaive::rdma {
namespace {

struct DeviceListDeleter {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
struct ContextDeleter {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};

std::string Unreadable(int error) { return absl::StrCat("unreadable: ", std::strerror(error)); }

std::string StateName(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
      return "init";
    case IBV_PORT_ARMED:
      return "armed";
    case IBV_PORT_ACTIVE:
      return "active";
    default:
      return "unknown";
  }
}

std::string LinkLayerName(std::uint8_t link_layer) {
  switch (link_layer) {
    case IBV_LINK_LAYER_INFINIBAND:
      return "InfiniBand";
    case IBV_LINK_LAYER_ETHERNET:
      return "Ethernet";
    default:
      return "unspecified";
  }
}

// EFA calls its transport unspecified, usNIC has its own.
bool HasConnections(const ibv_device& device) {
  return device.transport_type == IBV_TRANSPORT_IB || device.transport_type == IBV_TRANSPORT_IWARP;
}

void AppendPorts(ibv_device* device, std::vector<RdmaPort>& ports) {
  const std::string name = ibv_get_device_name(device);
  const std::unique_ptr<ibv_context, ContextDeleter> context(ibv_open_device(device));
  ibv_device_attr attributes{};
  if (context == nullptr || ibv_query_device(context.get(), &attributes) != 0) {
    ports.push_back({.device = name,
                     .port = 1,
                     .state = Unreadable(errno),
                     .link_layer = "unspecified",
                     .has_connections = HasConnections(*device)});
    return;
  }
  for (std::uint8_t number = 1; number <= attributes.phys_port_cnt; ++number) {
    ibv_port_attr port{};
    const int error = ibv_query_port(context.get(), number, &port);
    RdmaPort& described = ports.emplace_back(DescribePort(*context, number, port));
    if (error != 0) described.state = Unreadable(error);
  }
}

}  // namespace

RdmaPort DescribePort(const ibv_context& context, std::uint8_t number, const ibv_port_attr& attributes) {
  return {.device = ibv_get_device_name(context.device),
          .port = number,
          .state = StateName(attributes.state),
          .link_layer = LinkLayerName(attributes.link_layer),
          .has_connections = HasConnections(*context.device)};
}

std::vector<RdmaPort> ListRdmaPorts() {
  std::vector<RdmaPort> ports;
  int count = 0;
  const std::unique_ptr<ibv_device*, DeviceListDeleter> devices(ibv_get_device_list(&count));
  if (devices == nullptr) return ports;
  for (int i = 0; i < count; ++i) AppendPorts(devices.get()[i], ports);
  return ports;
}

}  // namespace glaive::rdma
