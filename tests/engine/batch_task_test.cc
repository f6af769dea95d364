#include "engine/cluster/batch_task.h"

#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status Check(const ClusterOptions& cluster, const std::map<std::string, std::string>& environment) {
  return CheckBatchTask(cluster, [&environment](const char* name) -> const char* {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second.c_str();
  });
}

ClusterOptions Nodes(std::uint32_t nodes) {
  ClusterOptions cluster;
  cluster.nodes = nodes;
  return cluster;
}

TEST(BatchTask, OneOfSeveralTasksWithoutARankIsRefusedWithTheFlagsToGive) {
  const std::map<std::string, std::map<std::string, std::string>> environments = {
      {"srun", {{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}},
      {"mpirun", {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}},
      {"mpiexec", {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}}};
  for (const auto& [command, environment] : environments) {
    for (const std::uint32_t nodes : {1U, 4U}) {
      const absl::Status status = Check(Nodes(nodes), environment);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << command;
      EXPECT_THAT(status.message(), AllOf(HasSubstr("one of 4 tasks that " + command + " has started"),
                                          HasSubstr("--nodes=4 --rank=$" + environment.begin()->first)));
    }
  }
}

TEST(BatchTask, ARankThatIsGivenDecides) {
  ClusterOptions cluster;
  cluster.rank = 0;
  EXPECT_EQ(Check(cluster, {{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}), absl::OkStatus());
}

TEST(BatchTask, ASingleTaskMayStartItsOwnNodes) {
  EXPECT_EQ(Check(Nodes(2), {}), absl::OkStatus());
  EXPECT_EQ(Check(Nodes(2), {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), absl::OkStatus());
}

TEST(BatchTask, AScriptOfAnAllocationForManyTasksIsASingleProcess) {
  EXPECT_EQ(Check(Nodes(2), {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), absl::OkStatus());
}

TEST(BatchTask, TheInnerCommandDecides) {
  EXPECT_EQ(Check(Nodes(2), {{"SLURM_PROCID", "1"},
                             {"SLURM_STEP_NUM_TASKS", "4"},
                             {"OMPI_COMM_WORLD_RANK", "0"},
                             {"OMPI_COMM_WORLD_SIZE", "1"}}),
            absl::OkStatus());
}

TEST(BatchTask, VariablesThatAreNoNumbersSayNothing) {
  EXPECT_EQ(Check({}, {{"PMI_RANK", "0"}, {"PMI_SIZE", "many"}}), absl::OkStatus());
}

}  // namespace
}  // namespace glaive::engine
