// OrDie: ends a benchmark after an error of the system, of a device or of its own setup.
//
//   const rdma::PageRegion memory = OrDie(rdma::PageRegion::Map(bytes));
#pragma once

#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace glaive::bench {

/// If `status` is an error, prints its message on standard error and ends the process at once: a thread of the control
/// plane may still need what exit() would destroy.
inline void OrDie(const absl::Status& status, int exit_code = 1) {
  if (status.ok()) return;
  std::cerr << program_invocation_short_name << ": " << status.message() << "\n";
  std::cout.flush();
  _exit(exit_code);
}

template <typename T>
T OrDie(absl::StatusOr<T> value, int exit_code = 1) {
  OrDie(value.status(), exit_code);
  return *std::move(value);
}

}  // namespace glaive::bench
