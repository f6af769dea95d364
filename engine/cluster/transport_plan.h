// TransportPlan: which transport carries the channels between which executors of a run, and why.
//
// Every node comes to the same plan, from the shared flag --transport and from what the nodes know of each other's
// hosts. Pure functions, but for the device that OpenDevice opens.
//
//   absl::StatusOr<TransportPlan> plan = PlanTransports(options.cluster.transport, plane.members());
//   plan->ApplyTo(mesh_options);
//   std::cout << plan->reason << "\n";
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/flags/engine_options.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/mesh/mesh_options.h"
#include "rdma/verbs/verbs_device.h"

namespace glaive::engine {

/// See the head of this file.
struct TransportPlan {
  rdma::TransportKind same_node = rdma::TransportKind::kLocal;
  rdma::TransportKind same_host = rdma::TransportKind::kShm;
  rdma::TransportKind other_hosts = rdma::TransportKind::kVerbs;
  std::vector<std::uint32_t> host_of_node;  ///< hosts are numbered as they come first
  bool needs_device = false;
  std::string reason;  ///< for people: "shm: all 2 nodes are on one host"

  void ApplyTo(rdma::MeshOptions& mesh) const;
  /// How many of the run's nodes share `node`'s host, itself included.
  std::uint32_t NodesOnHostOf(NodeId node) const;
  /// How many of them have lower ranks and the place of `node`; `places` by node.
  std::uint32_t NodesBefore(NodeId node, const std::vector<std::string>& places) const;
};

/// InvalidArgument when `choice` cannot join these nodes; the message names another.
absl::StatusOr<TransportPlan> PlanTransports(TransportChoice choice, const std::vector<rdma::Member>& members);

/// The nodes' devices as rank 0 prints them: a line for each that differs, "  nodes 0, 1: rxe0 port 1 ...".
std::string DescribeDevices(const std::vector<std::string>& device_of_node);

/// How messages arrive. `has_immediates`: whether the device of each node has immediate values. kAuto: by them where
/// all have. InvalidArgument names a node whose device cannot do what was chosen.
absl::StatusOr<rdma::Arrival> PlanArrival(ArrivalChoice choice, const std::vector<bool>& has_immediates);

/// Whether this node's exposed memory has PCIe relaxed ordering. kAuto: if it pays on this host's processor
/// (rdma/verbs/relaxed_ordering.h), but not over iWARP, where a completed write tells nothing of the peer's memory.
bool PlanRelaxedOrdering(RelaxedOrderingChoice choice, const rdma::VerbsDeviceInfo& device, bool pays);

/// What a user should know who has chosen that for `device`; empty: nothing.
std::string RelaxedOrderingCaveat(RelaxedOrderingChoice choice, const rdma::VerbsDeviceInfo& device);

/// `device` and the order of its writes to memory, in words: "rxe0 port 1 ..., relaxed ordering", or "strict ordering".
std::string DescribeDevice(const rdma::VerbsDeviceInfo& device, bool relaxed_ordering);

/// A sentence for the user at the end of a run in which the last bytes of so many messages came before the rest. Empty
/// if there were none.
std::string DescribePlacementWaits(std::uint64_t waits);

/// The device and connection settings that --device, --bind, --coordinator, --rdma-tos and the time-outs ask for. Near
/// is `local_address`, of this node's connection to the coordinator. If that is empty or inside the host, near is
/// --coordinator.
absl::StatusOr<rdma::DeviceChoice> ChooseDevice(const ClusterOptions& options, const std::string& local_address);

/// Opens that device.
absl::StatusOr<std::shared_ptr<rdma::VerbsDevice>> OpenDevice(const ClusterOptions& options,
                                                              const std::string& local_address);

}  // namespace glaive::engine
