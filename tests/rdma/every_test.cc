#include "rdma/base/every.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive {
namespace {

using ::testing::ElementsAre;

std::vector<int> TrueAt(Every every, int steps) {
  std::vector<int> numbers;
  for (int step = 1; step <= steps; ++step) {
    if (every.Step()) {
      numbers.push_back(step);
    }
  }
  return numbers;
}

TEST(Every, TellsEachNthStep) {
  EXPECT_THAT(TrueAt(Every(3), 10), ElementsAre(3, 6, 9));
  EXPECT_THAT(TrueAt(Every(1), 3), ElementsAre(1, 2, 3));
}

TEST(Every, CountsSeveralStepsAtATime) {
  Every every(10);
  EXPECT_FALSE(every.Step(9));
  EXPECT_TRUE(every.Step(4)) << "13 steps";
  EXPECT_FALSE(every.Step(9)) << "counted anew";
  EXPECT_TRUE(every.Step(1));
  EXPECT_TRUE(every.Step(100)) << "more than that at once";
}

}  // namespace
}  // namespace glaive
