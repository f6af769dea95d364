#include "state/log/entry_log.h"

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;

struct Entry {
  std::uint64_t key;
  std::uint64_t square;
};

// 24 bytes: no power of two.
struct OddEntry {
  std::uint64_t key;
  std::uint64_t padding[2];
};

template <typename E>
void AppendSome(EntryLog<E>& log, StateMemory& memory, std::uint32_t count) {
  while (log.size() < count) {
    ASSERT_TRUE(log.MakeRoom(memory, 1).ok());
    E entry{};
    entry.key = log.size() * 3;
    ASSERT_EQ(log.Append(entry), entry.key / 3);
  }
}

TEST(EntryLog, BlocksHoldWholeEntriesOfAboutAQuarterMebibyte) {
  static_assert(EntryLog<Entry>::kEntriesPerBlock == 16'384 && EntryLog<Entry>::kBlockBytes == 256 << 10);
  static_assert(EntryLog<OddEntry>::kEntriesPerBlock == 16'384 && EntryLog<OddEntry>::kBlockBytes == 384 << 10);
  static_assert(EntryLog<OddEntry>::kBlockBytes % 64 == 0);
}

TEST(EntryLog, AFewEntriesTakeFewKibibytes) {
  StateMemory memory(kLimitBytes);
  EntryLog<Entry> log;
  AppendSome(log, memory, 256);
  EXPECT_EQ(log.size_bytes(), 4U << 10);
  AppendSome(log, memory, 257);
  EXPECT_EQ(log.size_bytes(), 16U << 10);
  for (std::uint32_t number = 0; number < log.size(); ++number) {
    ASSERT_EQ(log.At(number).key, number * 3);
  }
  log.Release(memory);
  const std::uint64_t mapped = memory.mapped_bytes();
  AppendSome(log, memory, 257);
  EXPECT_EQ(memory.mapped_bytes(), mapped) << "released blocks of every size are used again";
}

TEST(EntryLog, NumbersEntriesInOrderAndKeepsThemInPlaceOnceABlockIsFull) {
  StateMemory memory(kLimitBytes);
  EntryLog<OddEntry> log;
  AppendSome(log, memory, EntryLog<OddEntry>::kEntriesPerBlock);
  const OddEntry* const first = &log.At(0);
  AppendSome(log, memory, 3 * EntryLog<OddEntry>::kEntriesPerBlock + 1);
  EXPECT_EQ(&log.At(0), first);
  for (std::uint32_t number = 0; number < log.size(); ++number) {
    ASSERT_EQ(log.At(number).key, number * 3);
  }
  EXPECT_EQ(log.size_bytes(), 4 * EntryLog<OddEntry>::kBlockBytes);
}

TEST(EntryLog, AScanByRunsMeetsEveryEntryOnce) {
  StateMemory memory(kLimitBytes);
  for (const std::uint32_t count : {0U, 1U, EntryLog<Entry>::kEntriesPerBlock, EntryLog<Entry>::kEntriesPerBlock + 1,
                                    2 * EntryLog<Entry>::kEntriesPerBlock, 40'000U}) {
    EntryLog<Entry> log;
    AppendSome(log, memory, count);
    std::uint32_t met = 0;
    for (auto run = log.Run(0); !run.empty(); run = log.Run(met)) {
      for (const Entry& entry : run) {
        ASSERT_EQ(entry.key, met++ * 3);
      }
    }
    EXPECT_EQ(met, count);
    EXPECT_TRUE(log.Run(count).empty());
    log.Release(memory);
  }
}

TEST(EntryLog, ARunMayStartAnywhere) {
  StateMemory memory(kLimitBytes);
  EntryLog<Entry> log;
  AppendSome(log, memory, 20'000);
  EXPECT_EQ(log.Run(16'000).size(), 384U);
  EXPECT_EQ(log.Run(16'384).size(), 20'000U - 16'384);
  EXPECT_EQ(log.Run(19'999).size(), 1U);
}

TEST(EntryLog, RoomForAGroupIsMadeBeforehand) {
  StateMemory memory(kLimitBytes);
  EntryLog<Entry> log;
  ASSERT_TRUE(log.MakeRoom(memory, 3 * EntryLog<Entry>::kEntriesPerBlock).ok());
  EXPECT_EQ(log.size_bytes(), 3 * EntryLog<Entry>::kBlockBytes);
  ASSERT_TRUE(log.MakeRoom(memory, 3 * EntryLog<Entry>::kEntriesPerBlock).ok());
  EXPECT_EQ(log.size_bytes(), 3 * EntryLog<Entry>::kBlockBytes);
}

TEST(EntryLog, PastTheBudgetItSaysSoAndKeepsWhatItHas) {
  StateMemory memory(std::uint64_t{2} << 20);
  EntryLog<Entry> log;
  AppendSome(log, memory, 100);
  EXPECT_EQ(log.MakeRoom(memory, 1 << 20).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(log.size(), 100U);
  EXPECT_EQ(log.At(99).key, 297U);
}

TEST(EntryLog, ItsMemoryServesTheNextLog) {
  StateMemory memory(kLimitBytes);
  for (int round = 0; round < 20; ++round) {
    EntryLog<Entry> log;
    AppendSome(log, memory, 100'000);
    log.Release(memory);
    EXPECT_EQ(log.size(), 0U);
    EXPECT_EQ(log.size_bytes(), 0U);
  }
  EXPECT_LE(memory.mapped_bytes(), std::uint64_t{2} << 20);
}

}  // namespace
}  // namespace glaive::state
