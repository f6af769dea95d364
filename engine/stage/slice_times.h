// Checks the times of a session that a peer has sent. They must lie in the slice that the peer names; others are
// refused.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/window/windows.h"

namespace glaive::engine {

inline absl::Status TimeOutsideSlice(const Windows& windows, std::int64_t slice, std::int64_t time_ms) {
  return absl::DataLossError(absl::StrCat("a session's delta has the event time ", time_ms, " ms in the slice from ",
                                          windows.StartMs(slice), " to ", windows.EndMs(slice),
                                          " ms: an executor of this run sends wrong data"));
}

}  // namespace glaive::engine
