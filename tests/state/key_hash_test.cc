#include "state/index/key_hash.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "state/epoch/slice_id.h"
#include "state/index/bucket.h"
#include "state/index/bucket_table.h"
#include "state/index/element_key.h"

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

TEST(HashKey, DependsOnEveryByteOfTheKey) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(HashKey(std::uint64_t{0}), HashKey(std::uint64_t{1} << bit));
    EXPECT_NE(HashKey(LongKey{}), HashKey(LongKey{std::uint64_t{1} << bit, 0}));
    EXPECT_NE(HashKey(LongKey{}), HashKey(LongKey{0, std::uint64_t{1} << bit}));
  }
  EXPECT_NE(HashKey(PairKey{1, 2}), HashKey(PairKey{2, 1}));
}

/// How many of `count` keys, the multiples of `stride`, fall to each of `parts`.
template <typename PartOf>
std::vector<std::uint32_t> Shares(std::uint64_t count, std::uint64_t stride, std::size_t parts, PartOf&& part_of) {
  std::vector<std::uint32_t> shares(parts);
  for (std::uint64_t key = 0; key < count; ++key) {
    ++shares[part_of(HashKey(key * stride))];
  }
  return shares;
}

TEST(HashKey, TheSpreadOfAKeyIsThatOfItsHash) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t bits = i * i * 0x123456789ABCDEF;
    EXPECT_EQ(SpreadOfKey(bits), SpreadOf(HashKey(bits)));
    EXPECT_EQ(SpreadOfKey(static_cast<std::int32_t>(bits)), SpreadOf(HashKey(static_cast<std::int32_t>(bits))));
    const PairKey pair{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(i)};
    EXPECT_EQ(SpreadOfKey(pair), SpreadOf(HashKey(pair)));
    EXPECT_EQ(SpreadOfKey(LongKey{bits, i}), SpreadOf(HashKey(LongKey{bits, i})));
    const ElementKey<std::uint64_t, std::uint64_t> element(bits, i);  // has a hash of its own
    EXPECT_EQ(SpreadOfKey(element), SpreadOf(HashKey(element)));
  }
}

TEST(HashKey, NeighbouringKeysFillNoBucketTwiceOver) {  // random ones do, from some thousand buckets on
  for (std::size_t buckets = 1; buckets <= 262'144; buckets *= 2) {
    const auto shares =
        Shares(buckets * BucketTable::kPlannedLoad, 1, buckets, [&](auto hash) { return hash % buckets; });
    EXPECT_LE(*std::max_element(shares.begin(), shares.end()), 2 * BucketTable::kPlannedLoad) << buckets << " buckets";
  }
}

// As identifiers may be made: of a node's number above a counter, of whole blocks, of a time in other units.
TEST(HashKey, RegularKeysFillBucketsTagsAndLeadersLikeRandomOnes) {
  constexpr std::uint64_t kKeys = 32'768;
  for (const std::uint64_t stride :
       {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{100}, std::uint64_t{1000}, std::uint64_t{4096},
        std::uint64_t{1'000'000}, std::uint64_t{1} << 24, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1,
        std::uint64_t{1} << 40, std::uint64_t{1} << 48, std::uint64_t{0x0001000100010001}}) {
    const auto most = [&](std::size_t parts, auto part_of) {
      const std::vector<std::uint32_t> shares = Shares(kKeys, stride, parts, part_of);
      return *std::max_element(shares.begin(), shares.end());
    };
    EXPECT_LE(most(4096, [](auto hash) { return hash % 4096; }), 8 + 6 * std::sqrt(8.0)) << stride;
    EXPECT_LE(most(256, TagOf), 256 + 6 * std::sqrt(256.0)) << stride;  // 0 and 1 are one tag
    EXPECT_LE(most(16, [](auto hash) { return Value(LeaderOf(hash, 16)); }), 2048 + 6 * std::sqrt(2048.0)) << stride;
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
        ASSERT_EQ(LeaderOf(HashKey(key), executors), LeaderOf(HashKey(group), executors));
      }
      hashes.insert(HashKey(key) & 0xFFFFFF);  // what chooses a bucket of a table of this size
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
      ++keys[Value(LeaderOf(HashKey(key), executors))];
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
    const std::uint64_t hash = HashKey(key);
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
