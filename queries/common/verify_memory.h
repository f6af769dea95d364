// What --verify retains of results, in bytes; the memory plan of a run asks for it beforehand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "queries/common/result_row.h"

namespace glaive::queries {

inline constexpr std::uint64_t kVerifyBytesPerRow = 3 * sizeof(ResultRow);  // retained, copied and expected

/// The most for a node's rows; also of a stream whose length is not known.
inline constexpr std::uint64_t kMostVerifyRowBytes = std::uint64_t{1} << 30;

/// For at most `rows` rows, as long as that is not beyond kMostVerifyRowBytes.
inline std::uint64_t VerifyRowBytes(double rows) {
  return static_cast<std::uint64_t>(std::min(rows * kVerifyBytesPerRow, double{kMostVerifyRowBytes}));
}

}  // namespace glaive::queries
