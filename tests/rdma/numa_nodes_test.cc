// NUMA nodes as made-up trees of /sys describe them.

#include "rdma/base/numa_nodes.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/engine/temporary_folder.h"

namespace glaive {
namespace {

using ::testing::ElementsAre;

class NumaNodesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text << "\n";
  }
  void AddNode(int number, const std::string& cpus, const std::string& distances) {
    const std::string node = "sys/devices/system/node/node" + std::to_string(number);
    Write(node + "/cpulist", cpus);
    Write(node + "/distance", distances);
  }
  /// Two sockets, whose processors alternate.
  void AddTwoSockets() {
    Write("sys/devices/system/node/online", "0-1");  // beside the nodes' folders
    AddNode(0, "0,2,4,6", "10 21");
    AddNode(1, "1,3,5,7", "21 10");
  }
  NumaNodes Read() const { return NumaNodes::Read(folder_.path().string()); }

  engine::TemporaryFolder folder_;
};

TEST_F(NumaNodesTest, TheNearSocketIsFilledBeforeTheOther) {
  AddTwoSockets();
  const NumaNodes numa = Read();
  EXPECT_TRUE(numa.are_several());
  EXPECT_THAT(numa.NearestFirst({0, 1, 2, 3, 4, 5, 6, 7}, 1), ElementsAre(1, 3, 5, 7, 0, 2, 4, 6));
  EXPECT_THAT(numa.NearestFirst({0, 1, 2, 3, 4, 5, 6, 7}, 0), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(numa.NearestFirst({6, 3, 0}, 1), ElementsAre(3, 6, 0)) << "only those that were given, in their order";
}

// Four nodes a socket, numbered through: the other nodes of the device's socket come before the other socket.
TEST_F(NumaNodesTest, NodesOfTheSameSocketComeBeforeThoseOfTheOther) {
  AddNode(0, "0-1", "10 12 32 32");
  AddNode(1, "2-3", "12 10 32 32");
  AddNode(2, "4-5", "32 32 10 12");
  AddNode(3, "6-7", "32 32 12 10");
  EXPECT_THAT(Read().NearestFirst({0, 1, 2, 3, 4, 5, 6, 7}, 3), ElementsAre(6, 7, 4, 5, 0, 1, 2, 3));
}

TEST_F(NumaNodesTest, NodesAreOrderedByNumberNotByName) {
  for (const int node : {10, 9, 2}) AddNode(node, std::to_string(node), "");
  EXPECT_THAT(Read().NearestFirst({2, 9, 10}, 9), ElementsAre(9, 2, 10)) << "all others are equally far";
}

TEST_F(NumaNodesTest, DistancesBelongToTheNodesThatThereAre) {
  AddNode(0, "0", "10 30 20");
  AddNode(4, "1", "30 10 40");
  AddNode(8, "2", "20 40 10");
  EXPECT_EQ(Read().Distance(0, 4), 30);
  EXPECT_EQ(Read().Distance(4, 8), 40);
  EXPECT_EQ(Read().Distance(8, 8), 10);
  EXPECT_THAT(Read().NearestFirst({0, 1, 2}, 0), ElementsAre(0, 2, 1));
}

TEST_F(NumaNodesTest, AProcessorOfNoNodeComesLast) {
  AddTwoSockets();
  EXPECT_THAT(Read().NearestFirst({9, 0, 1}, 0), ElementsAre(0, 1, 9));
}

TEST_F(NumaNodesTest, ProcessorsAreSaidWithTheirNodes) {
  AddTwoSockets();
  const std::vector<int> cpus = {1, 3, 0};
  EXPECT_EQ(Read().Describe(cpus), "1, 3 (NUMA node 1), 0 (NUMA node 0)");
}

TEST_F(NumaNodesTest, OneNodeIsNotSaid) {
  AddNode(0, "0-3", "10 17");
  AddNode(1, "", "17 10");  // memory alone, as CXL has it
  const std::vector<int> cpus = {0, 1};
  EXPECT_FALSE(Read().are_several());
  EXPECT_EQ(Read().Describe(cpus), "0, 1");
}

TEST_F(NumaNodesTest, AKernelWithoutNodesChangesNoOrder) {
  const std::vector<int> cpus = {3, 1, 2};
  EXPECT_FALSE(Read().are_several());
  EXPECT_THAT(Read().NearestFirst(cpus, 0), ElementsAre(3, 1, 2));
  EXPECT_EQ(Read().Describe(cpus), "3, 1, 2");
}

TEST_F(NumaNodesTest, ADeviceHasTheNodeThatTheKernelNames) {
  Write("sys/class/infiniband/mlx5_0/device/numa_node", "1");
  Write("sys/class/infiniband/mlx5_1/device/numa_node", "-1");
  std::filesystem::create_directories(folder_.path() / "sys/class/infiniband/rxe0");
  EXPECT_EQ(NumaNodeOfDevice("mlx5_0", folder_.path().string()), 1);
  EXPECT_EQ(NumaNodeOfDevice("mlx5_1", folder_.path().string()), std::nullopt);
  EXPECT_EQ(NumaNodeOfDevice("rxe0", folder_.path().string()), std::nullopt);
}

TEST(NumaNodesOfThisHost, HaveItsFirstProcessor) {
  if (!std::filesystem::exists("/sys/devices/system/node/node0")) GTEST_SKIP() << "a kernel without NUMA";
  EXPECT_TRUE(NumaNodes::Read().NodeOf(0).has_value());
}

}  // namespace
}  // namespace glaive
