// The standard streams of a process: what it does where they lead nowhere.
#pragma once

#include <ostream>
#include <string_view>

#include "absl/status/status.h"

namespace glaive::engine {

/// To be called before anything is opened. A pipe without a reader becomes an error of the write, not the end of the
/// process (SIGPIPE). A stream that is closed becomes /dev/null, or the next file to be opened would take its place.
void PrepareStandardStreams();

/// Flushes standard output. FailedPrecondition if something that was written is lost, before or now; none if its reader
/// has closed the pipe (EPIPE): it has read what it wanted.
absl::Status FlushStandardOutput(std::ostream& out);

/// The exit code of a main that has written to standard output: `exit_code`; or, in place of 0, `failure` if something
/// of it is lost. Then standard error says so.
int ExitCodeAfterOutput(std::string_view program, int exit_code, int failure);

}  // namespace glaive::engine
