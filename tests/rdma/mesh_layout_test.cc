#include "rdma/mesh/mesh_layout.h"

#include <vector>

#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

constexpr std::size_t kRingBytes = 1536;

// Every peer of every executor has a place of its own, in exactly one region, inside it.
void ExpectPartition(const MeshOptions& options) {
  for (std::uint32_t owner = 0; owner < options.executor_count; ++owner) {
    MeshOptions own = options;
    own.self = ExecutorId{owner};
    std::vector<std::vector<bool>> taken(kTransportKinds);
    for (std::uint32_t peer = 0; peer < options.executor_count; ++peer) {
      if (peer == owner) continue;
      const TransportKind kind = own.KindTo(ExecutorId{peer});
      const MeshLayout layout(options, kRingBytes, ExecutorId{owner}, kind);
      std::vector<bool>& places = taken[static_cast<std::size_t>(kind)];
      places.resize(layout.peers());
      const std::uint32_t index = layout.IndexOf(ExecutorId{peer});
      ASSERT_LT(index, layout.peers());
      EXPECT_FALSE(places[index]) << owner << " " << peer;
      places[index] = true;
      EXPECT_LE(layout.CreditOffset(ExecutorId{peer}) + 64, layout.RingsOffset());
      EXPECT_LE(layout.RingOffset(ExecutorId{peer}) + kRingBytes, layout.size_bytes());
      EXPECT_EQ(layout.RingOffset(ExecutorId{peer}) % 64, 0U);
    }
    for (const std::vector<bool>& places : taken) {
      for (const bool place : places) EXPECT_TRUE(place);
    }
  }
}

TEST(MeshLayout, GivesEveryPeerAPlaceOfItsOwn) {
  for (const std::uint32_t executors_per_node : {1U, 2U, 3U, 5U}) {
    for (const std::uint32_t nodes : {1U, 2U, 4U}) {
      MeshOptions options;
      options.executors_per_node = executors_per_node;
      options.executor_count = executors_per_node * nodes;
      ExpectPartition(options);
      options.same_node = TransportKind::kShm;
      ExpectPartition(options);
      for (std::uint32_t node = 0; node < nodes; ++node) options.host_of_node.push_back(node % 2);
      ExpectPartition(options);
    }
  }
}

TEST(MeshLayout, IsEmptyWithoutPeers) {
  MeshOptions options;
  const MeshLayout layout(options, kRingBytes, ExecutorId{0}, TransportKind::kShm);
  EXPECT_EQ(layout.peers(), 0U);
  EXPECT_EQ(layout.size_bytes(), 0U);
}

TEST(MeshLayoutDeathTest, HasNoPlaceForItsOwner) {
  MeshOptions options;
  options.executors_per_node = 2;
  options.executor_count = 4;
  const MeshLayout layout(options, kRingBytes, ExecutorId{1}, TransportKind::kShm);
  EXPECT_DEATH(layout.IndexOf(ExecutorId{1}), "executor 1 has no place in the memory of executor 1");
}

}  // namespace
}  // namespace glaive::rdma
