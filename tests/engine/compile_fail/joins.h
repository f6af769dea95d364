// The start of a join, for the sources in this folder.
#pragma once

#include "engine/api/join.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

inline auto TwoStreams() { return Join(Clicks(), Clicks()); }
inline auto OnPages() { return TwoStreams().On(&Click::page, &Click::page); }

}  // namespace glaive::engine
