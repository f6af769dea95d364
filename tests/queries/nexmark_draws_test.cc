#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "queries/nexmark/draws.h"

namespace glaive::queries::nexmark {
namespace {

TEST(PriceTest, IsFromADollarToAMillion) {
  EXPECT_EQ(Price(0), 100U);
  EXPECT_EQ(Price(std::uint64_t{1} << 63), 100'000U);
  EXPECT_EQ(Price(UINT64_MAX), 100'000'000U);
}

TEST(FillTextTest, FillsAFieldOfAnyLengthWithLettersAndNothingBeside) {
  for (std::size_t size = 0; size <= 33; ++size) {
    std::string text(size + 2, '-');
    FillText(std::span(text).subspan(1, size), /*random=*/size);
    EXPECT_EQ(text.front(), '-');
    EXPECT_EQ(text.back(), '-');
    EXPECT_TRUE(std::all_of(text.begin() + 1, text.end() - 1, [](char c) { return c >= 'a' && c <= 'z'; })) << text;
  }
}

TEST(FillTextTest, TheBitsChooseTheText) {
  std::array<char, 20> one{};
  std::array<char, 20> same{};
  std::array<char, 20> other{};
  FillText(one, 1);
  FillText(same, 1);
  FillText(other, 2);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace glaive::queries::nexmark
