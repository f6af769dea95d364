#include "rdma/base/exhaustion.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>

#include "absl/strings/string_view.h"

namespace glaive {
namespace {

constexpr int kFailed = 1;

constexpr char kNoMemory[] =
    "out of memory: the system gives this process no more; raise ulimit -v or the cgroup's limit, free memory on this "
    "host, or start fewer --executors with fewer records";
constexpr char kNoThread[] =
    "cannot start a thread: raise ulimit -u, ulimit -v or the cgroup's pids.max, or start fewer --executors";
constexpr char kNoResource[] = "the system refused a resource: look at ulimit -a and at the limits of the cgroup";

// One status for each kind. They are made once, while there is memory; a copy takes none.
struct Refusals {
  absl::Status no_memory = absl::ResourceExhaustedError(kNoMemory);
  absl::Status no_thread = absl::ResourceExhaustedError(kNoThread);
  absl::Status no_resource = absl::ResourceExhaustedError(kNoResource);
};

const Refusals& AllRefusals() {
  static const Refusals* const refusals = new Refusals();
  return *refusals;
}

// What `work` returns, or what `on_missing` makes of the words for what it could not have. Allocates nothing itself.
template <typename Work, typename OnMissing>
auto Catching(const Work& work, const OnMissing& on_missing) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return on_missing(kNoMemory);
  } catch (const std::length_error&) {  // more than any memory holds
    return on_missing(kNoMemory);
  } catch (const std::system_error& error) {
    return on_missing(error.code() == std::errc::resource_unavailable_try_again ? kNoThread : kNoResource);
  }
}

// There may be no memory to put a line together.
void Tell(absl::string_view message) {
  const absl::string_view parts[] = {program_invocation_short_name, ": ", message, "\n"};
  iovec vectors[std::size(parts)];
  std::ranges::transform(parts, vectors, [](absl::string_view part) {
    return iovec{.iov_base = const_cast<char*>(part.data()), .iov_len = part.size()};
  });
  (void)!::writev(STDERR_FILENO, vectors, std::size(vectors));
}

// For exceptions that no thread has caught. Those that are no exhaustion are defects, and end with a core file.
[[noreturn]] void EndProcess() {
  const auto rethrow = []() -> int { std::rethrow_exception(std::current_exception()); };
  const auto end = [](const char* message) -> int {
    Tell(message);
    ::_exit(kFailed);
  };
  try {
    Catching(rethrow, end);
  } catch (const std::exception& defect) {
    Tell(defect.what());
  } catch (...) {
    Tell("an exception of unknown type");
  }
  std::abort();
}

}  // namespace

absl::Status CatchExhaustion(absl::FunctionRef<absl::Status()> work) {
  const Refusals& refusals = AllRefusals();
  return Catching(work, [&](absl::string_view message) {
    if (message == kNoMemory) return refusals.no_memory;
    return message == kNoThread ? refusals.no_thread : refusals.no_resource;
  });
}

int RunMain(absl::FunctionRef<int()> body) {
  std::set_terminate(&EndProcess);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const auto prepare_and_run = [&] {
    AllRefusals();
    return body();
  };
  return Catching(prepare_and_run, [](const char* message) {
    Tell(message);
    return kFailed;
  });
}

}  // namespace glaive
