// LockedMemoryHint: the remedy when a device refuses because it may not lock enough memory.
#pragma once

#include <string>

namespace glaive::rdma {

/// To be put behind the message of a verb that failed with `error`. "; this process may lock 64KiB in memory: raise
/// that (...)" when that may be the cause, else empty. Queues and registered memory count against RLIMIT_MEMLOCK.
std::string LockedMemoryHint(int error);

}  // namespace glaive::rdma
