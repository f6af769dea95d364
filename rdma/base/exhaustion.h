// Exhaustion: memory or a thread that the system does not give. The standard library throws then, which nothing else
// does here; these functions turn it into an error with its remedy.
//
//   absl::Status status = CatchExhaustion([&] { return executor.Open(); });
//   int main(int argc, char** argv) { return RunMain([&] { return Main(argc, argv); }); }
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace glaive {

/// What `work` returns. ResourceExhausted with the remedy if memory or a thread could not be had; other exceptions
/// pass. The status has no message if there was no memory even for that: see MessageOf.
absl::Status CatchExhaustion(absl::FunctionRef<absl::Status()> work);

/// The message of a status for people, also of one of CatchExhaustion that has none.
absl::string_view MessageOf(const absl::Status& status);

/// The whole of a `main`: the exit code that `body` returns, or `failure` after one line on standard error if it could
/// not have memory or a thread. If another thread could not, the process ends with that line and 1. A file that would
/// grow beyond `ulimit -f` becomes an error of the write, not the end of the process (SIGXFSZ).
int RunMain(absl::FunctionRef<int()> body, int failure = 1);

}  // namespace glaive
