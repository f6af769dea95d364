// Watch: a function by which long work finds out that it has to end early, because of Ctrl-C or a lost node.
//
// Handed down from `main`. The work calls it some times a second, on its own thread, and returns its status if that is
// not OK.
//
//   for (...) {
//     if (absl::Status status = watch(); !status.ok()) return status;
//     ...some milliseconds' work...
//   }
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace glaive {

using Watch = std::function<absl::Status()>;

/// The watch of work that nothing ends early.
inline absl::Status GoOn() { return absl::OkStatus(); }

}  // namespace glaive
