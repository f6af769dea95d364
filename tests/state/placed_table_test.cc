#include "state/index/placed_table.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{256} << 20;

/// A table and the hashes of its entries, which are random and some of them equal.
struct Filled {
  Filled(StateMemory& memory, std::uint64_t planned, std::uint64_t entries)
      : table(PlacedTable::Create(memory, planned).value()) {
    std::mt19937_64 random(entries);
    for (std::uint32_t entry = 0; entry < entries; ++entry) {
      hashes.push_back(entry % 16 == 15 ? hashes[entry / 2] : random());
      const auto is_new = [](std::uint32_t) { return false; };
      EXPECT_EQ(table.FindOrInsert(hashes.back(), entry, is_new), entry);
    }
  }

  PlacedTable table;
  std::vector<std::uint64_t> hashes;  // by entry
};

void ExpectAllFound(const PlacedTable& table, const std::vector<std::uint64_t>& hashes) {
  for (std::uint32_t entry = 0; entry < hashes.size(); ++entry) {
    ASSERT_EQ(table.Find(hashes[entry], [&](std::uint32_t found) { return found == entry; }), entry);
    const std::uint32_t guess = table.Guess(hashes[entry]);
    ASSERT_TRUE(guess == PlacedTable::kNoEntry || guess < hashes.size()) << guess;
  }
}

/// Takes `from` over into a table of `factor` times as many buckets, which is then checked and returned. How often a
/// hash was asked for is added to `asked`.
PlacedTable Grown(StateMemory& memory, const Filled& from, const PlacedTable& smaller, std::uint64_t factor,
                  std::uint64_t& asked) {
  PlacedTable larger = PlacedTable::Create(memory, smaller.planned_entries() * factor).value();
  EXPECT_EQ(larger.bucket_count(), smaller.bucket_count() * factor);
  const auto hash_of = [&](std::uint32_t entry) {
    ++asked;
    return from.hashes.at(entry);
  };
  std::uint64_t taken = 0;
  for (std::uint64_t bucket = 0; bucket < smaller.bucket_count(); ++bucket) {
    larger.PrefetchTakeOver(smaller, bucket + 1);
    taken += larger.TakeOver(smaller, bucket, hash_of).value();
  }
  EXPECT_EQ(taken, from.hashes.size());
  ExpectAllFound(larger, from.hashes);
  return larger;
}

TEST(PlacedTable, FindsWhatWasEntered) {
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t entries : {1, 8, 1'000, 100'000}) {
    Filled filled(memory, entries, entries);
    ExpectAllFound(filled.table, filled.hashes);
    filled.table.Release(memory);
    EXPECT_TRUE(filled.table.empty());
  }
}

TEST(PlacedTable, ALargerTableTakesOverWithoutAskingForHashes) {
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t planned : {1'024, 16'384, 262'144}) {  // from 2^7 buckets on
    for (const std::uint64_t factor : {2, 8, 16}) {
      Filled filled(memory, planned, planned);
      std::uint64_t asked = 0;
      PlacedTable larger = Grown(memory, filled, filled.table, factor, asked);
      PlacedTable largest = Grown(memory, filled, larger, 2, asked);
      EXPECT_EQ(asked, 0U) << planned << " entries, factor " << factor;
      for (PlacedTable* table : {&filled.table, &larger, &largest}) {
        table->Release(memory);
      }
    }
  }
}

TEST(PlacedTable, OfASmallTableTheHashesAreAskedFor) {
  StateMemory memory(kLimitBytes);
  for (const std::uint64_t planned : {8, 64, 512}) {
    Filled filled(memory, planned, planned);
    std::uint64_t asked = 0;
    Grown(memory, filled, filled.table, 2, asked);
    EXPECT_EQ(asked, planned);
  }
}

TEST(PlacedTable, OverflowBucketsAreTakenOverWithTheirBucket) {
  StateMemory memory(kLimitBytes);
  Filled filled(memory, 1'024, 1'150);  // nine a bucket: one in eight overflows
  std::uint64_t asked = 0;
  Grown(memory, filled, filled.table, 2, asked);
  EXPECT_EQ(asked, 0U);
}

TEST(PlacedTable, WhatDoesNotFitIsRefused) {
  StateMemory memory(kLimitBytes);
  const auto is_new = [](std::uint32_t) { return false; };
  PlacedTable smaller = PlacedTable::Create(memory, 1'024).value();
  PlacedTable larger = PlacedTable::Create(memory, 2'048).value();
  // All share a bucket of the larger table, which has no overflow buckets left: others took them.
  std::uint32_t entry = 0;
  while (larger.FindOrInsert(1, entry, is_new) != PlacedTable::kNoEntry) {
    ++entry;
  }
  for (std::uint32_t i = 0; i < 2 * Bucket::kTags; ++i) {
    ASSERT_EQ(smaller.FindOrInsert(2, i, is_new), i);
  }
  EXPECT_FALSE(larger.TakeOver(smaller, 2, [](std::uint32_t) { return std::uint64_t{2}; }));
}

}  // namespace
}  // namespace glaive::state
