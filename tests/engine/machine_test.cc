#include "engine/metrics/machine.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MachineTest : public ::testing::Test {
 protected:
  MachineTest() : root_(std::filesystem::path(::testing::TempDir()) / ("machine_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(root_ / "proc");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_;
};

TEST_F(MachineTest, ReadsProcessorMemoryAndDevices) {
  std::ofstream(root_ / "proc/cpuinfo") << "processor\t: 0\nmodel\t\t: 17\nmodel name\t: A Fast One @ 3.0GHz\n"
                                        << "processor\t: 1\nmodel name\t: Another\n";
  std::ofstream(root_ / "proc/meminfo") << "MemFree:   1 kB\nMemTotal:       16384 kB\n";
  std::filesystem::create_directories(root_ / "sys/class/infiniband/rxe1");
  std::filesystem::create_directories(root_ / "sys/class/infiniband/mlx5_0");
  const MachineInfo machine = DescribeMachine(root_.string());
  EXPECT_EQ(machine.cpu_model, "A Fast One @ 3.0GHz");
  EXPECT_EQ(machine.memory_bytes, 16384U * 1024);
  EXPECT_THAT(machine.rdma_devices, ElementsAre("mlx5_0", "rxe1"));
  EXPECT_GE(machine.cores, 1U);
  EXPECT_NE(machine.host, "");
  EXPECT_NE(machine.kernel, "");
}

TEST_F(MachineTest, LeavesEmptyWhatTheSystemDoesNotSay) {
  const MachineInfo machine = DescribeMachine((root_ / "nothing").string());
  EXPECT_EQ(machine.cpu_model, "");
  EXPECT_EQ(machine.memory_bytes, 0U);
  EXPECT_THAT(machine.rdma_devices, IsEmpty());
}

TEST_F(MachineTest, DescribesThisMachine) { EXPECT_GT(DescribeMachine().memory_bytes, std::uint64_t{1} << 20); }

}  // namespace
}  // namespace glaive::engine
