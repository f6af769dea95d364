// ProtocolError: the error of a message of another node that makes no sense.
//
//   return ProtocolError(rank, "its counters are those of another node");
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace glaive::engine {

inline absl::Status ProtocolError(std::uint32_t rank, absl::string_view what) {
  return absl::InternalError(absl::StrCat("node ", rank, " broke the protocol: ", what));
}

}  // namespace glaive::engine
