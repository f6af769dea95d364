#include "engine/base/cpu_pinning.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace glaive::engine {

absl::Status PinThisThread(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  if (sched_setaffinity(0, sizeof(mask), &mask) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("cannot pin a thread to CPU ", cpu, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

void UnpinThisThread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(getpid(), sizeof(mask), &mask) == 0) {
    (void)sched_setaffinity(0, sizeof(mask), &mask);
  }
}

}  // namespace glaive::engine
