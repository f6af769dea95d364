// ForkWithParent: a child process that ends with its parent.
#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"

namespace glaive::bench {

/// fork(), but the kernel kills the child when the parent ends, however it ends. Returns 0 in the child and the child's
/// process ID in the parent. The error is fork's.
absl::StatusOr<pid_t> ForkWithParent();

}  // namespace glaive::bench
