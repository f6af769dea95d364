#include "rdma/mesh/mesh_options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

MeshOptions Options(std::uint32_t executors_per_node, std::uint32_t executor_count) {
  MeshOptions options;
  options.executors_per_node = executors_per_node;
  options.executor_count = executor_count;
  return options;
}

TEST(PlanChannels, LeavesChannelsAloneWithoutABudget) {
  const ChannelPlan plan = PlanChannels(Options(2, 8)).value();
  EXPECT_EQ(plan.channel.credits, 8U);
  EXPECT_EQ(plan.channel.slot_bytes, 65536U);
  EXPECT_EQ(plan.node_ring_bytes, 2U * 7 * 8 * 65536);
  EXPECT_EQ(plan.note, "");
}

TEST(PlanChannels, LeavesChannelsAloneThatFit) {
  MeshOptions options = Options(2, 8);
  options.ring_budget_bytes = 2 * 7 * 8 * 65536;
  EXPECT_EQ(PlanChannels(options).value().channel.credits, 8U);
}

TEST(PlanChannels, GivesRingsFewerCreditsToFitTheirBudgetAndSaysSo) {
  MeshOptions options = Options(10, 160);
  options.ring_budget_bytes = std::uint64_t{512} << 20;
  const ChannelPlan plan = PlanChannels(options).value();
  EXPECT_EQ(plan.channel.credits, 5U);
  EXPECT_LE(plan.node_ring_bytes, options.ring_budget_bytes);
  EXPECT_THAT(plan.note, HasSubstr("5 slots of 64KiB instead of 8 slots of 64KiB"));
  EXPECT_THAT(plan.note, HasSubstr("--ring-budget=512MiB"));
}

TEST(PlanChannels, HalvesSlotsWhereTwoOfThemDoNotFit) {
  MeshOptions options = Options(10, 160);
  options.ring_budget_bytes = std::uint64_t{150} << 20;  // 1590 rings of 96.6 KiB
  ChannelPlan plan = PlanChannels(options).value();
  EXPECT_EQ(plan.channel.slot_bytes, 32U << 10);
  EXPECT_EQ(plan.channel.credits, 3U);
  EXPECT_THAT(plan.note, HasSubstr("3 slots of 32KiB instead of 8 slots of 64KiB"));
  options.channel.slot_bytes = 3 * 2048 + 64;  // halves are multiples of 64
  options.ring_budget_bytes = std::uint64_t{1590} * 2 * 3072;
  plan = PlanChannels(options).value();
  EXPECT_EQ(plan.channel.slot_bytes, 3072U);
  EXPECT_EQ(plan.channel.credits, 2U);
  EXPECT_TRUE(plan.channel.Validate().ok());
}

TEST(PlanChannels, HoldsThousandsOfExecutorsInAGibibyte) {
  for (const auto& [executors, slot_bytes] : {std::pair{1024U, 32U << 10}, std::pair{10'000U, 2U << 10}}) {
    MeshOptions options = Options(16, executors);
    options.ring_budget_bytes = std::uint64_t{1} << 30;
    const ChannelPlan plan = PlanChannels(options).value();
    EXPECT_EQ(plan.channel.slot_bytes, slot_bytes) << executors;
    EXPECT_LE(plan.node_ring_bytes, options.ring_budget_bytes);
    options.channel = plan.channel;
    EXPECT_EQ(PlanChannels(options)->note, "") << "a plan fits";
  }
}

TEST(PlanChannels, RefusesABudgetThatDoesNotHoldTwoSmallSlotsEach) {
  MeshOptions options = Options(10, 160);
  options.ring_budget_bytes = std::uint64_t{2} << 20;
  const absl::Status status = PlanChannels(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("raise --ring-budget"));
  EXPECT_THAT(status.message(), HasSubstr("1590 inbound rings"));
}

TEST(PlanChannels, NeedsNoBudgetForOneExecutor) {
  MeshOptions options = Options(1, 1);
  options.ring_budget_bytes = 1;
  EXPECT_EQ(PlanChannels(options).value().node_ring_bytes, 0U);
}

TEST(PlanChannels, DoesNotOverflowOnAbsurdSizes) {
  MeshOptions options = Options(65536, 65536);
  options.channel.slot_bytes = 1U << 30;
  options.channel.credits = 4096;
  options.ring_budget_bytes = std::uint64_t{1} << 40;
  EXPECT_FALSE(PlanChannels(options).ok());
  options.ring_budget_bytes = 0;
  EXPECT_EQ(PlanChannels(options).value().node_ring_bytes, ~std::uint64_t{0});
}

TEST(MeshOptions, RefusesWhatMakesNoSense) {
  EXPECT_THAT(Options(0, 1).Validate().message(), HasSubstr("--executors=0"));
  EXPECT_THAT(Options(1, 0).Validate().message(), HasSubstr("0 executors"));
  EXPECT_THAT(Options(1, 65537).Validate().message(), HasSubstr("65537 executors"));
  EXPECT_THAT(Options(2, 3).Validate().message(), HasSubstr("nodes of 2"));
  MeshOptions options = Options(1, 2);
  options.self = ExecutorId{2};
  EXPECT_THAT(options.Validate().message(), HasSubstr("executor 2 of 2"));
}

TEST(MeshOptions, RefusesChannelsOutOfRangeByTheNameOfTheFlag) {
  MeshOptions options = Options(1, 2);
  options.channel.credits = 1;
  EXPECT_THAT(options.Validate().message(), HasSubstr("--credits=1: must be from 2"));
  options.channel.credits = 4097;
  EXPECT_THAT(options.Validate().message(), HasSubstr("--credits=4097"));
  options.channel.credits = 2;
  options.channel.slot_bytes = 192;
  EXPECT_THAT(options.Validate().message(), HasSubstr("--slot-bytes=192"));
}

TEST(MeshOptions, ChoosesTheTransportByNode) {
  MeshOptions options = Options(2, 6);
  options.self = ExecutorId{3};
  EXPECT_EQ(options.KindTo(ExecutorId{2}), TransportKind::kLocal);
  EXPECT_EQ(options.KindTo(ExecutorId{1}), TransportKind::kShm);
  EXPECT_EQ(options.KindTo(ExecutorId{4}), TransportKind::kShm);
  EXPECT_EQ(options.NodeOf(ExecutorId{5}), NodeId{2});
}

TEST(MeshOptions, ChoosesTheTransportByHost) {
  MeshOptions options = Options(2, 8);
  options.host_of_node = {0, 1, 0, 1};
  ASSERT_TRUE(options.Validate().ok());
  options.self = ExecutorId{3};  // node 1
  EXPECT_EQ(options.KindTo(ExecutorId{2}), TransportKind::kLocal);
  EXPECT_EQ(options.KindTo(ExecutorId{0}), TransportKind::kVerbs);
  EXPECT_EQ(options.KindTo(ExecutorId{4}), TransportKind::kVerbs);
  EXPECT_EQ(options.KindTo(ExecutorId{7}), TransportKind::kShm);
  EXPECT_EQ(options.VerbsQueuePairs(), 4U);  // two executors, each to two nodes
  options.same_host = TransportKind::kVerbs;
  EXPECT_EQ(options.VerbsQueuePairs(), 6U);
  EXPECT_THAT(options.Kinds(), testing::ElementsAre(TransportKind::kLocal, TransportKind::kVerbs));
}

TEST(MeshOptions, QueuePairsJoinExecutorsOfEqualIndex) {
  MeshOptions options = Options(10, 160);
  options.same_host = TransportKind::kVerbs;
  EXPECT_EQ(options.VerbsQueuePairs(), 150U);
  EXPECT_EQ(options.ExecutorsReachedOver(TransportKind::kVerbs), 150U);
  options.self = ExecutorId{13};
  EXPECT_EQ(options.OtherEnd(ExecutorId{0}), ExecutorId{3});
  EXPECT_EQ(options.OtherEnd(ExecutorId{159}), ExecutorId{153});
  EXPECT_EQ(options.OtherEnd(ExecutorId{19}), ExecutorId{13}) << "itself, over a loopback of the device";
}

TEST(MeshOptions, ANodeThatReachesItselfMakesBothEndsOfItsQueuePairs) {
  MeshOptions options = Options(3, 3);
  options.same_node = TransportKind::kVerbs;
  EXPECT_EQ(options.NodesReachedOver(TransportKind::kVerbs), 1U);
  EXPECT_EQ(options.VerbsQueuePairs(), 6U);
  options = Options(1, 1);
  options.same_node = TransportKind::kVerbs;
  EXPECT_EQ(options.NodesReachedOver(TransportKind::kVerbs), 0U);  // there is nobody else on the node
  EXPECT_EQ(options.VerbsQueuePairs(), 0U);
}

TEST(MeshOptions, RefusesHostsOfAnotherNumberOfNodes) {
  MeshOptions options = Options(1, 3);
  options.host_of_node = {0, 1};
  EXPECT_THAT(options.Validate().message(), HasSubstr("the hosts of 2 nodes are known, expected 3"));
}

}  // namespace
}  // namespace glaive::rdma
