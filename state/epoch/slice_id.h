// SliceId: the number of a piece of a window slice (engine/window/windows.h). The state layer has a table for each
// number and only compares numbers; in its comments, "slice" means a piece.
#pragma once

#include <cstdint>
#include <limits>

#include "rdma/base/mix.h"

namespace glaive::state {

/// Slices are numbered in the order in which they are complete; numbers may be negative.
enum class SliceId : std::int64_t {};

inline constexpr SliceId kFirstSlice{std::numeric_limits<std::int64_t>::min()};
inline constexpr SliceId kLastSlice{std::numeric_limits<std::int64_t>::max()};

/// The slices from `first` to `last`; none if `last` comes before.
struct SliceRange {
  SliceId first = kFirstSlice;
  SliceId last = kLastSlice;
};

/// Spreads slice numbers over 64 bits, whatever their stride.
constexpr std::uint64_t SliceHash(SliceId slice) { return Mix64(static_cast<std::uint64_t>(slice) + kMixStep); }

}  // namespace glaive::state
