#include "state/index/bucket.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

std::uint32_t MatchesOneByOne(const Bucket& bucket, std::uint8_t wanted) {
  std::uint32_t matches = 0;
  for (std::size_t slot = 0; slot < Bucket::kSlots; ++slot) {
    matches |= bucket.tag[slot] == wanted ? 1U << slot : 0U;
  }
  return matches;
}

TEST(Bucket, ComparesAllTagsAtOnceAsIfOneByOne) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10'000; ++round) {
    Bucket bucket{};
    const std::uint64_t kinds = 1 + random() % 255;  // few kinds give many equal tags
    for (std::uint8_t& tag : bucket.tag) {
      tag = static_cast<std::uint8_t>(random() % kinds);
    }
    bucket.overflow = static_cast<std::uint32_t>(random());
    const auto wanted = static_cast<std::uint8_t>(random() % kinds);
    ASSERT_EQ(bucket.Matches(wanted), MatchesOneByOne(bucket, wanted));
    ASSERT_EQ(bucket.Matches(0), MatchesOneByOne(bucket, 0));
  }
}

TEST(Bucket, TakesNoPartOfTheLinkForATag) {
  Bucket bucket{};
  bucket.overflow = 0xABABABAB;
  EXPECT_EQ(bucket.Matches(0xAB), 0U);
  bucket.overflow = 0;
  for (std::uint8_t& tag : bucket.tag) {
    tag = 7;
  }
  EXPECT_EQ(bucket.Matches(0), 0U);
  EXPECT_EQ(bucket.Matches(7), (1U << Bucket::kSlots) - 1);
}

TEST(Bucket, TagsAreNeverTheMarkOfAFreeSlot) {
  EXPECT_EQ(TagOf(0), 1);
  EXPECT_EQ(TagOf(0x00FFFFFFFFFFFFFF), 1);
  for (std::uint64_t high = 1; high < 256; ++high) {
    EXPECT_EQ(TagOf(high << 56), high);
  }
}

}  // namespace
}  // namespace glaive::state
