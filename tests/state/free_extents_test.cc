#include "state/log/free_extents.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

/// Pieces of one stretch of memory, by where they begin, in lines of 64 bytes.
class FreeExtentsTest : public testing::Test {
 protected:
  static constexpr std::size_t kLine = 64;

  Block Lines(std::size_t first, std::size_t count) {
    return {.data = memory_.data() + first * kLine, .size_bytes = count * kLine};
  }
  std::size_t FirstLineOf(const std::optional<Block>& block) {
    EXPECT_TRUE(block.has_value());
    return block ? static_cast<std::size_t>(block->data - memory_.data()) / kLine : ~std::size_t{0};
  }

  std::array<std::byte, 1024 * kLine> memory_;
  FreeExtents free_;
};

TEST_F(FreeExtentsTest, MergesNeighboursThatHoldTheSame) {
  free_.Put(Lines(0, 2), Holds::kAnything);
  free_.Put(Lines(4, 2), Holds::kAnything);
  EXPECT_FALSE(free_.Take(6 * kLine, Holds::kAnything));
  free_.Put(Lines(2, 2), Holds::kAnything);
  EXPECT_EQ(free_.bytes(), 6 * kLine);
  EXPECT_EQ(FirstLineOf(free_.Take(6 * kLine, Holds::kAnything)), 0U);
  EXPECT_EQ(free_.bytes(), 0U);
}

TEST_F(FreeExtentsTest, TakesTheSmallestPieceThatIsLargeEnoughAndLeavesItsRest) {
  free_.Put(Lines(0, 10), Holds::kZeros);
  free_.Put(Lines(20, 4), Holds::kZeros);
  EXPECT_EQ(FirstLineOf(free_.Take(3 * kLine, Holds::kZeros)), 20U);
  EXPECT_EQ(FirstLineOf(free_.Take(kLine, Holds::kZeros)), 23U);
  EXPECT_EQ(FirstLineOf(free_.Take(kLine, Holds::kZeros)), 0U);
  EXPECT_EQ(free_.bytes(), 9 * kLine);
}

TEST_F(FreeExtentsTest, KeepsPiecesOfOtherKindsApartUntilBothAreAskedFor) {
  free_.Put(Lines(0, 2), Holds::kDirt);
  free_.Put(Lines(2, 2), Holds::kZeros);
  free_.Put(Lines(5, 2), Holds::kZeros);
  for (const Holds holds : {Holds::kAnything, Holds::kDirt, Holds::kZeros, Holds::kFresh}) {
    EXPECT_FALSE(free_.Take(3 * kLine, holds));
  }
  EXPECT_FALSE(free_.TakeAcross(5 * kLine));
  EXPECT_EQ(FirstLineOf(free_.TakeAcross(3 * kLine)), 0U);
  EXPECT_EQ(FirstLineOf(free_.Take(kLine, Holds::kZeros)), 3U) << "the rest holds what it held";
}

TEST_F(FreeExtentsTest, GivesOutAPieceInParts) {
  free_.Put(Lines(0, 3), Holds::kDirt);
  EXPECT_EQ(free_.TakeSome(2 * kLine, Holds::kDirt)->size_bytes, 2 * kLine);
  EXPECT_EQ(free_.TakeSome(2 * kLine, Holds::kDirt)->size_bytes, kLine);
  EXPECT_FALSE(free_.TakeSome(2 * kLine, Holds::kDirt));
  EXPECT_FALSE(free_.has(Holds::kDirt));
}

TEST_F(FreeExtentsTest, TakesAStretchThatIsWhollyFreeAndNoOther) {
  free_.Put(Lines(0, 4), Holds::kAnything);
  free_.Put(Lines(4, 4), Holds::kFresh);
  EXPECT_FALSE(free_.TakeWhole(Lines(6, 4)));
  EXPECT_FALSE(free_.TakeWhole(Lines(20, 1)));
  EXPECT_TRUE(free_.TakeWhole(Lines(2, 4)));
  EXPECT_EQ(free_.bytes(), 4 * kLine);
  EXPECT_EQ(FirstLineOf(free_.Take(2 * kLine, Holds::kAnything)), 0U);
  EXPECT_EQ(FirstLineOf(free_.Take(2 * kLine, Holds::kFresh)), 6U);
}

TEST_F(FreeExtentsTest, HandsOutNoLineTwiceUnderRandomUse) {
  std::mt19937_64 random(1);
  free_.Put(Lines(0, 1024), Holds::kFresh);
  std::vector<bool> taken(1024);
  std::vector<Block> blocks;
  for (int step = 0; step < 5000; ++step) {
    const auto holds = static_cast<Holds>(random() % 4);
    const std::size_t size = (1 + random() % 40) * kLine;
    const std::optional<Block> block = random() % 4 == 0   ? free_.TakeAcross(size)
                                       : random() % 2 == 0 ? free_.Take(size, holds)
                                                           : free_.TakeSome(size, holds);
    if (block) {
      for (std::size_t line = FirstLineOf(block), i = 0; i < block->size_bytes / kLine; ++i) {
        ASSERT_FALSE(taken[line + i]) << "step " << step;
        taken[line + i] = true;
      }
      blocks.push_back(*block);
    }
    if (!blocks.empty() && random() % 2 == 0) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      for (std::size_t line = FirstLineOf(blocks.back()), i = 0; i < blocks.back().size_bytes / kLine; ++i) {
        taken[line + i] = false;
      }
      free_.Put(blocks.back(), holds);
      blocks.pop_back();
    }
    ASSERT_EQ(free_.bytes(), static_cast<std::uint64_t>(std::ranges::count(taken, false)) * kLine);
  }
}

}  // namespace
}  // namespace glaive::state
