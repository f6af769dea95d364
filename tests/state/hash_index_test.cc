#include "state/index/hash_index.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

/// An index with the hashes of its entries, as a log would hold them.
class IndexedHashes {
 public:
  explicit IndexedHashes(std::uint64_t expected_entries)
      : memory_(kLimitBytes), index_(HashIndex::Create(memory_, expected_entries).value()) {}

  HashIndex& index() { return index_; }
  StateMemory& memory() { return memory_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(hashes_.size()); }

  std::uint32_t FindOrInsert(std::uint64_t hash) {
    const std::uint32_t entry =
        index_.FindOrInsert(hash, [&](std::uint32_t candidate) { return hashes_.at(candidate) == hash; });
    if (entry == hashes_.size()) {
      hashes_.push_back(hash);
    }
    return entry;
  }

  absl::Status GrowSome(std::uint32_t entries) {
    return index_.GrowSome(memory_, entries, [&](std::uint32_t entry) { return hashes_.at(entry); });
  }

  /// Every entry is found under its number, so none is lost and none was entered twice.
  void ExpectAllFound() {
    for (std::uint32_t entry = 0; entry < size(); ++entry) {
      ASSERT_EQ(FindOrInsert(hashes_[entry]), entry);
    }
    ASSERT_EQ(index_.size(), size());
  }

 private:
  StateMemory memory_;
  HashIndex index_;
  std::vector<std::uint64_t> hashes_;
};

TEST(HashIndex, NumbersNewEntriesInOrder) {
  IndexedHashes hashes(100);
  for (std::uint32_t entry = 0; entry < 100; ++entry) {
    EXPECT_EQ(hashes.FindOrInsert(entry * 0x9E3779B97F4A7C15), entry);
    EXPECT_EQ(hashes.index().size(), entry + 1);
  }
  hashes.ExpectAllFound();
  EXPECT_EQ(hashes.index().growths(), 0U);
}

TEST(HashIndex, AfterEveryStepOfAGrowthEveryEntryIsFoundOnce) {
  for (const std::uint64_t factor : {2, 8}) {
    std::mt19937_64 random(factor);
    IndexedHashes hashes(64);
    while (!hashes.index().wants_to_grow()) {
      hashes.FindOrInsert(random());
    }
    for (std::uint64_t growth = 1; hashes.size() < 4096; ++growth) {  // 512 buckets: of them, hashes aren't asked for
      ASSERT_TRUE(hashes.index().StartGrowth(hashes.memory(), factor).ok());
      while (hashes.index().growing()) {
        hashes.ExpectAllFound();
        hashes.FindOrInsert(random());  // new entries come in meanwhile
        ASSERT_TRUE(hashes.GrowSome(1 + static_cast<std::uint32_t>(random() % 100)).ok());
      }
      hashes.ExpectAllFound();
      EXPECT_EQ(hashes.index().growths(), growth);
      while (!hashes.index().wants_to_grow()) {
        hashes.FindOrInsert(random());
      }
    }
  }
}

TEST(HashIndex, AGrowthEndsBeforeNewEntriesUseUpTheOverflowBuckets) {
  constexpr std::uint32_t kGroup = 32;
  std::mt19937_64 random(6);
  for (const std::uint64_t planned : {1'024, 65'536, 262'144}) {
    IndexedHashes hashes(planned);
    while (!hashes.index().wants_to_grow()) {
      hashes.FindOrInsert(random());
    }
    ASSERT_TRUE(hashes.index().StartGrowth(hashes.memory()).ok());
    while (hashes.index().growing()) {
      ASSERT_TRUE(hashes.GrowSome(kGroup * HashIndex::kMovesPerUpdate).ok());
      for (std::uint32_t i = 0; i < kGroup; ++i) {
        ASSERT_NE(hashes.FindOrInsert(random()), HashIndex::kNoEntry) << planned << " planned, " << hashes.size();
      }
    }
    EXPECT_LE(hashes.size(), planned + planned / 6);
  }
}

TEST(HashIndex, AGrowthMakesRoomForAllEntriesEvenIfTheyOutranThePlan) {
  std::mt19937_64 random(2);
  IndexedHashes hashes(1);
  while (hashes.size() < 90) {  // ten times what the table was planned for
    ASSERT_NE(hashes.FindOrInsert(random()), HashIndex::kNoEntry);
  }
  ASSERT_TRUE(hashes.index().StartGrowth(hashes.memory()).ok());
  ASSERT_TRUE(hashes.GrowSome(1000).ok());
  EXPECT_FALSE(hashes.index().growing());
  EXPECT_FALSE(hashes.index().wants_to_grow());
  while (hashes.size() < 180) {
    ASSERT_NE(hashes.FindOrInsert(random()), HashIndex::kNoEntry);
  }
  hashes.ExpectAllFound();
}

TEST(HashIndex, TheOldTableIsGivenBackAfterTheLastStep) {
  std::mt19937_64 random(3);
  IndexedHashes hashes(64);
  while (!hashes.index().wants_to_grow()) {
    hashes.FindOrInsert(random());
  }
  const std::size_t before = hashes.index().size_bytes();
  ASSERT_TRUE(hashes.index().StartGrowth(hashes.memory()).ok());
  const std::size_t during = hashes.index().size_bytes();
  EXPECT_FALSE(hashes.memory().CleanSome(0));
  ASSERT_TRUE(hashes.GrowSome(0xFFFFFFFF).ok());
  EXPECT_EQ(hashes.index().size_bytes(), during - before);
  EXPECT_TRUE(hashes.memory().CleanSome(0)) << "the old table waits to be cleaned";
}

TEST(HashIndex, ATableWithoutOverflowBucketsRefusesUntilItHasGrown) {
  IndexedHashes hashes(1);
  // Only the bits above the first ten differ: all share a bucket until the table has a thousand.
  const auto hash_of = [](std::uint64_t i) { return i << 10 | i << 56; };
  std::uint64_t next = 0;
  while (hashes.FindOrInsert(hash_of(next)) != HashIndex::kNoEntry) {
    ++next;
  }
  EXPECT_EQ(next, hashes.size());
  EXPECT_EQ(hashes.index().size(), hashes.size()) << "a refused entry is not counted";
  hashes.ExpectAllFound();
}

TEST(HashIndex, WithoutMemoryForAGrowthItStaysAsItIs) {
  std::mt19937_64 random(4);
  IndexedHashes hashes(64);
  while (!hashes.index().wants_to_grow()) {
    hashes.FindOrInsert(random());
  }
  StateMemory none(0);
  EXPECT_EQ(hashes.index().StartGrowth(none).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(hashes.index().growing());
  hashes.ExpectAllFound();
}

TEST(HashIndexDeathTest, AGrowthIsNotStartedTwice) {
  IndexedHashes hashes(1);
  hashes.FindOrInsert(1);
  ASSERT_TRUE(hashes.index().StartGrowth(hashes.memory()).ok());
  EXPECT_DEATH((void)hashes.index().StartGrowth(hashes.memory()), "growing already");
}

}  // namespace
}  // namespace glaive::state
