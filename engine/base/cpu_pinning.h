// CPU pinning: an executor keeps to one processor, and no two share one, if there are enough.
//
//   absl::Status pinned = PinThisThread(AllowedCpus()[0]);
#pragma once

#include "absl/status/status.h"

namespace glaive::engine {

/// Keeps the calling thread on one processor. FailedPrecondition with the system's reason.
absl::Status PinThisThread(int cpu);

/// Lets the calling thread run wherever the process's main thread may: threads start where the one that made them is
/// kept. Best effort.
void UnpinThisThread();

}  // namespace glaive::engine
