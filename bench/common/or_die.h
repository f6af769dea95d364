// OrDie: what a benchmark does with an error of the system, of a device or of its own setup.
//
//   const rdma::PageRegion memory = OrDie(rdma::PageRegion::Map(bytes));
#pragma once

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace glaive::bench {

/// Ends the process with exit code 1 if the status is an error, which a line on standard error tells.
inline void OrDie(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << program_invocation_short_name << ": " << status.message() << "\n";
  std::exit(1);
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  OrDie(value.status());
  return *std::move(value);
}

}  // namespace glaive::bench
