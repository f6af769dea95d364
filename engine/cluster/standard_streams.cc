#include "engine/cluster/standard_streams.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

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
  const bool has_lost = !out;
  errno = 0;
  if (has_lost) {  // errno was another call's, so one more character finds the reason again
    out.clear();
    out << '\n';
  }
  if (out) {  // a stream that is not buffered has failed at the character
    out.flush();
  }
  const int error = errno;
  if ((out && !has_lost) || error == EPIPE) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot write standard output: ", error == 0 ? "text was lost before" : std::strerror(error)));
}

int ExitCodeAfterOutput(std::string_view program, int exit_code, int failure) {
  const absl::Status written = FlushStandardOutput(std::cout);
  if (written.ok()) {
    return exit_code;
  }
  std::cerr << program << ": " << written.message() << "\n";
  return exit_code == 0 ? failure : exit_code;
}

}  // namespace glaive::engine
