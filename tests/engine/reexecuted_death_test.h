// ReexecutedDeathTest: the fixture of death tests that run fibers. Costs a start of the test program for each death.
//
//   using SchedulerDeathTest = ReexecutedDeathTest;
#pragma once

#include <gtest/gtest.h>

namespace glaive::engine {

/// A death test whose child starts the program anew instead of being forked: a forked child loses what ThreadSanitizer
/// knows about fibers, and it then reports races between a fiber and itself.
class ReexecutedDeathTest : public testing::Test {
 protected:
  ReexecutedDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

}  // namespace glaive::engine
