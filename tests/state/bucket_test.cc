#include "state/index/bucket.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

/// A bucket whose tag number i is `tag` if bit i of `places` is set, and another one if it is not.
Bucket BucketWith(std::uint8_t tag, std::uint32_t places, std::mt19937_64& random) {
  Bucket bucket{};
  bucket.overflow = static_cast<std::uint32_t>(random());
  for (std::size_t i = 0; i < Bucket::kTags; ++i) {
    const bool has_it = (places >> i & 1) != 0;
    bucket.tag[i] = static_cast<std::uint8_t>(has_it ? tag : tag + 1 + random() % 255);
  }
  return bucket;
}

TEST(Bucket, FindsThePlacesOfATag) {
  std::mt19937_64 random(1);
  for (std::uint32_t places = 0; places < 1U << Bucket::kTags; ++places) {
    const auto tag = static_cast<std::uint8_t>(random());
    ASSERT_EQ(BucketWith(tag, places, random).Matches(tag), places) << int{tag};
    ASSERT_EQ(BucketWith(0, places, random).Matches(0), places) << "places that are free";
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
  EXPECT_EQ(bucket.Matches(7), (1U << Bucket::kTags) - 1);
}

TEST(Bucket, TagsAreNeverTheMarkOfAFreePlace) {
  EXPECT_EQ(TagOf(0), 1);
  EXPECT_EQ(TagOf(0x00FFFFFFFFFFFFFF), 1);
  for (std::uint64_t high = 1; high < 256; ++high) {
    EXPECT_EQ(TagOf(high << 56), high);
  }
}

}  // namespace
}  // namespace glaive::state
