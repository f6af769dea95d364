// Mix64: scatters 64 bits. Pure; about 1 ns.
//
//   std::uint64_t spread = Mix64(number + kMixStep);
#pragma once

#include <cstdint>

namespace glaive {

/// 2^64 divided by the golden ratio, made odd: multiples of it spread evenly over all 64 bits.
inline constexpr std::uint64_t kMixStep = 0x9E3779B97F4A7C15;

/// The finalizer of SplitMix64: a bijection in which every input bit changes every output bit about half of the time.
constexpr std::uint64_t Mix64(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

}  // namespace glaive
