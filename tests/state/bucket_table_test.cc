#include "state/index/bucket_table.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;
constexpr std::uint32_t kNone = BucketTable::kNoEntry;

BucketTable MakeTable(StateMemory& memory, std::uint64_t expected_entries) {
  return BucketTable::Create(memory, expected_entries).value();
}

bool Insert(BucketTable& table, std::uint64_t hash, std::uint32_t entry) {
  return table.InsertInto(table.BucketOf(hash), TagOf(hash), entry);
}

/// All entries that the table offers for the hash, in order.
std::vector<std::uint32_t> Offered(const BucketTable& table, std::uint64_t hash) {
  std::vector<std::uint32_t> offered;
  EXPECT_EQ(table.Find(hash,
                       [&](std::uint32_t entry) {
                         offered.push_back(entry);
                         return false;
                       }),
            kNone);
  return offered;
}

TEST(BucketTable, IsPlannedForWhatIsExpected) {
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t expected : {0, 1, 8, 9, 1000, 100'000}) {
    BucketTable table = MakeTable(memory, expected);
    EXPECT_GE(table.planned_entries(), expected);
    EXPECT_LE(table.planned_entries(), std::max<std::uint64_t>(2 * expected, BucketTable::kPlannedLoad));
    EXPECT_GE(table.size_bytes(), table.bucket_count() * sizeof(Bucket));
    table.Release(memory);
    EXPECT_TRUE(table.empty());
  }
}

TEST(BucketTable, PastTheBudgetThereIsNoTable) {
  StateMemory memory(std::uint64_t{2} << 20);
  EXPECT_EQ(BucketTable::Create(memory, 1'000'000).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(BucketTable, OffersWhatAMultimapHolds) {
  std::mt19937_64 random(1);
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t distinct_hashes : {3, 40, 1000}) {
    BucketTable table = MakeTable(memory, 1000);
    std::vector<std::uint64_t> hashes(distinct_hashes);
    std::generate(hashes.begin(), hashes.end(), random);
    std::unordered_multimap<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t entry = 0; entry < 150; ++entry) {
      const std::uint64_t hash = hashes[random() % hashes.size()];
      ASSERT_TRUE(Insert(table, hash, entry));
      expected.emplace(hash, entry);
    }
    for (const std::uint64_t hash : hashes) {
      const std::vector<std::uint32_t> offered = Offered(table, hash);
      const auto [first, end] = expected.equal_range(hash);
      for (auto it = first; it != end; ++it) {
        EXPECT_EQ(std::count(offered.begin(), offered.end(), it->second), 1);
        EXPECT_EQ(table.Find(hash, [&](std::uint32_t entry) { return entry == it->second; }), it->second);
      }
      if (first != end) {
        EXPECT_NE(table.Guess(hash), kNone);
      }
    }
    table.Release(memory);
  }
}

TEST(BucketTable, FindOrInsertInsertsOnce) {
  std::mt19937_64 random(2);
  StateMemory memory(kLimitBytes);
  BucketTable table = MakeTable(memory, 4000);
  std::vector<std::uint64_t> hash_of;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t hash = (random() % 4000) * 0x9E3779B97F4A7C15;
    const auto next = static_cast<std::uint32_t>(hash_of.size());
    const auto known = std::find(hash_of.begin(), hash_of.end(), hash);
    const std::uint32_t found =
        table.FindOrInsert(hash, next, [&](std::uint32_t entry) { return hash_of[entry] == hash; });
    if (known == hash_of.end()) {
      ASSERT_EQ(found, next);
      hash_of.push_back(hash);
    } else {
      ASSERT_EQ(found, static_cast<std::uint32_t>(known - hash_of.begin()));
    }
  }
}

TEST(BucketTable, EqualHashesChainThroughOverflowBucketsUntilNoneIsLeft) {
  StateMemory memory(kLimitBytes);
  BucketTable table = MakeTable(memory, 1);
  ASSERT_EQ(table.bucket_count(), 1U);
  const std::uint64_t places = table.size_bytes() / sizeof(Bucket) * Bucket::kTags;
  constexpr std::uint64_t kHash = 0x1234567890ABCDEF;
  for (std::uint32_t entry = 0; entry < places; ++entry) {
    ASSERT_TRUE(Insert(table, kHash, entry)) << entry;
    ASSERT_EQ(Offered(table, kHash).size(), entry + 1U);
    ASSERT_EQ(Offered(table, kHash).back(), entry) << "tags fill from the left";
  }
  EXPECT_FALSE(Insert(table, kHash, 999'999));
  EXPECT_EQ(table.FindOrInsert(kHash, 999'999, [](std::uint32_t) { return false; }), kNone);
  EXPECT_EQ(Offered(table, kHash).size(), places) << "a refused insertion changes nothing";
  EXPECT_EQ(table.FindOrInsert(kHash, 999'999, [](std::uint32_t entry) { return entry == 100; }), 100U);
}

TEST(BucketTable, HoldsItsPlanWithoutRunningOutOfOverflowBuckets) {
  std::mt19937_64 random(3);
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t planned : {8, 64, 1024, 65'536}) {
    for (int round = 0; round < 10; ++round) {
      BucketTable table = MakeTable(memory, planned);
      for (std::uint32_t entry = 0; entry < table.planned_entries(); ++entry) {
        ASSERT_TRUE(Insert(table, random(), entry)) << planned << " planned, round " << round;
      }
      table.Release(memory);
    }
  }
}

TEST(BucketTable, ClearForgetsEverythingAndFreesTheOverflowBuckets) {
  StateMemory memory(kLimitBytes);
  BucketTable table = MakeTable(memory, 1);
  const std::uint64_t places = table.size_bytes() / sizeof(Bucket) * Bucket::kTags;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t entry = 0; entry < places; ++entry) {
      ASSERT_TRUE(Insert(table, 7, entry));
    }
    table.Clear();
    EXPECT_TRUE(Offered(table, 7).empty());
    EXPECT_EQ(table.Guess(7), kNone);
  }
}

TEST(BucketTable, ARecycledTableIsEmpty) {
  StateMemory memory(kLimitBytes);
  for (int round = 0; round < 3; ++round) {
    BucketTable table = MakeTable(memory, 100);
    for (std::uint32_t entry = 0; entry < 100; ++entry) {
      EXPECT_TRUE(Offered(table, entry * 0x9E3779B97F4A7C15).empty());
    }
    for (std::uint32_t entry = 0; entry < 100; ++entry) {
      ASSERT_TRUE(Insert(table, entry * 0x9E3779B97F4A7C15, entry));
    }
    table.Release(memory);
  }
}

}  // namespace
}  // namespace glaive::state
