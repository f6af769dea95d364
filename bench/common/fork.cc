#include "bench/common/fork.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "absl/status/status.h"

namespace glaive::bench {

absl::StatusOr<pid_t> ForkWithParent() {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start another process");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent ended before prctl
  }
  return pid;
}

}  // namespace glaive::bench
