// A comparison of maps of CRDT values names the keys that differ, and by which results.

#include "tests/state/same_values.h"

#include <cstdint>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "state/crdt/count.h"

namespace glaive {
namespace {

using CountsByKey = std::map<std::uint64_t, state::CountValue>;

TEST(SameValues, AreThoseOfEqualMaps) {
  EXPECT_TRUE(SameValues(CountsByKey{}, CountsByKey{}));
  EXPECT_TRUE(SameValues(CountsByKey{{7, {3}}, {8, {4}}}, CountsByKey{{7, {3}}, {8, {4}}}));
}

TEST(SameValues, NameTheKeysThatDifferAndTheirResults) {
  const ::testing::AssertionResult result =
      SameValues(CountsByKey{{6, {1}}, {7, {5}}, {8, {3}}}, CountsByKey{{6, {1}}, {8, {4}}, {9, {2}}});
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(),
               "3 keys, 3 expected; 1 unexpected: 7; 1 missing: 9; 1 with another result: 8: 3, not 4");
}

TEST(SameValues, NameAFewOfMany) {
  CountsByKey many;
  for (std::uint64_t key = 0; key < 1'000; ++key) many[key] = {key};
  EXPECT_STREQ(SameValues(many, CountsByKey{}).message(),
               "1000 keys, 0 expected; 1000 unexpected: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...");
}

}  // namespace
}  // namespace glaive
