// Elements of several sets as one key.

#include "state/index/numbered_element.h"

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "state/index/element_key.h"
#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::state {
namespace {

using Numbers = NumberedElement<std::uint32_t, std::uint16_t, std::uint32_t>;
using Mixed = NumberedElement<Text, std::uint64_t, Text>;

TEST(NumberedElement, HasTheRoomOfTheLargestAndANumber) {
  EXPECT_EQ(sizeof(Numbers), sizeof(std::uint32_t) + 1);
  EXPECT_EQ(sizeof(Mixed), sizeof(Text) + 1);
  EXPECT_FALSE(kHasText<Numbers>);
  EXPECT_TRUE(kHasText<Mixed>);
}

TEST(NumberedElement, IsAnotherInEachSet) {
  EXPECT_EQ(Numbers::Of<2>(7), Numbers::Of<2>(7));
  EXPECT_FALSE(Numbers::Of<2>(7) == Numbers::Of<0>(7));
  EXPECT_FALSE(Numbers::Of<1>(7) == Numbers::Of<0>(7));
  EXPECT_FALSE(Mixed::Of<0>(Text("a")) == Mixed::Of<2>(Text("a")));
  EXPECT_FALSE(Mixed::Of<0>(Text("a")) == Mixed::Of<0>(Text("b")));
  EXPECT_EQ(Numbers::Of<1>(7).number(), 1U);
  EXPECT_EQ(Mixed::Of<2>(Text("a")).number(), 2U);
}

TEST(NumberedElement, OfEqualTextsElsewhereIsEqualAndHashesAlike) {
  using Key = ElementKey<std::uint64_t, Mixed>;
  const std::string one = "a text that is not inline";
  const std::string other = "a text that is not inline";
  const Key a(3, Mixed::Of<2>(Text(one)));
  const Key b(3, Mixed::Of<2>(Text(other)));
  const KeyHash hash(1);
  EXPECT_EQ(a, b);
  EXPECT_EQ(hash(a), hash(b));
  EXPECT_NE(hash(a), hash(Key(3, Mixed::Of<0>(Text(one)))));
}

TEST(NumberedElement, ShowsTheTextsOfItsOwnSetOnly) {
  const std::string long_text = "a text that is not inline";
  Mixed text = Mixed::Of<2>(Text(long_text));
  EXPECT_EQ(TextBytes(text), long_text.size());
  EXPECT_EQ(TextBytes(Mixed::Of<1>(~std::uint64_t{0})), 0U);
  std::array<char, 64> copy;
  EXPECT_EQ(MoveTexts(text, copy.data()), copy.data() + long_text.size());
  copy[copy.size() / 4] = 'X';
  EXPECT_EQ(text, Mixed::Of<2>(Text("a text that is nXt inline")));
}

}  // namespace
}  // namespace glaive::state
