#include "state/crdt/ordered.h"

#include <cstdint>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/several.h"
#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Few different ones, so that ties are common.
std::int64_t Small(LawRandom& random) { return static_cast<std::int64_t>(random() % 7) - 3; }
Ordered<std::int64_t, std::int32_t> SmallPair(LawRandom& random) {
  return {.order = Small(random), .value = static_cast<std::int32_t>(Small(random))};
}

TEST(ChosenValue, KeepsTheLaws) {
  ExpectCrdtLaws<FirstValue<std::int64_t, std::int32_t>>(1, SmallPair);
  ExpectCrdtLaws<LastValue<std::int64_t, std::int32_t>>(2, SmallPair);
  ExpectCrdtLaws<FirstValue<std::int64_t, Text>>(7, [](LawRandom& random) {
    return Ordered<std::int64_t, Text>{.order = Small(random), .value = RandomLawText(random)};
  });
  ExpectCrdtLaws<LastValue<Text, Text>>(8, [](LawRandom& random) {
    return Ordered<Text, Text>{.order = RandomLawText(random), .value = RandomLawText(random)};
  });
}

TEST(ChosenValue, IsOfTheLeastOrGreatestOrderAndOfTiesTheLeastOrGreatestValue) {
  FirstValue<std::int64_t, std::int32_t> first;
  LastValue<std::int64_t, std::int32_t> last;
  EXPECT_EQ(first.Result(), std::nullopt);
  for (const auto& [order, value] :
       {std::pair(5, 1), std::pair(3, 9), std::pair(3, 8), std::pair(7, 2), std::pair(7, 4)}) {
    first.Update({.order = order, .value = value});
    last.Update({.order = order, .value = value});
  }
  EXPECT_EQ(first.Result(), 8);
  EXPECT_EQ(last.Result(), 4);
}

TEST(TopKValue, KeepsTheLaws) {
  ExpectCrdtLaws<TopKValue<1, std::int64_t>>(3, Small);
  ExpectCrdtLaws<TopKValue<3, std::int64_t>>(4, Small);
  ExpectCrdtLaws<TopKValue<10, std::int64_t>>(5, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<TopKValue<3, Text>>(9, RandomLawText);
}

TEST(TopKValue, KeepsTheGreatestInOrderWithTheirRepetitions) {
  TopKValue<3, std::int64_t> top;
  EXPECT_THAT(top.Result(), IsEmpty());
  top.Update(4);
  top.Update(9);
  EXPECT_THAT(top.Result(), ElementsAre(9, 4));
  for (const std::int64_t value : {1, 9, 5, -2}) top.Update(value);
  EXPECT_THAT(top.Result(), ElementsAre(9, 9, 5));
}

TEST(SeveralValue, KeepsTheLaws) {
  using Both = SeveralValue<CountValue, MaxValue<std::int64_t>, TopKValue<2, std::int64_t>>;
  ExpectCrdtLaws<Both>(6, [](LawRandom& random) { return Both::Input{{}, {Small(random), {Small(random)}}}; });
}

TEST(SeveralValue, GivesEachItsOwn) {
  SeveralValue<CountValue, MaxValue<std::int64_t>> value;
  value.Update({{}, {3}});
  value.Update({{}, {-4}});
  EXPECT_EQ(value.Result(), std::tuple(std::uint64_t{2}, std::int64_t{3}));
}

}  // namespace
}  // namespace glaive::state
