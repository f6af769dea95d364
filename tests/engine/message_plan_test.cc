// The messages of large runs, planned and not run: 16 executors a node, default settings, nodes on hosts of their own.

#include "engine/executor/message_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/exchange/exchange_layout.h"
#include "engine/flags/engine_options.h"
#include "rdma/mesh/mesh_memory.h"
#include "rdma/mesh/mesh_options.h"

namespace glaive::engine {
namespace {

constexpr std::uint64_t kPlanMiB = std::uint64_t{1} << 20;
constexpr std::uint32_t kExecutorsPerNode = 16;

/// Limits such as adapters report them (mlx5): entries of a completion queue, work requests of a queue pair or of a
/// shared receive queue, and queue pairs.
constexpr std::uint64_t kMostCompletions = std::uint64_t{4} << 20;
constexpr std::uint64_t kMostWorkRequests = std::uint64_t{32} << 10;
constexpr std::uint64_t kMostQueuePairs = std::uint64_t{128} << 10;

/// The query: counts of words, a join that keeps two numbers a side, and an exchange of records with texts.
std::vector<InputShape> Inputs() {
  const InputShape counts{.entry_bytes = 32, .header_bytes = 0, .has_texts = true};
  const InputShape side{.entry_bytes = 40, .header_bytes = 0, .has_texts = false};
  const InputShape exchange{.entry_bytes = 48, .header_bytes = sizeof(ExchangeHeader), .has_texts = true};
  return {counts, side, side, exchange};
}

struct LargeRun {
  rdma::MeshOptions mesh;
  MessagePlan messages;

  std::uint64_t slot_bytes() const { return mesh.channel.slot_bytes; }
  std::uint64_t ring_bytes() const { return mesh.channel.ring_bytes() * (mesh.executor_count - 1); }
  /// Of an executor, all that its messages need.
  std::uint64_t bytes() const {
    return messages.segments * slot_bytes() + messages.inbox_bytes + ring_bytes() + rdma::ArrivalMemoryBytes(mesh);
  }
  /// As ExecutorMesh asks the device for them.
  std::uint64_t queue_depth() const { return std::uint64_t{2} * mesh.channel.credits * mesh.executors_per_node; }
  std::uint64_t queue_pairs() const { return mesh.NodesReachedOver(rdma::TransportKind::kVerbs); }
  std::uint64_t arrivals() const { return rdma::MostArrivals(mesh, mesh.channel.credits, rdma::TransportKind::kVerbs); }
};

LargeRun PlanLargeRun(std::uint32_t nodes, rdma::Arrival arrival) {
  const EngineOptions options;
  LargeRun run;
  run.mesh.executors_per_node = kExecutorsPerNode;
  run.mesh.executor_count = kExecutorsPerNode * nodes;
  run.mesh.channel = {.slot_bytes = options.channel.slot_bytes, .credits = options.channel.credits};
  run.mesh.ring_budget_bytes = options.channel.ring_budget_bytes;
  run.mesh.arrival = arrival;
  for (std::uint32_t node = 0; node < nodes; ++node) run.mesh.host_of_node.push_back(node);
  run.mesh.channel = rdma::PlanChannels(run.mesh)->channel;
  run.messages =
      PlanMessages(Inputs(), run.mesh.executor_count, run.mesh.channel.slot_bytes, options.state.fragment_bytes)
          .value();
  return run;
}

class LargeRunTest : public ::testing::TestWithParam<rdma::Arrival> {};

TEST_P(LargeRunTest, Of1024ExecutorsFitsMemoryAndDevices) {
  const LargeRun run = PlanLargeRun(/*nodes=*/64, GetParam());
  EXPECT_EQ(run.slot_bytes(), 32U << 10);
  EXPECT_EQ(run.mesh.channel.credits, 2U);
  EXPECT_EQ(run.messages.inbox_bytes, 64 * kPlanMiB);
  EXPECT_LT(run.bytes(), 528 * kPlanMiB);
  EXPECT_EQ(run.queue_depth(), 64U);
  EXPECT_LT(run.queue_depth() * run.queue_pairs(), kMostCompletions);
  EXPECT_LT(run.queue_depth(), kMostWorkRequests);
  EXPECT_LT(run.arrivals(), kMostWorkRequests);
  EXPECT_LT(run.mesh.VerbsQueuePairs(), kMostQueuePairs);
}

/// There a shared receive queue may be shorter than all that can arrive: the device makes peers wait (receive_queue.h).
TEST_P(LargeRunTest, Of10000ExecutorsFitsMemoryAndDevices) {
  const LargeRun run = PlanLargeRun(/*nodes=*/625, GetParam());
  EXPECT_EQ(run.slot_bytes(), 2U << 10);
  EXPECT_EQ(run.mesh.channel.credits, 3U);
  EXPECT_LT(run.messages.inbox_bytes, 40 * kPlanMiB);
  EXPECT_LT(run.bytes(), 296 * kPlanMiB);
  EXPECT_LT(run.queue_depth() * run.queue_pairs(), kMostCompletions);
  EXPECT_LT(run.queue_depth(), kMostWorkRequests);
  EXPECT_LT(run.arrivals(), kMostCompletions);
  EXPECT_LT(run.mesh.VerbsQueuePairs(), kMostQueuePairs);
}

INSTANTIATE_TEST_SUITE_P(MessagePlan, LargeRunTest,
                         ::testing::Values(rdma::Arrival::kImmediate, rdma::Arrival::kChecksum),
                         [](const auto& info) { return std::string(rdma::Name(info.param)); });

TEST(MessagePlan, SegmentsOfAnExchangeGrowWithTheExecutors) {
  const InputShape exchange{.entry_bytes = 48, .header_bytes = sizeof(ExchangeHeader), .has_texts = false};
  const auto plan = PlanMessages({exchange}, /*executor_count=*/1024, /*slot_bytes=*/32 << 10, 1 << 20).value();
  EXPECT_EQ(plan.exchange_credits, 2U);
  EXPECT_EQ(plan.segments, 1 + 1023 * 6U)
      << "for each other executor: two with credit, one that fills up, three grants";
  EXPECT_EQ(plan.inbox_bytes, std::uint64_t{1024} * 2 * (32 << 10));
}

}  // namespace
}  // namespace glaive::engine
