#include "rdma/base/exhaustion.h"

#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace glaive {
namespace {

constexpr char kNoMemory[] =
    "out of memory: the system gives this process no more; raise ulimit -v or the cgroup's limit, free memory on this "
    "host, or start fewer --executors with fewer records";
constexpr char kNoThread[] =
    "cannot start a thread: raise ulimit -u, ulimit -v or the cgroup's pids.max, or start fewer --executors";
constexpr char kNoResource[] = "the system refused a resource: look at ulimit -a and at the limits of the cgroup";

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
    ::_exit(1);
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

// Where memory is missing there is none for a status either, so all are made before; a copy of one takes none. Where
// there is none even for those, the status has no message, which takes no memory.
absl::Status CatchExhaustion(absl::FunctionRef<absl::Status()> work) {
  std::array<absl::Status, 3> statuses;
  statuses.fill(absl::ResourceExhaustedError(""));
  const auto make_and_work = [&] {
    statuses = {absl::ResourceExhaustedError(kNoMemory), absl::ResourceExhaustedError(kNoThread),
                absl::ResourceExhaustedError(kNoResource)};
    return work();
  };
  return Catching(make_and_work, [&](absl::string_view message) {
    const auto* const made =
        std::ranges::find(statuses, message, [](const absl::Status& status) { return status.message(); });
    return made == statuses.end() ? statuses.back() : *made;
  });
}

absl::string_view MessageOf(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && status.message().empty() ? kNoMemory : status.message();
}

std::string ErrorText(int error, absl::string_view remedy) {
  if (error == EMFILE) remedy = "raise ulimit -n";
  if (error == ENFILE) remedy = "raise the system's fs.file-max, or end other programs";
  if (error == EFBIG) remedy = "raise ulimit -f, or use a file system for larger files";
  return absl::StrCat(::strerrordesc_np(error), remedy.empty() ? "" : "; ", remedy);
}

int RunMain(absl::FunctionRef<int()> body, int failure) {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kMinStackBytes) {
    char message[128];
    std::snprintf(message, sizeof(message), "a stack of %zu KiB is too small; raise ulimit -s to %zu at least",
                  static_cast<std::size_t>(stack.rlim_cur) >> 10, kMinStackBytes >> 10);
    Tell(message);
    return failure;
  }
  std::set_terminate(&EndProcess);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return Catching(body, [failure](const char* message) {
    Tell(message);
    return failure;
  });
}

}  // namespace glaive
