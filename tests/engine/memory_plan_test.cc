#include "engine/cluster/memory_plan.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"

namespace glaive::engine {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(MemoryPlan, WhatIsNotFixedIsTheStates) {
  const auto plan = PlanMemory({.executors = 2,
                                .readers = 2,
                                .nodes_on_host = 2,
                                .source_bytes = kGiB,
                                .segment_bytes = 1 << 20,
                                .ring_bytes = 1 << 20},
                               16 * kGiB);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->node_bytes, 7'680 * kMiB) << "half of what a sixteenth of reserve leaves";
  EXPECT_EQ(plan->state_bytes_per_executor, 2'814 * kMiB) << "of two, each of which has 1,026 MiB besides";
  EXPECT_NE(plan->Describe().find("2 nodes on this host"), std::string::npos) << plan->Describe();
}

TEST(MemoryPlan, CreditWordsAndQueuesOfImmediateValuesAreNotTheStates) {
  const auto plan = PlanMemory({.executors = 2, .arrival_bytes = kMiB, .limit_bytes = kGiB}, 16 * kGiB);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->state_bytes_per_executor, 511 * kMiB);
  EXPECT_NE(plan->Describe().find("arrivals 2MiB"), std::string::npos) << plan->Describe();
}

TEST(MemoryPlan, InputThatDoesNotFitIsRefusedWithItsSizeAndTheFlags) {
  const auto plan = PlanMemory({.source_bytes = 20 * kGiB}, 16 * kGiB);
  ASSERT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(plan.status().message().find("input 20"), absl::string_view::npos) << plan.status();
  EXPECT_NE(plan.status().message().find("--memory-limit"), absl::string_view::npos) << plan.status();
}

TEST(MemoryPlan, ALimitIsHonouredAndCannotExceedTheNodesShare) {
  const auto plan = PlanMemory({.source_bytes = kGiB, .limit_bytes = 2 * kGiB}, 16 * kGiB);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->state_bytes_per_executor, kGiB);
  EXPECT_FALSE(PlanMemory({.nodes_on_host = 4, .limit_bytes = 8 * kGiB}, 16 * kGiB).ok());
  EXPECT_FALSE(PlanMemory({.source_bytes = kGiB, .limit_bytes = kGiB}, 16 * kGiB).ok()) << "nothing left for state";
}

TEST(MemoryPlan, StaticTablesCountAsUsedOfALimitAndNotTwiceOfTheHost) {
  const auto limited = PlanMemory({.table_bytes = kGiB, .limit_bytes = 3 * kGiB}, 16 * kGiB);
  ASSERT_TRUE(limited.ok()) << limited.status();
  EXPECT_EQ(limited->state_bytes_per_executor, 2 * kGiB);
  EXPECT_NE(limited->Describe().find("static tables 1GiB"), std::string::npos) << limited->Describe();
  const auto all = PlanMemory({.table_bytes = kGiB}, 16 * kGiB);  // what is available is without the table
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->state_bytes_per_executor, 15 * kGiB);
  EXPECT_FALSE(PlanMemory({.table_bytes = 2 * kGiB, .limit_bytes = 2 * kGiB}, 16 * kGiB).ok());
}

TEST(MemoryPlan, WhatIsPrefaultedHasToFitTheState) {
  const MemoryNeeds needs{.executors = 2, .limit_bytes = 4 * kGiB, .prefault_bytes = 2 * kGiB};
  const auto plan = PlanMemory(needs, 16 * kGiB);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_NE(plan->Describe().find("of which 2GiB is taken at the start"), std::string::npos) << plan->Describe();
  const auto refused = PlanMemory({.executors = 2, .limit_bytes = 3 * kGiB, .prefault_bytes = 2 * kGiB}, 16 * kGiB);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("--prefault-state=2GiB"), absl::string_view::npos) << refused.status();
}

class AvailableMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("/proc/meminfo", "MemTotal:       33554432 kB\nMemFree:        1024 kB\nMemAvailable:   16777216 kB\n");
  }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  TemporaryFolder folder_;
  const std::string root_ = folder_.path().string();
};

TEST_F(AvailableMemory, IsWhatTheSystemHasWithoutACgroup) { EXPECT_EQ(AvailableMemoryBytes(root_), 16 * kGiB); }

TEST_F(AvailableMemory, IsTheLeastThatTheCgroupsAboveThisProcessLeave) {
  Write("/proc/self/cgroup", "0::/user/job\n");
  Write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  Write("/sys/fs/cgroup/user/job/memory.current", "5\n");
  Write("/sys/fs/cgroup/user/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/user/memory.current", "1073741824\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 3 * kGiB);
}

TEST_F(AvailableMemory, UnderstandsTheFirstVersionOfCgroups) {
  Write("/proc/self/cgroup", "12:cpu:/a\n5:memory:/box\n");
  Write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 2 * kGiB);
}

TEST_F(AvailableMemory, InactivePageCacheOfACgroupIsFreeInItsSecondVersion) {
  Write("/proc/self/cgroup", "0::/pod/box\n");
  Write("/sys/fs/cgroup/pod/box/memory.max", "1073741824\n");
  Write("/sys/fs/cgroup/pod/box/memory.current", "1006632960\n");
  Write("/sys/fs/cgroup/pod/box/memory.stat",
        "anon 41943040\nfile 964689920\ninactive_anon 1\nactive_file 20971520\ninactive_file 943718400\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 964 * kMiB) << "of 1,024 MiB, 960 are in use, and 900 of them can be freed";
}

TEST_F(AvailableMemory, InactivePageCacheOfACgroupAndThoseInItIsFreeInItsFirstVersion) {
  Write("/proc/self/cgroup", "5:memory:/box\n");
  Write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
  Write("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1006632960\n");
  Write("/sys/fs/cgroup/memory/box/memory.stat",
        "cache 943718400\nrss 62914560\ninactive_file 7\ntotal_inactive_file 943718400\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 964 * kMiB) << "of 1,024 MiB, 960 are in use, and 900 of them can be freed";
}

TEST_F(AvailableMemory, MoreInactivePageCacheThanUseIsNoUse) {  // the files are not read at one time
  Write("/proc/self/cgroup", "0::/box\n");
  Write("/sys/fs/cgroup/box/memory.max", "1000\n");
  Write("/sys/fs/cgroup/box/memory.current", "300\n");
  Write("/sys/fs/cgroup/box/memory.stat", "inactive_file 400\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 1000U);
}

TEST_F(AvailableMemory, ACgroupThatIsOverItsLimitLeavesNothing) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "10\n");
  Write("/sys/fs/cgroup/memory.current", "20\n");
  EXPECT_EQ(AvailableMemoryBytes(root_), 0U);
}

}  // namespace
}  // namespace glaive::engine
