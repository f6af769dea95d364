// SliceId: the number of a window slice. The state layer only compares them; the engine gives them meaning.
#pragma once

#include <cstdint>
#include <limits>

namespace glaive::state {

/// Slices are numbered along event time; numbers may be negative, and later slices have greater ones.
enum class SliceId : std::int64_t {};

inline constexpr SliceId kFirstSlice{std::numeric_limits<std::int64_t>::min()};

/// Spreads slice numbers over 64 bits, whatever their stride (the finalizer of SplitMix64).
constexpr std::uint64_t SliceHash(SliceId slice) {
  auto bits = static_cast<std::uint64_t>(slice) + 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

}  // namespace glaive::state
