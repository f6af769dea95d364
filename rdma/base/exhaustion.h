// Exhaustion: the errors of a system that has no more memory, threads or descriptors, with the remedy. For memory and
// threads the standard library throws; CatchExhaustion turns these exceptions into errors.
//
//   absl::Status status = CatchExhaustion([&] { return executor.Open(); });
//   int main(int argc, char** argv) { return RunMain([&] { return Main(argc, argv); }); }
#pragma once

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace glaive {

/// What `work` returns. ResourceExhausted with the remedy if memory or a thread could not be had; other exceptions
/// pass. The status has no message if there was no memory even for that: see MessageOf.
absl::Status CatchExhaustion(absl::FunctionRef<absl::Status()> work);

/// The message of a status for people, also of one of CatchExhaustion that has none.
absl::string_view MessageOf(const absl::Status& status);

/// The words for an error number of a system call. Behind them, with a semicolon, what to do: where a limit of the
/// system is the cause, to raise it ("Too many open files; raise ulimit -n"), else `remedy`, which may be empty.
std::string ErrorText(int error, absl::string_view remedy = "");

/// The least that a stack of a program has to be allowed to grow to (`ulimit -s`).
inline constexpr std::size_t kMinStackBytes = std::size_t{512} << 10;

/// The whole of a `main`: the exit code that `body` returns, or `failure` after one line on standard error if it could
/// not have memory or a thread. If another thread could not, the process ends with that line and 1. A file that would
/// grow beyond `ulimit -f` becomes an error of the write, not the end of the process (SIGXFSZ). A stack of less than
/// kMinStackBytes is refused: the process would end with SIGSEGV somewhere.
int RunMain(absl::FunctionRef<int()> body, int failure = 1);

}  // namespace glaive
