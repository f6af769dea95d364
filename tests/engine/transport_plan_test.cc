#include "engine/cluster/transport_plan.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

using rdma::TransportKind;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<rdma::Member> On(const std::vector<std::string>& hosts) {
  std::vector<rdma::Member> members;
  for (const std::string& host : hosts) {
    members.push_back({.rank = NodeId{static_cast<std::uint32_t>(members.size())}, .host_id = host, .pid = 1});
  }
  return members;
}

rdma::VerbsDeviceInfo DeviceOf(const std::string& name, bool is_iwarp) {
  rdma::VerbsDeviceInfo device;
  device.device = name;
  device.is_iwarp = is_iwarp;
  return device;
}

std::string Complaint(TransportChoice choice, const std::vector<std::string>& hosts) {
  return std::string(PlanTransports(choice, On(hosts)).status().message());
}

TEST(PlanTransports, AutoTakesSharedMemoryOnOneHost) {
  const TransportPlan plan = PlanTransports(TransportChoice::kAuto, On({"a", "a", "a"})).value();
  EXPECT_EQ(plan.same_node, TransportKind::kLocal);
  EXPECT_EQ(plan.same_host, TransportKind::kShm);
  EXPECT_FALSE(plan.needs_device);
  EXPECT_THAT(plan.reason, HasSubstr("shm: all 3 nodes are on one host"));
}

TEST(PlanTransports, AutoTakesRdmaBetweenHostsAndSharedMemoryInside) {
  const TransportPlan plan = PlanTransports(TransportChoice::kAuto, On({"b", "a", "b", "a"})).value();
  EXPECT_EQ(plan.other_hosts, TransportKind::kVerbs);
  EXPECT_EQ(plan.same_host, TransportKind::kShm);
  EXPECT_THAT(plan.host_of_node, ElementsAre(0, 1, 0, 1));
  EXPECT_TRUE(plan.needs_device);
  EXPECT_EQ(plan.NodesOnHostOf(NodeId{3}), 2U);
  EXPECT_THAT(plan.reason, HasSubstr("verbs between the 2 hosts, shm between the nodes of one"));
  EXPECT_THAT(PlanTransports(TransportChoice::kAuto, On({"b", "a"}))->reason, HasSubstr("each of the 2 nodes"));
}

TEST(TransportPlan, NodesOfAHostWithOnePlaceStandInTheOrderOfTheirRanks) {
  const TransportPlan plan = PlanTransports(TransportChoice::kAuto, On({"a", "b", "a", "a", "a"})).value();
  const std::vector<std::string> places = {"0", "0", "1", "0", "1"};
  const auto before = [&plan, &places](std::uint32_t node) { return plan.NodesBefore(NodeId{node}, places); };
  EXPECT_THAT((std::vector{before(0), before(1), before(2), before(3), before(4)}), ElementsAre(0, 0, 0, 1, 1));
}

TEST(PlanTransports, AutoNeedsNothingForOneNode) {
  const TransportPlan plan = PlanTransports(TransportChoice::kAuto, On({"a"})).value();
  EXPECT_FALSE(plan.needs_device);
  EXPECT_THAT(plan.reason, HasSubstr("local"));
}

TEST(PlanTransports, VerbsAreForcedBetweenAllNodesOrInsideTheOnlyOne) {
  const TransportPlan several = PlanTransports(TransportChoice::kVerbs, On({"a", "a"})).value();
  EXPECT_EQ(several.same_host, TransportKind::kVerbs);
  EXPECT_EQ(several.same_node, TransportKind::kLocal);
  const TransportPlan alone = PlanTransports(TransportChoice::kVerbs, On({"a"})).value();
  EXPECT_EQ(alone.same_node, TransportKind::kVerbs);
  EXPECT_TRUE(alone.needs_device);
}

TEST(PlanTransports, WhatCannotJoinTheNodesIsRefusedWithAnotherChoice) {
  EXPECT_THAT(Complaint(TransportChoice::kLocal, {"a", "a"}), HasSubstr("--transport=local"));
  EXPECT_THAT(Complaint(TransportChoice::kShm, {"a", "b"}),
              testing::AllOf(HasSubstr("--transport=shm"), HasSubstr("--transport=auto or verbs")));
}

TEST(PlanTransports, ThePlanReachesTheMesh) {
  rdma::MeshOptions mesh;
  mesh.executors_per_node = 2;
  mesh.executor_count = 6;
  PlanTransports(TransportChoice::kAuto, On({"a", "b", "a"}))->ApplyTo(mesh);
  EXPECT_EQ(mesh.KindBetween(ExecutorId{0}, ExecutorId{1}), TransportKind::kLocal);
  EXPECT_EQ(mesh.KindBetween(ExecutorId{0}, ExecutorId{2}), TransportKind::kVerbs);
  EXPECT_EQ(mesh.KindBetween(ExecutorId{1}, ExecutorId{5}), TransportKind::kShm);
}

TEST(PlanArrival, AutoTakesImmediateValuesWhereAllDevicesHaveThem) {
  EXPECT_EQ(PlanArrival(ArrivalChoice::kAuto, {true, false}).value(), rdma::Arrival::kChecksum);
  EXPECT_EQ(PlanArrival(ArrivalChoice::kAuto, {true, true}).value(), rdma::Arrival::kImmediate);
}

TEST(PlanArrival, AChoiceIsTaken) {
  EXPECT_EQ(PlanArrival(ArrivalChoice::kPoll, {true, true}).value(), rdma::Arrival::kChecksum);
  EXPECT_EQ(PlanArrival(ArrivalChoice::kPoll, {true, false}).value(), rdma::Arrival::kChecksum);
  EXPECT_EQ(PlanArrival(ArrivalChoice::kImmediate, {true, true}).value(), rdma::Arrival::kImmediate);
}

TEST(PlanArrival, ImmediateValuesThatADeviceLacksAreRefusedWithItsNode) {
  EXPECT_THAT(std::string(PlanArrival(ArrivalChoice::kImmediate, {true, false, true}).status().message()),
              testing::AllOf(HasSubstr("--arrival=imm: the device of node 1 has no WRITE with an immediate value"),
                             HasSubstr("use --arrival=poll or auto")));
}

TEST(PlanRelaxedOrdering, AutoTakesItWhereItPaysButNotOverIwarp) {
  const rdma::VerbsDeviceInfo roce = DeviceOf("mlx5_0", /*is_iwarp=*/false);
  const rdma::VerbsDeviceInfo iwarp = DeviceOf("siw0", /*is_iwarp=*/true);
  EXPECT_TRUE(PlanRelaxedOrdering(RelaxedOrderingChoice::kAuto, roce, /*pays=*/true));
  EXPECT_FALSE(PlanRelaxedOrdering(RelaxedOrderingChoice::kAuto, roce, /*pays=*/false));
  EXPECT_FALSE(PlanRelaxedOrdering(RelaxedOrderingChoice::kAuto, iwarp, /*pays=*/true));
}

TEST(PlanRelaxedOrdering, AChoiceIsTakenAndOverIwarpSaidToBeNoGoodOne) {
  const rdma::VerbsDeviceInfo roce = DeviceOf("mlx5_0", /*is_iwarp=*/false);
  const rdma::VerbsDeviceInfo iwarp = DeviceOf("siw0", /*is_iwarp=*/true);
  for (const auto& device : {roce, iwarp}) {
    EXPECT_TRUE(PlanRelaxedOrdering(RelaxedOrderingChoice::kOn, device, /*pays=*/false));
    EXPECT_FALSE(PlanRelaxedOrdering(RelaxedOrderingChoice::kOff, device, /*pays=*/true));
    EXPECT_EQ(RelaxedOrderingCaveat(RelaxedOrderingChoice::kAuto, device), "");
    EXPECT_EQ(RelaxedOrderingCaveat(RelaxedOrderingChoice::kOff, device), "");
  }
  EXPECT_EQ(RelaxedOrderingCaveat(RelaxedOrderingChoice::kOn, roce), "");
  EXPECT_THAT(RelaxedOrderingCaveat(RelaxedOrderingChoice::kOn, iwarp),
              testing::AllOf(HasSubstr("--relaxed-ordering=on lets siw0 place bytes out of order"),
                             HasSubstr("--relaxed-ordering=auto leaves it off")));
}

TEST(DescribeDevice, EndsWithTheOrderOfItsWritesToMemory) {
  rdma::VerbsDeviceInfo device = DeviceOf("mlx5_0", /*is_iwarp=*/false);
  device.numa_node = 1;
  EXPECT_THAT(DescribeDevice(device, /*relaxed_ordering=*/true), testing::EndsWith(", NUMA node 1, relaxed ordering"));
  EXPECT_THAT(DescribeDevice(device, /*relaxed_ordering=*/false), testing::EndsWith(", NUMA node 1, strict ordering"));
}

TEST(DescribePlacementWaits, IsAboutMessagesThatWaitedAndElseNothing) {
  EXPECT_EQ(DescribePlacementWaits(0), "");
  EXPECT_THAT(DescribePlacementWaits(1), HasSubstr("the last byte of 1 message was in place before the rest"));
  EXPECT_THAT(DescribePlacementWaits(17), HasSubstr("the last bytes of 17 messages were in place before the rest"));
}

TEST(ChooseDevice, TakesTheFlagsThatConcernIt) {
  ClusterOptions options;
  options.device = "mlx5_1";
  options.bind = "10.0.0.2:7701";
  options.coordinator = "10.0.0.1:7700";
  options.rdma_tos = 106;
  options.join_timeout = absl::Seconds(7);
  options.peer_timeout = absl::Seconds(3);
  const rdma::DeviceChoice choice = ChooseDevice(options, /*local_address=*/"").value();
  EXPECT_EQ(choice.device, "mlx5_1");
  EXPECT_EQ(choice.address, "10.0.0.2");
  EXPECT_EQ(choice.near, "10.0.0.1");
  EXPECT_EQ(choice.connections.tos, 106);
  EXPECT_EQ(choice.connections.join_timeout, absl::Seconds(7));
  EXPECT_EQ(choice.connections.peer_timeout, absl::Seconds(3));
}

TEST(ChooseDevice, IsNearThisHostsEndOfTheConnectionToTheCoordinator) {
  ClusterOptions options;
  options.coordinator = "rank0:7700";
  EXPECT_EQ(ChooseDevice(options, "10.9.0.2")->near, "10.9.0.2");
  EXPECT_EQ(ChooseDevice(options, "127.0.0.1")->near, "rank0") << "what is inside the host is near no network";
  EXPECT_EQ(ChooseDevice(options, "")->near, "rank0");
}

TEST(ChooseDevice, LeavesOutAddressesThatNameNoInterface) {
  for (const std::string& host : {"127.0.0.1", "0.0.0.0", "[::1]", "localhost"}) {
    ClusterOptions options;
    options.bind = host + ":7700";
    options.coordinator = host + ":7700";
    const rdma::DeviceChoice choice = ChooseDevice(options, host == "[::1]" ? "::1" : host).value();
    EXPECT_EQ(choice.address, "") << host;
    EXPECT_EQ(choice.near, "") << host;
    EXPECT_EQ(choice.connections.tos, std::nullopt);
  }
}

}  // namespace
}  // namespace glaive::engine
