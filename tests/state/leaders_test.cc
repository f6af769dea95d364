#include "state/index/leaders.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

TEST(Leaders, UsuallyEachExecutorLeads) {
  const Leaders leaders(5);
  EXPECT_EQ(leaders.count(), 5U);
  for (std::uint32_t executor = 0; executor < 5; ++executor) {
    EXPECT_TRUE(leaders.Leads(ExecutorId{executor}));
    EXPECT_EQ(leaders.executor(executor), ExecutorId{executor});
    EXPECT_EQ(leaders.PlaceOf(ExecutorId{executor}), executor);
  }
}

TEST(Leaders, AreTheLastOfEachGroup) {
  const Leaders leaders(8, 4, 1);
  ASSERT_EQ(leaders.count(), 2U);
  const std::vector<std::uint32_t> by_place = {3, 7, 0, 1, 2, 4, 5, 6};
  for (std::uint32_t place = 0; place < by_place.size(); ++place) {
    EXPECT_EQ(leaders.executor(place), ExecutorId{by_place[place]});
    EXPECT_EQ(leaders.PlaceOf(ExecutorId{by_place[place]}), place);
    EXPECT_EQ(leaders.Leads(ExecutorId{by_place[place]}), place < 2);
  }
}

TEST(Leaders, EachLeadsSomeHashesAndNoOtherExecutorDoes) {
  const Leaders leaders(6, 3, 2);
  std::set<std::uint32_t> leading;
  for (std::uint64_t part = 0; part < 64; ++part) {
    const std::uint64_t hash = part << 50;
    EXPECT_EQ(leaders.Of(hash), leaders.executor(leaders.NumberOf(hash)));
    leading.insert(Value(leaders.Of(hash)));
  }
  EXPECT_EQ(leading, (std::set<std::uint32_t>{1, 2, 4, 5}));
}

TEST(LeadersDeathTest, AGroupIsComplete) {
  EXPECT_DEATH(Leaders(5, 2, 1), "leaders are 1 of each 2 of 5 executors");
  EXPECT_DEATH(Leaders(4, 2, 0), "leaders are 0 of each 2");
}

}  // namespace
}  // namespace glaive::state
