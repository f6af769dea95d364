#include "rdma/mesh/mesh_memory.h"

#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "rdma/mesh/executor_mesh.h"

namespace glaive::rdma {
namespace {

constexpr std::uint64_t kPage = 4096;

// Nodes on hosts of their own.
MeshOptions Options(std::uint32_t executors_per_node, std::uint32_t nodes, std::uint32_t credits, Arrival arrival) {
  MeshOptions options;
  options.executors_per_node = executors_per_node;
  options.executor_count = executors_per_node * nodes;
  options.channel.credits = credits;
  options.arrival = arrival;
  for (std::uint32_t node = 0; node < nodes; ++node) options.host_of_node.push_back(node);
  return options;
}

TEST(ArrivalMemoryBytes, IsOfCreditWordsAndQueuesOverEachKind) {
  // 15 peers of the node and 4,080 others, each with a credit word of 64 bytes. The queues have places of 8 bytes for
  // 60 and 16,320 values, rounded up to powers of two, behind a head of 128 bytes. All are rounded up to pages.
  const std::uint64_t words = kPage + 64 * kPage;
  const std::uint64_t queue_of_node = kPage;
  const std::uint64_t queue_of_hosts = 16'384 * 8 + kPage;
  EXPECT_EQ(ArrivalMemoryBytes(Options(16, 256, 2, Arrival::kImmediate)), words + queue_of_node + queue_of_hosts);
}

TEST(ArrivalMemoryBytes, HasNoQueueForMessagesThatArePolled) {
  const std::uint64_t words = kPage + 64 * kPage;
  const MeshOptions options = Options(16, 256, 2, Arrival::kChecksum);
  EXPECT_EQ(ArrivalMemoryBytes(options), words + kPage + options.channel.slot_bytes)
      << "in the node they are not polled, and those that are may be copied";
}

TEST(ArrivalMemoryBytes, IsNothingForOneExecutor) {
  EXPECT_EQ(ArrivalMemoryBytes(Options(1, 1, 8, Arrival::kImmediate)), 0U);
}

TEST(ArrivalMemoryBytes, IsWhatAMeshMapsBesideRingsAndSegments) {
  MeshOptions options = Options(10, 20, 4, Arrival::kImmediate);
  options.host_of_node.clear();       // shared memory joins the nodes
  options.channel.slot_bytes = 1024;  // a ring is a page then
  const std::unique_ptr<ExecutorMesh> mesh = ExecutorMesh::Prepare(options, 1).value();
  std::uint64_t exposed_bytes = 0;
  std::uint64_t queue_bytes = 0;
  for (const RegionReport& region : mesh->regions()) {
    if (region.what.starts_with("rings")) exposed_bytes += region.size_bytes;
  }
  for (const Exposure& exposure : mesh->descriptor().exposures) queue_bytes += exposure.region.size_bytes;
  queue_bytes -= exposed_bytes;
  EXPECT_GT(queue_bytes, 0U);
  EXPECT_EQ(ArrivalMemoryBytes(options), exposed_bytes - mesh->ring_bytes() + queue_bytes);
}

}  // namespace
}  // namespace glaive::rdma
