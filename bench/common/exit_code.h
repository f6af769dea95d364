// ExitCodeAfterOutput: the end of a benchmark's main, where standard output may have been a full disk.
//
//   return ExitCodeAfterOutput("channel", 0, 1);
#pragma once

#include <iostream>

#include "absl/status/status.h"

#include "engine/cluster/standard_streams.h"

namespace glaive::bench {

/// `exit_code`; or, in place of 0, `failure` if something that was written to standard output is lost. Standard error
/// says so.
inline int ExitCodeAfterOutput(const char* program, int exit_code, int failure) {
  const absl::Status written = engine::FlushStandardOutput(std::cout);
  if (written.ok()) return exit_code;
  std::cerr << program << ": " << written.message() << "\n";
  return exit_code == 0 ? failure : exit_code;
}

}  // namespace glaive::bench
