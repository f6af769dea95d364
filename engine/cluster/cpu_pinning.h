// CPU pinning: an executor keeps to one processor, and no two share one, if there are enough.
//
//   std::vector<int> cpus = AllowedCpus();
//   absl::Status pinned = PinThisThread(cpus[0]);
#pragma once

#include <vector>

#include "absl/status/status.h"

namespace glaive::engine {

/// The processors that this process may run on, ascending.
std::vector<int> AllowedCpus();

/// Keeps the calling thread on one processor. Unavailable with the system's reason.
absl::Status PinThisThread(int cpu);

}  // namespace glaive::engine
