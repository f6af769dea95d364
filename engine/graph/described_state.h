// DescribedState: an operator's description of its state, for the error when the state exceeds its budget.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::engine {

class DescribedState {
 public:
  virtual ~DescribedState() = default;

  /// The operator's kind and the contents of its state, with sizes: "the tumbling join keeps ...".
  virtual std::string Describe() const = 0;

  /// The status, and where memory has run out, what for.
  absl::Status Explain(const absl::Status& status) const {
    // This runs for each record. ok() is inlined, and IsResourceExhausted() is a call.
    if (status.ok() || !absl::IsResourceExhausted(status)) [[likely]] {
      return status;
    }
    return absl::ResourceExhaustedError(absl::StrCat(status.message(), "; ", Describe()));
  }
};

}  // namespace glaive::engine
