#include "engine/cluster/standard_streams.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

#include "rdma/base/unique_fd.h"

namespace glaive::engine {

void PrepareStandardStreams() {
  (void)signal(SIGPIPE, SIG_IGN);
  int lowest_free = -1;
  do {
    lowest_free = open("/dev/null", O_RDWR);
  } while (lowest_free >= 0 && lowest_free <= STDERR_FILENO);
  const UniqueFd no_stream(lowest_free);
}

absl::Status FlushStandardOutput(std::ostream& out) {
  out.flush();
  const int error = errno;
  return out || error == EPIPE
             ? absl::OkStatus()
             : absl::FailedPreconditionError(absl::StrCat("cannot write standard output: ", std::strerror(error)));
}

}  // namespace glaive::engine
