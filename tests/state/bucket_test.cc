#include "state/index/bucket.h"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

/// A bucket that has a tag in the slots that `slots` has a bit for, and others in all other slots.
Bucket BucketWith(std::uint8_t tag, std::uint32_t slots, std::mt19937_64& random) {
  Bucket bucket{};
  bucket.overflow = static_cast<std::uint32_t>(random());
  for (std::size_t slot = 0; slot < Bucket::kSlots; ++slot) {
    const bool has_it = (slots >> slot & 1) != 0;
    bucket.tag[slot] = static_cast<std::uint8_t>(has_it ? tag : tag + 1 + random() % 255);
  }
  return bucket;
}

TEST(Bucket, FindsTheSlotsOfATag) {
  std::mt19937_64 random(1);
  for (std::uint32_t slots = 0; slots < 1U << Bucket::kSlots; ++slots) {
    const auto tag = static_cast<std::uint8_t>(random());
    ASSERT_EQ(BucketWith(tag, slots, random).Matches(tag), slots) << int{tag};
    ASSERT_EQ(BucketWith(0, slots, random).Matches(0), slots) << "slots that are free";
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
