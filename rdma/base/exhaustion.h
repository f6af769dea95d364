// Exhaustion: memory or a thread that the system does not give. The standard library throws then, which nothing else
// does here; these functions turn it into an error with its remedy.
//
//   absl::Status status = CatchExhaustion([&] { return executor.Open(); });
//   int main(int argc, char** argv) { return RunMain([&] { return Main(argc, argv); }); }
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace glaive {

/// What `work` returns. ResourceExhausted with the remedy if memory or a thread could not be had; other exceptions
/// pass. The words of that status are made by RunMain, or by the first call where there is none.
absl::Status CatchExhaustion(absl::FunctionRef<absl::Status()> work);

/// The whole of a `main`: the exit code that `body` returns, or 1 after one line on standard error if what could not be
/// had has ended it, or another thread of the process. A file that would grow beyond `ulimit -f` becomes an error of
/// the write, not the end of the process (SIGXFSZ).
int RunMain(absl::FunctionRef<int()> body);

}  // namespace glaive
