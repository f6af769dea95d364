// The sizes of hand-written tables with open addressing: powers of two, of which keys fill six tenths at most.
//
//   const int bits = TableBitsFor(/*keys=*/1'000);   // 2^11 cells
#pragma once

#include <algorithm>
#include <cstdint>

namespace glaive::queries {

inline constexpr std::uint64_t kMostTableKeys = std::uint64_t{1} << 32;
inline constexpr int kSmallestTableBits = 10;

/// The most keys of a table of 2^bits cells.
constexpr std::uint64_t TableLimit(int bits) { return (std::uint64_t{1} << bits) * 6 / 10; }

/// The number of cells, as a power of two, that so many keys need; of more than kMostTableKeys, what these need.
constexpr int TableBitsFor(std::uint64_t keys) {
  int bits = kSmallestTableBits;
  while (TableLimit(bits) < std::min(keys, kMostTableKeys)) {
    ++bits;
  }
  return bits;
}

}  // namespace glaive::queries
