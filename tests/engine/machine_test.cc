#include "engine/metrics/machine.h"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "engine/base/cpu_pinning.h"
#include "tests/engine/temporary_folder.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MachineTest : public ::testing::Test {
 protected:
  MachineTest() { std::filesystem::create_directories(root_ / "proc"); }

  TemporaryFolder folder_;
  const std::filesystem::path& root_ = folder_.path();
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

TEST_F(MachineTest, AMemoryFigureThatIsMissingOrNoNumberIsNone) {
  std::ofstream(root_ / "proc/meminfo") << "MemTotal:       16384 kB\nMemAvailable:   lots kB\n";
  EXPECT_EQ(MemoryInfoBytes("MemTotal", root_.string()), 16384U * 1024);
  EXPECT_EQ(MemoryInfoBytes("MemAvailable", root_.string()), std::nullopt);
  EXPECT_EQ(MemoryInfoBytes("MemFree", root_.string()), std::nullopt);
}

TEST(CpuPinning, AThreadKeepsToItsProcessor) {
  std::thread([] {
    const int cpu = AllowedCpus().back();
    ASSERT_TRUE(PinThisThread(cpu).ok());
    EXPECT_THAT(AllowedCpus(), ElementsAre(cpu));
    EXPECT_EQ(PinThisThread(CPU_SETSIZE - 1).code(), absl::StatusCode::kFailedPrecondition);
  }).join();
}

TEST_F(MachineTest, DescribesThisMachine) { EXPECT_GT(DescribeMachine().memory_bytes, std::uint64_t{1} << 20); }

}  // namespace
}  // namespace glaive::engine
