// Spread: the median of some figures, with the least and the most of them.
//
//   const Spread ratio = SpreadOf(ratios);
//   absl::PrintF("%.2f (%.2f to %.2f)\n", ratio.median, ratio.least, ratio.most);
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace glaive::bench {

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// All 0 without figures.
inline Spread SpreadOf(std::vector<double> figures) {
  if (figures.empty()) {
    return {};
  }
  std::ranges::sort(figures);
  return {.median = figures[figures.size() / 2], .least = figures.front(), .most = figures.back()};
}

}  // namespace glaive::bench
