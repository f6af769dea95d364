// Mix: scatters 64 bits, so that the generator can draw by hashing counters. Pure; about 1 ns when pipelined.
//
//   std::uint64_t draw = Mix(stream + number * kCounterStep);
#pragma once

#include <cstdint>

namespace glaive::queries::ysb {

/// 2^64 divided by the golden ratio, made odd: multiples of it spread evenly over all 64 bits.
inline constexpr std::uint64_t kCounterStep = 0x9e3779b97f4a7c15;

/// The finalizer of SplitMix64: a bijection in which every input bit changes every output bit about half of the time.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace glaive::queries::ysb
