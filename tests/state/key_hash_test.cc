#include "state/index/key_hash.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/epoch/slice_id.h"
#include "state/index/bucket.h"
#include "state/index/bucket_table.h"
#include "state/index/element_key.h"
#include "tests/state/test_hash.h"

namespace glaive::state {
namespace {

struct PairKey {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  [[maybe_unused]] friend bool operator==(const PairKey&, const PairKey&) = default;
};

struct LongKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  [[maybe_unused]] friend bool operator==(const LongKey&, const LongKey&) = default;
};

static_assert(StateKey<LongKey> && StateKey<std::uint64_t> && StateKey<std::int32_t> && StateKey<PairKey>);
static_assert(!StateKey<const char*> && !StateKey<std::uint32_t PairKey::*>);  // an address means nothing elsewhere
static_assert(!StateKey<double>);  // two zeros are equal and differ in their bytes

struct PaddedKey {
  std::uint64_t first = 0;
  std::uint8_t second = 0;  // with seven bytes behind it that nobody sets
  [[maybe_unused]] friend bool operator==(const PaddedKey&, const PaddedKey&) = default;
};
static_assert(!StateKey<PaddedKey>);

// As runs draw them.
constexpr std::uint64_t kSeeds[] = {0, 1, 2, 0xDEADBEEF, ~std::uint64_t{0}, 0x0123456789ABCDEF, 1ULL << 63, 77};

TEST(KeyHash, DependsOnEveryByteOfTheKeyAndOnTheSeed) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(kTestHash(std::uint64_t{0}), kTestHash(std::uint64_t{1} << bit));
    EXPECT_NE(kTestHash(LongKey{}), kTestHash(LongKey{std::uint64_t{1} << bit, 0}));
    EXPECT_NE(kTestHash(LongKey{}), kTestHash(LongKey{0, std::uint64_t{1} << bit}));
  }
  EXPECT_NE(kTestHash(PairKey{1, 2}), kTestHash(PairKey{2, 1}));
  for (int bit = 0; bit < 64; ++bit) {
    const KeyHash other(std::uint64_t{1} << bit);
    EXPECT_NE(other(std::uint64_t{5}), kTestHash(std::uint64_t{5}));
    EXPECT_NE(other.Spread(std::uint64_t{5} << 40), kTestHash.Spread(std::uint64_t{5} << 40));
    EXPECT_NE(other(LongKey{5, 5}), kTestHash(LongKey{5, 5}));
  }
  EXPECT_EQ(KeyHash(0)(LongKey{5, 5}), kTestHash(LongKey{5, 5})) << "the same seed, the same hash";
}

/// How many of `count` keys, the multiples of `stride`, fall to each of `parts`.
template <typename PartOf>
std::vector<std::uint32_t> Shares(std::uint64_t count, std::uint64_t stride, std::size_t parts, PartOf&& part_of) {
  std::vector<std::uint32_t> shares(parts);
  for (std::uint64_t key = 0; key < count; ++key) {
    ++shares[part_of(key * stride)];
  }
  return shares;
}
std::uint32_t MostOf(const std::vector<std::uint32_t>& shares) { return *std::ranges::max_element(shares); }

TEST(KeyHash, NeighbouringKeysAreSpreadMoreEvenlyThanRandomOnes) {  // which come up to three times as densely
  for (const std::uint64_t seed : kSeeds) {
    const KeyHash hash(seed);
    for (std::size_t places = 1; places <= 32'768; places *= 2) {
      const auto shares = Shares(8 * places, 1, places,
                                 [&](std::uint64_t key) { return std::uint64_t{hash.Spread(key)} * places >> 32; });
      EXPECT_LE(MostOf(shares), 12U) << places << " places, seed " << seed;
    }
  }
}

// As identifiers may be made: of a node's number above a counter, of whole blocks, of a time in other units; or so that
// one fixed multiplication brings them all together, as Fibonacci numbers are by that with the golden ratio.
TEST(KeyHash, MultiplesOfAnyStrideFillBucketsTagsAndLeadersLikeRandomKeys) {
  constexpr std::uint64_t kKeys = std::uint64_t{1} << 18;
  constexpr std::uint64_t kBuckets = kKeys / BucketTable::kPlannedLoad;
  constexpr std::uint32_t kMostOfBucket = 32;  // of 8 expected: 1 of 10^10 random buckets has more
  std::vector<std::uint64_t> strides = {1,
                                        8,
                                        100,
                                        1000,
                                        4096,
                                        1'000'000,
                                        std::uint64_t{1} << 24,
                                        (std::uint64_t{1} << 32) - 1,
                                        std::uint64_t{1} << 32,
                                        (std::uint64_t{1} << 32) + 1,
                                        std::uint64_t{1} << 40,
                                        std::uint64_t{1} << 45,
                                        0x0001000100010001,
                                        0x0101010101010101,
                                        0x9E3779B97F4A7C15};
  for (std::uint64_t before = 10'946, stride = 17'711; stride > before; stride += std::exchange(before, stride)) {
    strides.push_back(stride);  // 2971215073 is one of them
  }
  for (const std::uint64_t seed : {kSeeds[0], kSeeds[3]}) {
    const KeyHash hash(seed);
    for (const std::uint64_t stride : strides) {
      std::vector<std::uint32_t> buckets(kBuckets);
      std::vector<std::uint32_t> tags(256);
      std::vector<std::uint32_t> leaders(16);
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        const std::uint64_t bits = hash(key * stride);
        ++buckets[bits % kBuckets];
        ++tags[TagOf(bits)];
        ++leaders[Value(LeaderOf(bits, 16))];
      }
      EXPECT_LE(MostOf(buckets), kMostOfBucket) << "stride " << stride << ", seed " << seed;
      EXPECT_LE(MostOf(tags), 2 * 1024 + 6 * std::sqrt(2 * 1024.0)) << stride;  // 0 and 1 are one tag
      EXPECT_LE(MostOf(leaders), 16'384 + 6 * std::sqrt(16'384.0)) << stride;
    }
  }
}

TEST(ElementKey, HasTheLeaderOfItsGroupAndAHashOfItsOwn) {
  using Key = ElementKey<std::uint8_t, std::uint64_t>;
  static_assert(StateKey<Key> && sizeof(Key) == 9);
  std::set<std::uint64_t> hashes;
  for (std::uint8_t group = 0; group < 50; ++group) {
    for (std::uint64_t element = 0; element < 50; ++element) {
      const Key key(group, element);
      EXPECT_EQ(key.group(), group);
      for (const std::uint32_t executors : {2U, 3U, 160U, 1'000'003U}) {
        ASSERT_EQ(LeaderOf(kTestHash(key), executors), LeaderOf(kTestHash(group), executors));
      }
      hashes.insert(kTestHash(key) & 0xFFFFFF);  // what chooses a bucket of a table of this size
    }
  }
  EXPECT_GT(hashes.size(), 2490U);
}

TEST(LeaderOf, IsAlwaysAnExecutorOfTheRun) {
  for (const std::uint32_t executors : {1U, 2U, 3U, 160U, 65'536U}) {
    for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xFFFFFFFF} << 24}) {
      EXPECT_LT(Value(LeaderOf(hash, executors)), executors);
    }
  }
}

TEST(LeaderOf, SpreadsNeighbouringKeysEvenly) {
  constexpr std::uint32_t kKeys = 100'000;
  for (const std::uint32_t executors : {2U, 3U, 7U, 160U}) {
    std::vector<std::uint32_t> keys(executors);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      ++keys[Value(LeaderOf(kTestHash(key), executors))];
    }
    const double expected = static_cast<double>(kKeys) / executors;
    for (const std::uint32_t count : keys) {
      EXPECT_NEAR(count, expected, 6 * std::sqrt(expected)) << executors << " executors";
    }
  }
}

// The keys of one executor must still spread over all buckets and all tags.
TEST(LeaderOf, LeavesTheBitsOfBucketAndTagAlone) {
  std::vector<std::uint32_t> by_bucket(16);
  std::vector<std::uint32_t> by_tag(256);
  std::uint32_t keys = 0;
  for (std::uint64_t key = 0; key < 200'000; ++key) {
    const std::uint64_t hash = kTestHash(key);
    if (Value(LeaderOf(hash, 16)) == 5) {
      ++keys;
      ++by_bucket[hash % by_bucket.size()];
      ++by_tag[TagOf(hash)];
    }
  }
  for (const std::uint32_t count : by_bucket) {
    EXPECT_NEAR(count, keys / 16.0, 6 * std::sqrt(keys / 16.0));
  }
  for (std::size_t tag = 2; tag < by_tag.size(); ++tag) {  // tag 0 does not exist, 1 has two shares
    EXPECT_NEAR(by_tag[tag], keys / 256.0, 6 * std::sqrt(keys / 256.0));
  }
}

TEST(SliceHash, SpreadsSlicesOfAnyStride) {
  for (const std::int64_t stride : {std::int64_t{1}, std::int64_t{60'000}, std::int64_t{1} << 40}) {
    std::vector<std::uint32_t> by_bucket(16);
    for (std::int64_t i = -8'000; i < 8'000; ++i) {
      ++by_bucket[SliceHash(SliceId{i * stride}) % by_bucket.size()];
    }
    for (const std::uint32_t count : by_bucket) {
      EXPECT_NEAR(count, 1000, 200) << "stride " << stride;
    }
  }
}

}  // namespace
}  // namespace glaive::state
