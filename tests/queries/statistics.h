// Comparisons of counted draws with exact probabilities, for tests of generated inputs. The draws are the same in every
// run, so a test that passes once always does; five standard deviations keep a change of the seed from breaking it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace glaive::queries {

/// `count` of `draws` draws with probability `share` is within five standard deviations of what is expected.
inline void ExpectShare(std::uint64_t count, std::uint64_t draws, double share, const std::string& what) {
  const double mean = static_cast<double>(draws) * share;
  const double deviation = std::sqrt(mean * (1 - share));
  EXPECT_NEAR(static_cast<double>(count), mean, 5 * deviation) << what;
}

}  // namespace glaive::queries
