// CPU pinning: an executor runs on one processor, and no two share one, if there are enough.
//
//   absl::Status pinned = PinThisThread(AllowedCpus()[0]);
#pragma once

#include "absl/status/status.h"

namespace glaive::engine {

/// Pins the calling thread to one processor. FailedPrecondition with the system's reason.
absl::Status PinThisThread(int cpu);

/// Lets the calling thread run wherever the process's main thread may. A thread inherits the processors of the thread
/// that made it. Best effort.
void UnpinThisThread();

}  // namespace glaive::engine
