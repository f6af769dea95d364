// A death test whose child starts the program anew instead of being forked: a forked child loses what ThreadSanitizer
// knows about fibers, and it then reports races between a fiber and itself.
#pragma once

#include <gtest/gtest.h>

namespace glaive::engine {

/// See the head of this file.
class ReexecutedDeathTest : public testing::Test {
 protected:
  ReexecutedDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

}  // namespace glaive::engine
