#include "engine/cluster/transport_plan.h"

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
  EXPECT_EQ(plan.RankOnHost(NodeId{1}), 0U);
  EXPECT_EQ(plan.RankOnHost(NodeId{3}), 1U);
  EXPECT_THAT(plan.reason, HasSubstr("verbs between the 2 hosts, shm between the nodes of one"));
  EXPECT_THAT(PlanTransports(TransportChoice::kAuto, On({"b", "a"}))->reason, HasSubstr("each of the 2 nodes"));
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

}  // namespace
}  // namespace glaive::engine
