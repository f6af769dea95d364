// Batch tasks: srun and mpirun start a command once for each task of theirs. Such a process has to be told its rank: by
// itself it would be a whole run, and the results of all tasks would go to the same files.
//
//   flags.AddCheck([&options] { return CheckBatchTask(options.cluster, std::getenv); });
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "engine/flags/engine_options.h"

namespace glaive::engine {

/// kInvalidArgument, with the flags to give, if this process is one of several tasks and has no --rank. `variable`
/// gives an environment variable's text, or null.
absl::Status CheckBatchTask(const ClusterOptions& cluster, absl::FunctionRef<const char*(const char*)> variable);

}  // namespace glaive::engine
