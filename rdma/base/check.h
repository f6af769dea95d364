// GLAIVE_CHECK: a broken invariant ends the process with the values that broke it.
//
// For programming errors and protocol invariants only. Failures of the environment (a flag, a device, a peer, a file)
// are an absl::Status instead; "not now" is a `bool Try...` or an empty optional.
//
// Cost: one predicted branch; the message is built only when the check fails. Any thread may call it.
//
//   GLAIVE_CHECK(sent - consumed <= credits, "I1: executor ", id, " sent ", sent, ", consumed ", consumed);
#pragma once

#include <string_view>

#include "absl/base/optimization.h"
#include "absl/strings/str_cat.h"

namespace glaive {

/// Prints `file:line: check failed: condition: message` to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, std::string_view message);

}  // namespace glaive

/// Aborts unless `condition` holds. The further arguments are joined as by absl::StrCat; there is at least one.
#define GLAIVE_CHECK(condition, ...)                                                      \
  do {                                                                                    \
    if (ABSL_PREDICT_FALSE(!(condition))) {                                               \
      ::glaive::CheckFailed(__FILE__, __LINE__, #condition, ::absl::StrCat(__VA_ARGS__)); \
    }                                                                                     \
  } while (false)
