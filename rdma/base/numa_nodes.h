// NumaNodes: the NUMA nodes of this host, which processors belong to each, and how far they are from each other.
//
// Read from /sys/devices/system/node, once; a plain value after that. A host whose kernel has no NUMA support has none.
//
//   const NumaNodes numa = NumaNodes::Read();
//   if (const std::optional<int> near = NumaNodeOfDevice("mlx5_0")) cpus = numa.NearestFirst(cpus, *near);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace glaive {

class NumaNodes {
 public:
  /// `root` is put before /sys, for tests.
  static NumaNodes Read(const std::string& root = "");

  /// Whether more than one node has processors. With one, all processors are equally near to all memory and devices.
  bool are_several() const;
  /// The node of a processor; absent if no node lists it.
  std::optional<int> NodeOf(int cpu) const;
  /// The kernel's distance from one node to another: 10 from a node to itself, and more to others.
  int Distance(int from, int to) const;

  /// The processors by their distance from `node`, those of one node together and in their order. Processors of no node
  /// come last.
  std::vector<int> NearestFirst(std::vector<int> cpus, int node) const;

  /// "8, 9 (NUMA node 1), 0 (NUMA node 0)"; without the nodes where there are not several.
  std::string Describe(std::span<const int> cpus) const;

 private:
  struct Node {
    int number = 0;
    std::vector<int> cpus;
    std::vector<int> distances;  // to all nodes, in their order here
  };

  std::vector<Node> nodes_;  // by number
};

/// The NUMA node that an RDMA device is attached to. Absent where the kernel names none, as for Soft-RoCE. `root` is
/// put before /sys, for tests.
std::optional<int> NumaNodeOfDevice(const std::string& device, const std::string& root = "");

}  // namespace glaive
