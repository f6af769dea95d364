#include "engine/cluster/transport_plan.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "rdma/base/address.h"

namespace glaive::engine {
namespace {

using rdma::TransportKind;

// The host of each node, as a number.
std::vector<std::uint32_t> NumberHosts(const std::vector<rdma::Member>& members) {
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> host_of_node;
  for (const rdma::Member& member : members) {
    const auto found = std::find(hosts.begin(), hosts.end(), member.host_id);
    host_of_node.push_back(static_cast<std::uint32_t>(found - hosts.begin()));
    if (found == hosts.end()) {
      hosts.push_back(member.host_id);
    }
  }
  return host_of_node;
}

// An address that names one interface: not every interface, and not the one inside the host.
bool NamesAnInterface(const std::string& host) {
  return host != "0.0.0.0" && host != "::" && host != "::1" && host != "localhost" && !absl::StartsWith(host, "127.");
}

}  // namespace

void TransportPlan::ApplyTo(rdma::MeshOptions& mesh) const {
  mesh.same_node = same_node;
  mesh.same_host = same_host;
  mesh.other_hosts = other_hosts;
  mesh.host_of_node = host_of_node;
}

std::uint32_t TransportPlan::NodesOnHostOf(NodeId node) const {
  return static_cast<std::uint32_t>(std::count(host_of_node.begin(), host_of_node.end(), host_of_node[Value(node)]));
}

std::uint32_t TransportPlan::NodesBefore(NodeId node, const std::vector<std::string>& places) const {
  std::uint32_t count = 0;
  for (std::size_t other = 0; other < Value(node); ++other) {
    const bool is_neighbour = host_of_node[other] == host_of_node[Value(node)] && places[other] == places[Value(node)];
    count += is_neighbour ? 1 : 0;
  }
  return count;
}

absl::StatusOr<TransportPlan> PlanTransports(TransportChoice choice, const std::vector<rdma::Member>& members) {
  TransportPlan plan;
  plan.host_of_node = NumberHosts(members);
  const std::size_t nodes = members.size();
  const std::uint32_t hosts = 1 + *std::max_element(plan.host_of_node.begin(), plan.host_of_node.end());
  switch (choice) {
    case TransportChoice::kLocal:
      if (nodes > 1) {
        return absl::InvalidArgumentError(
            "--transport=local joins the executors of one process: use --nodes=1, or --transport=auto");
      }
      plan.reason = "local: asked for";
      return plan;
    case TransportChoice::kShm:
      if (hosts > 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--transport=shm reaches only processes of one host (the same kernel and pid namespace), but the nodes run "
            "on ",
            hosts, ": use --transport=auto or verbs, or start all ranks on one host"));
      }
      plan.same_node = TransportKind::kShm;
      plan.reason = "shm: asked for";
      return plan;
    case TransportChoice::kVerbs:
      plan.same_node = nodes == 1 ? TransportKind::kVerbs : TransportKind::kLocal;
      plan.same_host = TransportKind::kVerbs;
      plan.needs_device = true;
      plan.reason = "verbs: asked for";
      return plan;
    case TransportChoice::kAuto:
      plan.needs_device = hosts > 1;
      if (nodes == 1) {
        plan.reason = "local: there is one node";
      } else if (hosts == 1) {
        plan.reason = absl::StrCat("shm: all ", nodes, " nodes are on one host");
      } else if (hosts == nodes) {
        plan.reason = absl::StrCat("verbs: each of the ", nodes, " nodes is on a host of its own");
      } else {
        plan.reason = absl::StrCat("verbs between the ", hosts, " hosts, shm between the nodes of one");
      }
      return plan;
  }
  return absl::InternalError("unknown --transport");
}

std::string DescribeDevices(const std::vector<std::string>& device_of_node) {
  std::map<std::string, std::vector<std::size_t>> nodes_of;
  for (std::size_t node = 0; node < device_of_node.size(); ++node) {
    nodes_of[device_of_node[node]].push_back(node);
  }
  std::vector<std::string> lines;
  for (const auto& [device, nodes] : nodes_of) {
    lines.push_back(
        absl::StrCat("  node", nodes.size() == 1 ? " " : "s ", absl::StrJoin(nodes, ", "), ": ", device, "\n"));
  }
  return absl::StrJoin(lines, "");
}

absl::StatusOr<rdma::Arrival> PlanArrival(ArrivalChoice choice, const std::vector<bool>& has_immediates) {
  const auto lacks = std::find(has_immediates.begin(), has_immediates.end(), false);
  if (choice == ArrivalChoice::kPoll || (choice == ArrivalChoice::kAuto && lacks != has_immediates.end())) {
    return rdma::Arrival::kChecksum;
  }
  if (lacks != has_immediates.end()) {
    return absl::InvalidArgumentError(absl::StrCat("--arrival=imm: the device of node ", lacks - has_immediates.begin(),
                                                   " has no WRITE with an immediate value or no shared receive queues; "
                                                   "use --arrival=poll or auto"));
  }
  return rdma::Arrival::kImmediate;
}

bool PlanRelaxedOrdering(RelaxedOrderingChoice choice, const rdma::VerbsDeviceInfo& device, bool pays) {
  if (choice == RelaxedOrderingChoice::kAuto) return pays && !device.is_iwarp;
  return choice == RelaxedOrderingChoice::kOn;
}

std::string RelaxedOrderingCaveat(RelaxedOrderingChoice choice, const rdma::VerbsDeviceInfo& device) {
  if (choice != RelaxedOrderingChoice::kOn || !device.is_iwarp) return "";
  return absl::StrCat("--relaxed-ordering=on lets ", device.device,
                      " place bytes out of order, and over iWARP a write completes before its bytes are in place: a "
                      "message may stay damaged, which ends the run; --relaxed-ordering=auto leaves it off there");
}

std::string DescribeDevice(const rdma::VerbsDeviceInfo& device, bool relaxed_ordering) {
  return absl::StrCat(device.Describe(), relaxed_ordering ? ", relaxed ordering" : ", strict ordering");
}

std::string DescribePlacementWaits(std::uint64_t waits) {
  if (waits == 0) return "";
  return absl::StrCat(
      waits == 1 ? "the last byte of 1 message was" : absl::StrCat("the last bytes of ", waits, " messages were"),
      " in place before the rest (placement_waits): the device or the fabric places bytes out of order; "
      "the rows are right, and --arrival=imm saves the waits where the device has it");
}

absl::StatusOr<rdma::DeviceChoice> ChooseDevice(const ClusterOptions& options, const std::string& local_address) {
  rdma::DeviceChoice choice{
      .device = options.device,
      .connections = {.join_timeout = options.join_timeout, .peer_timeout = options.peer_timeout}};
  if (options.rdma_tos.has_value()) {
    choice.connections.tos = static_cast<std::uint8_t>(*options.rdma_tos);
  }
  if (!options.bind.empty()) {
    const absl::StatusOr<rdma::HostPort> bind = rdma::ParseHostMaybePort(options.bind);
    if (!bind.ok()) {
      return bind.status();
    }
    if (NamesAnInterface(bind->host)) {
      choice.address = bind->host;
    }
  }
  if (!options.coordinator.empty()) {
    const absl::StatusOr<rdma::HostPort> coordinator = rdma::ParseHostPort(options.coordinator);
    if (!coordinator.ok()) {
      return coordinator.status();
    }
    if (NamesAnInterface(coordinator->host)) {
      choice.near = coordinator->host;
    }
  }
  if (!local_address.empty() && NamesAnInterface(local_address)) {
    choice.near = local_address;
  }
  return choice;
}

absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& options,
                                                              const std::string& local_address) {
  const absl::StatusOr<rdma::DeviceChoice> choice = ChooseDevice(options, local_address);
  if (!choice.ok()) {
    return choice.status();
  }
  return rdma::VerbsDevice::Open(*choice);
}

}  // namespace glaive::engine
