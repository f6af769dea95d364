#include "state/log/state_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::state {
namespace {

using testing::HasSubstr;

constexpr std::size_t kRegionBytes = std::size_t{2} << 20;

bool AllAre(std::uint8_t mark, const Block& block) {
  return block.data[0] == std::byte{mark} && std::memcmp(block.data, block.data + 1, block.size_bytes - 1) == 0;
}
bool AllZero(const Block& block) { return AllAre(0, block); }

void Soil(const Block& block) { std::memset(block.data, 0xA5, block.size_bytes); }

TEST(StateMemory, BlocksAreAlignedRoundedAndApart) {
  StateMemory memory(64 * kRegionBytes);
  std::set<std::pair<std::byte*, std::byte*>> taken;
  for (const std::size_t wanted : {1UL, 63UL, 64UL, 65UL, 4096UL, kRegionBytes - 64, kRegionBytes, kRegionBytes + 1}) {
    for (int i = 0; i < 3; ++i) {
      const Block block = memory.Acquire(wanted, Contents::kAny).value();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0U);
      EXPECT_EQ(block.size_bytes, (wanted + 63) / 64 * 64);
      taken.emplace(block.data, block.data + block.size_bytes);
    }
  }
  const std::byte* free_from = nullptr;
  for (const auto& [first, end] : taken) {
    EXPECT_GE(first, free_from);
    free_from = end;
  }
}

TEST(StateMemory, WhatGoesPastTheBudgetIsRefusedWithAdvice) {
  StateMemory memory(3 * kRegionBytes);
  ASSERT_TRUE(memory.Acquire(2 * kRegionBytes, Contents::kAny).ok());
  ASSERT_TRUE(memory.Acquire(64, Contents::kAny).ok());
  EXPECT_EQ(memory.mapped_bytes(), memory.limit_bytes());
  const auto refused = memory.Acquire(kRegionBytes, Contents::kZeroed);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("of its 6MiB are in use and 2.00MiB are free in pieces too small"));
  EXPECT_THAT(refused.status().message(), HasSubstr("--memory-limit"));
  EXPECT_TRUE(memory.Acquire(kRegionBytes - 64, Contents::kAny).ok()) << "what is left of a region may still be used";
}

TEST(StateMemory, BlocksOfAnySizeAreCutFromWhatWasPrefaultedAsLongAsTheyFit) {
  StateMemory memory(16 * kRegionBytes);
  ASSERT_TRUE(memory.Prefault(4 * kRegionBytes - 100, GoOn).ok());
  EXPECT_EQ(memory.mapped_bytes(), 4 * kRegionBytes);
  EXPECT_EQ(memory.used_bytes(), 0U);
  const Block large = memory.Acquire(3 * kRegionBytes, Contents::kZeroed).value();
  const Block small = memory.Acquire(1000, Contents::kAny).value();
  EXPECT_TRUE(AllZero(large));
  EXPECT_EQ(small.data, large.data + large.size_bytes);
  EXPECT_EQ(memory.mapped_bytes(), 4 * kRegionBytes);
  EXPECT_EQ(memory.used_bytes(), large.size_bytes + small.size_bytes);
  ASSERT_TRUE(memory.Acquire(2 * kRegionBytes, Contents::kAny).ok());
  EXPECT_EQ(memory.mapped_bytes(), 6 * kRegionBytes) << "more than was left";
}

TEST(StateMemory, PrefaultingNothingMapsNothingAndTooMuchIsRefused) {
  StateMemory memory(4 * kRegionBytes);
  EXPECT_TRUE(memory.Prefault(0, GoOn).ok());
  EXPECT_EQ(memory.mapped_bytes(), 0U);
  const absl::Status refused = memory.Prefault(5 * kRegionBytes, GoOn);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("--prefault-state=10MiB"));
}

TEST(StateMemory, PrefaultingCanBeEndedOnItsWay) {
  StateMemory memory(64 * kRegionBytes);
  int asked = 0;
  const Watch watch = [&asked] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("enough"); };
  EXPECT_EQ(memory.Prefault(64 * kRegionBytes, watch), absl::CancelledError("enough"));
  EXPECT_EQ(asked, 3);
}

TEST(StateMemory, PrefaultsNoMoreThanItsBudgetEvenWhereThatIsNoWholePage) {
  StateMemory memory(3 * kRegionBytes + 5);
  EXPECT_TRUE(memory.Prefault(3 * kRegionBytes + 5, GoOn).ok());
  EXPECT_EQ(memory.mapped_bytes(), 3 * kRegionBytes);
  const auto refused = memory.Acquire(3 * kRegionBytes + 64, Contents::kAny);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("0B of its 6.00MiB are in use and 6MiB are free in pieces too small"));
}

TEST(StateMemory, ABudgetBelowOnePageRegionGivesNothing) {
  StateMemory memory(kRegionBytes - 1);
  EXPECT_EQ(memory.Acquire(64, Contents::kAny).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(memory.mapped_bytes(), 0U);
}

TEST(StateMemory, ReleasedBlocksComeBackWithoutNewMemory) {
  StateMemory memory(16 * kRegionBytes);
  const Block block = memory.Acquire(1000, Contents::kAny).value();
  const std::uint64_t mapped_bytes = memory.mapped_bytes();
  memory.Release(block, Contents::kAny);
  EXPECT_EQ(memory.Acquire(1024, Contents::kAny).value().data, block.data);
  EXPECT_EQ(memory.mapped_bytes(), mapped_bytes);
}

TEST(StateMemory, ZeroedBlocksAreZeroWhateverTheirLastUserLeft) {
  StateMemory memory(16 * kRegionBytes);
  const Block block = memory.Acquire(100'000, Contents::kZeroed).value();
  EXPECT_TRUE(AllZero(block));
  Soil(block);
  memory.Release(block, Contents::kZeroed);
  const Block again = memory.Acquire(100'000, Contents::kZeroed).value();
  EXPECT_EQ(again.data, block.data);
  EXPECT_TRUE(AllZero(again));
}

/// Of a block, the pages of 4 KiB that the system has given.
std::size_t PagesOf(const Block& block) {
  constexpr std::size_t kPageBytes = 4096;
  const std::size_t before = reinterpret_cast<std::uintptr_t>(block.data) % kPageBytes;
  std::vector<unsigned char> pages((before + block.size_bytes + kPageBytes - 1) / kPageBytes);
  EXPECT_EQ(mincore(block.data - before, before + block.size_bytes, pages.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; }));
}

TEST(StateMemory, ALargeZeroedBlockGetsItsPagesInSteps) {
  StateMemory memory(64 * kRegionBytes);
  EXPECT_FALSE(memory.TouchSome(1));
  const Block block = memory.Acquire(8 * kRegionBytes, Contents::kZeroed).value();
  const std::size_t all = block.size_bytes / 4096;
  EXPECT_EQ(PagesOf(block), 0U);
  EXPECT_TRUE(memory.TouchSome(4 * kRegionBytes));
  EXPECT_GE(PagesOf(block), all / 2);
  EXPECT_LE(PagesOf(block), all / 2 + kRegionBytes / 4096) << "a page may be a huge one";
  EXPECT_FALSE(memory.TouchSome(5 * kRegionBytes));
  EXPECT_EQ(PagesOf(block), all);
  EXPECT_TRUE(AllZero(block));
}

TEST(StateMemory, WhichBlockIsLargeIsAThreshold) {
  StateMemory memory(64 << 10, /*hash_seed=*/0, {.region_bytes = 8192});
  ASSERT_TRUE(memory.Acquire(64, Contents::kZeroed).ok());
  EXPECT_EQ(memory.mapped_bytes(), 8192U);
  ASSERT_TRUE(memory.Acquire(8192, Contents::kZeroed).ok());
  EXPECT_FALSE(memory.has_untouched());
  ASSERT_TRUE(memory.Acquire(8256, Contents::kZeroed).ok());
  EXPECT_TRUE(memory.has_untouched());
  EXPECT_EQ(memory.mapped_bytes(), 4 * 8192U);
  EXPECT_FALSE(memory.TouchSome(1 << 20));
  EXPECT_EQ(memory.touched_bytes(), 8256U);
}

TEST(StateMemory, TouchesNoBlockThatHasPagesIsSmallOrIsFreeAgain) {
  StateMemory memory(64 * kRegionBytes);
  ASSERT_TRUE(memory.Prefault(8 * kRegionBytes, GoOn).ok());
  ASSERT_TRUE(memory.Acquire(8 * kRegionBytes, Contents::kZeroed).ok());
  EXPECT_FALSE(memory.has_untouched()) << "prefaulted";
  ASSERT_TRUE(memory.Acquire(kRegionBytes, Contents::kZeroed).ok());
  ASSERT_TRUE(memory.Acquire(8 * kRegionBytes, Contents::kAny).ok());
  EXPECT_FALSE(memory.has_untouched());
  const Block first = memory.Acquire(4 * kRegionBytes, Contents::kZeroed).value();
  const Block second = memory.Acquire(4 * kRegionBytes, Contents::kZeroed).value();
  EXPECT_TRUE(memory.TouchSome(kRegionBytes)) << "some of one of them";
  memory.Release(second, Contents::kZeroed);
  EXPECT_TRUE(memory.has_untouched());
  memory.Release(first, Contents::kZeroed);
  EXPECT_FALSE(memory.has_untouched());
}

TEST(StateMemory, CleansInStepsAndSaysWhenItIsDone) {
  StateMemory memory(16 * kRegionBytes);
  EXPECT_FALSE(memory.CleanSome(1));
  const Block block = memory.Acquire(4096, Contents::kZeroed).value();
  Soil(block);
  memory.Release(block, Contents::kZeroed);
  EXPECT_TRUE(memory.CleanSome(1050));
  EXPECT_EQ(block.data[1023], std::byte{0});
  EXPECT_EQ(block.data[1024], std::byte{0xA5}) << "whole lines";
  EXPECT_TRUE(memory.CleanSome(3000));
  EXPECT_FALSE(memory.CleanSome(1000));
  EXPECT_TRUE(AllZero(block));
  EXPECT_EQ(memory.Acquire(4096, Contents::kZeroed).value().data, block.data);
}

TEST(StateMemory, ABlockTakenInMidCleaningIsZeroAllTheSame) {
  StateMemory memory(kRegionBytes);
  const Block block = memory.Acquire(kRegionBytes, Contents::kZeroed).value();
  Soil(block);
  memory.Release(block, Contents::kZeroed);
  EXPECT_TRUE(memory.CleanSome(1000));
  EXPECT_TRUE(AllZero(memory.Acquire(kRegionBytes, Contents::kZeroed).value()));
  EXPECT_FALSE(memory.CleanSome(1)) << "there is nothing left to clean";
}

TEST(StateMemory, UsedAreTheBlocksThatHaveNotComeBack) {
  StateMemory memory(16 * kRegionBytes);
  const Block first = memory.Acquire(4096, Contents::kAny).value();
  const Block second = memory.Acquire(2 * kRegionBytes, Contents::kZeroed).value();
  EXPECT_EQ(memory.used_bytes(), 4096 + 2 * kRegionBytes);
  memory.Release(second, Contents::kZeroed);
  EXPECT_EQ(memory.used_bytes(), 4096U);
  memory.Release(first, Contents::kAny);
  EXPECT_EQ(memory.used_bytes(), 0U);
  EXPECT_EQ(memory.most_used_bytes(), 4096 + 2 * kRegionBytes);
}

TEST(StateMemory, BlocksOfAnySizeAreCutFromThoseThatCameBack) {
  constexpr std::uint64_t kLimitBytes = 8 * kRegionBytes;
  for (const Contents contents : {Contents::kAny, Contents::kZeroed}) {
    StateMemory memory(kLimitBytes);
    // Each stage uses half of the budget, in blocks of another size than the stage before.
    for (const std::size_t size : {kRegionBytes / 8, 4 * kRegionBytes, std::size_t{4096}, 2 * kRegionBytes + 64,
                                   kRegionBytes, std::size_t{100'032}}) {
      std::vector<Block> blocks;
      for (std::size_t used = 0; used + size <= kLimitBytes / 2; used += size) {
        const auto block = memory.Acquire(size, contents);
        ASSERT_TRUE(block.ok()) << size << ": " << block.status();
        ASSERT_TRUE(contents == Contents::kAny || AllZero(*block)) << size;
        Soil(*block);
        blocks.push_back(*block);
      }
      for (const Block& block : blocks) {
        memory.Release(block, contents);
      }
    }
    EXPECT_EQ(memory.used_bytes(), 0U);
  }
}

TEST(StateMemory, FreeRegionsMakeRoomForALargerOne) {
  StateMemory memory(8 * kRegionBytes);
  std::vector<Block> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(memory.Acquire(kRegionBytes, Contents::kAny).value());
    Soil(blocks.back());
  }
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    memory.Release(blocks[i], Contents::kAny);
  }
  const Block large = memory.Acquire(7 * kRegionBytes, Contents::kZeroed).value();
  EXPECT_TRUE(AllZero(large));
  EXPECT_TRUE(AllAre(0xA5, blocks[0])) << "it is still in use";
  EXPECT_LE(memory.mapped_bytes(), memory.limit_bytes());
}

TEST(StateMemory, ZeroesNoMuchMemoryAtOnceWhileTheBudgetHasMore) {
  StateMemory memory(8 * kRegionBytes);
  memory.Release(memory.Acquire(3 * kRegionBytes, Contents::kAny).value(), Contents::kAny);
  const Block large = memory.Acquire(3 * kRegionBytes, Contents::kZeroed).value();
  EXPECT_EQ(memory.mapped_bytes(), 6 * kRegionBytes) << "new memory";
  const Block small = memory.Acquire(kRegionBytes, Contents::kZeroed).value();
  EXPECT_EQ(memory.mapped_bytes(), 6 * kRegionBytes) << "zeroed here";
  EXPECT_TRUE(AllZero(large) && AllZero(small));
}

TEST(StateMemory, StaysSoundUnderRandomUse) {
  std::mt19937_64 random(1);
  StateMemory memory(24 * kRegionBytes);
  constexpr std::size_t kSizes[] = {64, 4096, 4160, 262'144, kRegionBytes + 576, 3 * kRegionBytes, 5 * kRegionBytes};
  struct Use {
    Block block;
    Contents contents;
    std::uint8_t mark;
  };
  std::vector<Use> in_use;
  for (int step = 0; step < 2000; ++step) {
    if (random() % 2 == 0) {
      const auto contents = random() % 2 == 0 ? Contents::kZeroed : Contents::kAny;
      const auto block = memory.Acquire(kSizes[random() % std::size(kSizes)], contents);
      if (block.ok()) {
        ASSERT_TRUE(contents == Contents::kAny || AllZero(*block)) << "step " << step;
        const auto mark = static_cast<std::uint8_t>(1 + random() % 255);
        std::memset(block->data, mark, block->size_bytes);
        in_use.push_back({*block, contents, mark});
      }
    } else if (!in_use.empty()) {
      std::swap(in_use[random() % in_use.size()], in_use.back());
      const Use use = in_use.back();
      in_use.pop_back();
      ASSERT_TRUE(AllAre(use.mark, use.block)) << "someone else wrote into the block, step " << step;
      memory.Release(use.block, use.contents);
    }
    memory.CleanSome(random() % 100'000);
    ASSERT_LE(memory.mapped_bytes(), memory.limit_bytes());
  }
}

TEST(StateMemoryDeathTest, ABlockWithoutMemoryIsNotTakenBack) {
  StateMemory memory(kRegionBytes);
  EXPECT_DEATH(memory.Release(Block{.data = nullptr, .size_bytes = 64}, Contents::kAny), "released without memory");
}

}  // namespace
}  // namespace glaive::state
