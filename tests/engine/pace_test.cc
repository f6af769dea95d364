#include "engine/fiber/pace.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fiber/scheduler.h"

namespace glaive::engine {
namespace {

using testing::ElementsAre;

/// How many steps of `count` each a fiber has taken at the end of each turn, of `steps` in all.
std::vector<int> StepsAtTheEndOfTurns(Pace pace, std::uint64_t count, int steps) {
  Scheduler scheduler({});
  int taken = 0;
  EXPECT_TRUE(scheduler
                  .Spawn("loop", FiberKind::kCompute,
                         [&](Fiber& fiber) {
                           for (; taken < steps; ++taken) {
                             pace.Step(fiber, count);
                           }
                         })
                  .ok());
  std::vector<int> at_the_end;
  while (!scheduler.done()) {
    scheduler.RunRound();
    at_the_end.push_back(taken);
  }
  return at_the_end;
}

TEST(Pace, EndsATurnWithItsLastStep) {
  // The step that yields is counted when the fiber has its turn again.
  EXPECT_THAT(StepsAtTheEndOfTurns(Pace(3), 1, 8), ElementsAre(2, 5, 8));
}

TEST(Pace, AStepMayCountForSeveral) { EXPECT_THAT(StepsAtTheEndOfTurns(Pace(10), 4, 7), ElementsAre(2, 5, 7)); }

TEST(Pace, OneStepATurn) { EXPECT_THAT(StepsAtTheEndOfTurns(Pace(1), 1, 3), ElementsAre(0, 1, 2, 3)); }

}  // namespace
}  // namespace glaive::engine
