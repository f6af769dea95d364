#include "engine/cluster/batch_task.h"

#include <array>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace glaive::engine {
namespace {

struct BatchVariables {
  const char* command;
  const char* rank;
  const char* size;
};

// The inner ones first: mpirun may use srun to reach a host. Slurm's is the size of the step, which a shell of salloc
// and a script of sbatch do not have, or with 1 task: SLURM_NTASKS is that of the whole allocation.
constexpr std::array<BatchVariables, 3> kBatchVariables = {{
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"mpiexec", "PMI_RANK", "PMI_SIZE"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
}};

}  // namespace

absl::Status CheckBatchTask(const ClusterOptions& cluster, absl::FunctionRef<const char*(const char*)> variable) {
  if (cluster.rank.has_value()) return absl::OkStatus();
  for (const BatchVariables& names : kBatchVariables) {
    const char* const rank = variable(names.rank);
    const char* const size = variable(names.size);
    std::uint32_t tasks = 0;
    if (rank == nullptr || size == nullptr || !absl::SimpleAtoi(size, &tasks)) continue;
    if (tasks <= 1) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "this is one of ", tasks, " tasks that ", names.command, " has started (", names.rank, "=", rank,
        "), and each would be a whole run; for one run of all write ", names.command, " ... sh -c 'QUERY --nodes=",
        tasks, " --rank=$", names.rank, " --coordinator=HOST:PORT ...', for a run each --rank=0"));
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
