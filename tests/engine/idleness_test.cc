#include "engine/progress/idleness.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

TEST(Idleness, ComesAfterSoMuchSilence) {
  Idleness idleness(100);
  EXPECT_FALSE(idleness.OnSilence(10));
  EXPECT_FALSE(idleness.Due(109)) << "silence counts from the first time that nothing was there";
  EXPECT_FALSE(idleness.OnSilence(109));
  EXPECT_TRUE(idleness.Due(110));
  EXPECT_TRUE(idleness.OnSilence(110));
  EXPECT_TRUE(idleness.idle());
  EXPECT_FALSE(idleness.Due(111));
  EXPECT_FALSE(idleness.OnSilence(111)) << "it is idle already";
  idleness.OnActivity(150);
  EXPECT_FALSE(idleness.idle());
  EXPECT_FALSE(idleness.OnSilence(200));
  EXPECT_FALSE(idleness.OnSilence(299)) << "silence starts anew";
  EXPECT_EQ(idleness.periods(), 1U);
  EXPECT_EQ(idleness.idle_ns(), 40U);
}

TEST(Idleness, NeverComesWithoutATimeout) {
  Idleness idleness(0);
  EXPECT_FALSE(idleness.OnSilence(2));
  EXPECT_FALSE(idleness.OnSilence(std::int64_t{1} << 60));
}

}  // namespace
}  // namespace glaive::engine
