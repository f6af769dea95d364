// A comparison of collections names what is missing and what is unexpected, and stays short.

#include "tests/state/same_elements.h"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive {
namespace {

using Counts = std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t>;

TEST(SameElements, AreFoundInAnyOrderAndInAnyKindOfCollection) {
  EXPECT_TRUE(SameElements(std::vector{3, 1, 2, 1}, std::multiset{1, 1, 2, 3}));
  EXPECT_TRUE(SameElements(std::vector<int>{}, std::set<int>{}));
  EXPECT_TRUE(SameElements(Counts{{{1000, 7}, 3}}, Counts{{{1000, 7}, 3}}));
}

TEST(SameElements, NameWhatIsMissingAndWhatIsUnexpected) {
  const Counts expected = {{{1000, 7}, 4}, {{1000, 8}, 5}, {{2000, 9}, 1}};
  const Counts found = {{{1000, 7}, 3}, {{1000, 8}, 5}};
  const ::testing::AssertionResult result = SameElements(found, expected);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(),
               "2 elements, 3 expected; 1 unexpected: ((1000, 7), 3); 2 missing: ((1000, 7), 4), ((2000, 9), 1)");
}

TEST(SameElements, CountHowOftenAnElementOccurs) {
  EXPECT_STREQ(SameElements(std::vector{1, 2, 2}, std::vector{1, 1, 2}).message(),
               "3 elements, 3 expected; 1 unexpected: 2; 1 missing: 1");
  EXPECT_STREQ(SameElements(std::vector{1, 1}, std::vector{1}).message(), "2 elements, 1 expected; 1 unexpected: 1");
}

TEST(SameElements, NameAFewOfMany) {
  std::vector<int> many;
  for (int i = 0; i < 100'000; ++i) many.push_back(i);
  EXPECT_STREQ(SameElements(std::vector<int>{}, many).message(),
               "0 elements, 100000 expected; 100000 missing: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...");
}

TEST(SameElements, PrintABeginningOfLongOnes) {
  const std::vector<std::string> expected(12, std::string(5'000, 'x'));
  const std::string message = SameElements(std::vector<std::string>{"y"}, expected).message();
  EXPECT_LT(message.size(), 2'500U);
  EXPECT_NE(message.find("1 unexpected: \"y\"; 12 missing: \"xxx"), std::string::npos) << message;
  EXPECT_NE(message.find("xxx..., \"xxx"), std::string::npos) << message;
}

struct Spot {
  std::int32_t x;
  std::optional<std::int32_t> y;

  friend auto operator<=>(const Spot&, const Spot&) = default;
};
GLAIVE_RECORD(Spot, x, y)
struct Sight {
  Text name;
  Spot at;
  std::array<bool, 2> seen;

  friend auto operator<=>(const Sight&, const Sight&) = default;
};
GLAIVE_RECORD(Sight, name, at, seen)

TEST(SameElements, PrintDescribedRecordsByTheirMembers) {
  const Sight found{.name = Text("a \"bridge\", which is long"), .at = {.x = 3, .y = 4}, .seen = {true, false}};
  const Sight expected{.name = Text("b"), .at = {.x = -3, .y = {}}, .seen = {false, false}};
  EXPECT_STREQ(SameElements(std::vector{found}, std::vector{expected}).message(),
               "1 elements, 1 expected; 1 unexpected: {name: \"a \\\"bridge\\\", which is long\", at: {x: 3, y: (4)}, "
               "seen: { true, false }}; 1 missing: {name: \"b\", at: {x: -3, y: (nullopt)}, seen: { false, false }}");
}

TEST(SameSequence, IsTheSameElementsInTheSameOrder) {
  EXPECT_TRUE(SameSequence(std::vector{3, 1, 2}, std::vector{3, 1, 2}));
  EXPECT_TRUE(SameSequence(std::vector<int>{}, std::vector<int>{}));
  EXPECT_FALSE(SameSequence(std::vector{3, 1, 2}, std::vector{1, 2, 3}));
}

TEST(SameSequence, NamesTheFirstElementThatDiffers) {
  EXPECT_STREQ(SameSequence(std::vector{4, 5, 6}, std::vector{4, 7, 6}).message(),
               "3 elements, 3 expected; they differ from element 1 on: 5, expected 7");
  EXPECT_STREQ(SameSequence(std::vector{4}, std::vector{4, 7}).message(),
               "1 elements, 2 expected; they differ from element 1 on: none, expected 7");
  EXPECT_STREQ(SameSequence(std::vector{4, 7}, std::vector<int>{}).message(),
               "2 elements, 0 expected; they differ from element 0 on: 4, expected none");
}

TEST(SameSequence, PrintsABeginningOfALongElement) {
  const std::vector<std::string> expected(12, std::string(5'000, 'x'));
  EXPECT_LT(std::string(SameSequence(std::vector<std::string>{}, expected).message()).size(), 500U);
}

}  // namespace
}  // namespace glaive
