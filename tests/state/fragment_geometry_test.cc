#include "state/store/fragment_geometry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/epoch/delta_layout.h"
#include "state/record/text_wire.h"

namespace glaive::state {
namespace {

using testing::HasSubstr;

constexpr std::size_t kEntryBytes = 24;
constexpr std::size_t kFooterBytes = 64;

FragmentGeometry Plan(std::uint32_t executors, std::size_t slot_bytes, std::uint64_t fragment_bytes) {
  return FragmentGeometry::Plan(executors, slot_bytes, kEntryBytes, fragment_bytes).value();
}

TEST(FragmentGeometry, ASegmentKeepsRoomForFooterAndMarker) {
  EXPECT_EQ(Plan(2, 256, 0).runs_bytes_per_segment, 256U - 64 - 64);
  EXPECT_EQ(Plan(2, 65'536, 0).runs_bytes_per_segment, 65'536U - 64 - 64);
  for (std::size_t slot_bytes = 256; slot_bytes < 1024; ++slot_bytes) {
    const std::size_t runs_bytes = Plan(2, slot_bytes, 0).runs_bytes_per_segment;
    ASSERT_LE(runs_bytes + kMarkerBytes + kFooterBytes, slot_bytes);
    ASSERT_GT(runs_bytes + kMarkerBytes + kFooterBytes, slot_bytes - kRunAlignment) << "it wastes room";
    ASSERT_EQ(runs_bytes % kRunAlignment, 0U);
  }
}

TEST(FragmentGeometry, TheWorstCaseIsOneSegmentALeaderAndWhatTheItemsFill) {
  const FragmentGeometry geometry = Plan(4, 256, 0);  // 3 leaders; a segment has 4 entries of 24 bytes
  EXPECT_EQ(geometry.WorstCaseSegments(0, 24), 0U);
  EXPECT_EQ(geometry.WorstCaseSegments(1, 24), 1U);
  EXPECT_EQ(geometry.WorstCaseSegments(2, 24), 2U);
  EXPECT_EQ(geometry.WorstCaseSegments(3, 24), 3U);
  EXPECT_EQ(geometry.WorstCaseSegments(4, 24), 3U + 1);
  EXPECT_EQ(geometry.WorstCaseSegments(64, 24), 3U + 16);
  EXPECT_EQ(geometry.WorstCaseSegments(64, 8), 3U + 64 / 13);
  EXPECT_EQ(geometry.WorstCaseSegments(64, 104), 3U + 64);
}

TEST(FragmentGeometry, BesideOpenSegmentsThereIsRoomForWhatAStoreTakesAtATime) {
  for (const std::uint32_t executors : {2U, 3U, 16U, 160U}) {
    for (const std::size_t slot_bytes : {256U, 1024U, 65'536U}) {
      for (const std::uint64_t fragment_bytes : {0UL, 4096UL, 1UL << 20}) {
        const FragmentGeometry geometry = Plan(executors, slot_bytes, fragment_bytes);
        const std::uint32_t open = geometry.remote_leaders;
        // Each of the records that a store takes may be two entries.
        EXPECT_GT(geometry.pool_segments, open + geometry.WorstCaseSegments(2 * kMostEntries, kEntryBytes))
            << executors << " executors, slots of " << slot_bytes << " bytes: nothing is ever on its way meanwhile";
        // About so many bytes are on their way while as many are filled.
        EXPECT_GE((geometry.pool_segments - open) * slot_bytes, 2 * (fragment_bytes / slot_bytes * slot_bytes));
      }
    }
  }
}

TEST(FragmentGeometry, AGroupOfLargeEntriesIsSmall) {
  EXPECT_EQ(MostEntriesAtOnce(1), kMostEntries);
  EXPECT_EQ(MostEntriesAtOnce(8192), kMostEntries);
  EXPECT_EQ(MostEntriesAtOnce(8193), kMostEntries - 1);
  EXPECT_EQ(MostEntriesAtOnce(kMostBytesAtOnce), 1U);
  EXPECT_EQ(MostEntriesAtOnce(kMostBytesAtOnce + 1), 1U);
}

/// As architecture.md states it of keys with texts.
TEST(FragmentGeometry, TheSegmentsOfAGroupOfTextsTakeLessThan19MiBWhateverASlotHas) {
  for (std::size_t slot_bytes = 1024; slot_bytes <= (std::size_t{16} << 20);
       slot_bytes = slot_bytes * 3 / 2 / 64 * 64) {
    const std::size_t entry_bytes = 40 + MostTextBytes(slot_bytes) + kRunAlignment;
    const FragmentGeometry geometry = FragmentGeometry::Plan(2, slot_bytes, entry_bytes, 0).value();
    const std::size_t open_and_under_way = 1 + 2;
    EXPECT_LE((geometry.pool_segments - open_and_under_way) * slot_bytes, (std::size_t{19} << 20) + slot_bytes)
        << slot_bytes;
  }
}

TEST(FragmentGeometry, AloneThereIsNobodyToShipTo) {
  EXPECT_EQ(Plan(1, 65'536, 1 << 20).remote_leaders, 0U);
  EXPECT_EQ(Plan(1, 65'536, 1 << 20).pool_segments, 1U) << "a pool has at least one";
}

TEST(FragmentGeometry, APoolOfNoFragmentHasASegmentForTheFirstMessage) {
  EXPECT_EQ(FragmentGeometry::PoolSegments({}), 1U);
}

TEST(FragmentGeometry, FragmentsThatShareAPoolHaveTheirSegmentsBesideEachOther) {
  const auto all = FragmentGeometry::PlanAll(3, 1024, {24, 48}, 1 << 20).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(FragmentGeometry::PoolSegments(all), all[0].pool_segments + all[1].pool_segments);
  EXPECT_EQ(all[0].pool_segments, FragmentGeometry::Plan(3, 1024, 24, 1 << 20)->pool_segments);
  EXPECT_EQ(all[1].pool_segments, FragmentGeometry::Plan(3, 1024, 48, 1 << 20)->pool_segments);
}

TEST(FragmentGeometry, ASlotTooSmallForOneEntryIsRefusedWithAdvice) {
  for (const std::size_t slot_bytes : {0U, 63U, 64U, 128U, 192U, 255U}) {
    const auto geometry = FragmentGeometry::Plan(2, slot_bytes, 104, 0);
    EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument) << slot_bytes;
    EXPECT_THAT(geometry.status().message(), HasSubstr("--slot-bytes"));
  }
  EXPECT_TRUE(FragmentGeometry::Plan(2, 256, 104, 0).ok()) << "128 bytes for a header and the entry";
  EXPECT_EQ(FragmentGeometry::Plan(2, 256, 105, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FragmentGeometry::PlanAll(2, 256, {24, 105}, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FragmentGeometry, TooManySegmentsAreRefusedWithAdvice) {
  for (const std::uint64_t fragment_bytes :
       {std::uint64_t{1} << 37, std::uint64_t{1} << 50, std::numeric_limits<std::uint64_t>::max()}) {
    for (const std::size_t slot_bytes : {256U, 4096U}) {
      const auto geometry = FragmentGeometry::Plan(2, slot_bytes, kEntryBytes, fragment_bytes);
      EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument) << fragment_bytes << " " << slot_bytes;
      EXPECT_THAT(geometry.status().message(), HasSubstr("--fragment-bytes"));
    }
  }
}

TEST(FragmentGeometry, APoolHasTheMostSegmentsAndNotOneMore) {
  // Segments under way come in pairs, so the others have to be even in number.
  const std::uint32_t executors = (kMostSegments - Plan(2, 1024, 0).pool_segments) % 2 == 0 ? 2 : 3;
  const std::uint64_t pairs = (kMostSegments - Plan(executors, 1024, 1024).pool_segments) / 2 + 1;
  EXPECT_EQ(Plan(executors, 1024, pairs * 1024).pool_segments, kMostSegments);
  EXPECT_THAT(FragmentGeometry::Plan(executors, 1024, kEntryBytes, (pairs + 1) * 1024).status().message(),
              HasSubstr("has more than 16777216 segments: lower --fragment-bytes"));
  EXPECT_TRUE(FragmentGeometry::PlanAll(executors, 1024, {kEntryBytes}, pairs * 1024).ok());
  // Fragments that have few enough each: two of them, and as many as make the sum 0 in 32 bits.
  for (const std::size_t fragments : {2U, 256U}) {
    const std::vector<std::size_t> entries(fragments, kEntryBytes);
    EXPECT_THAT(FragmentGeometry::PlanAll(executors, 1024, entries, pairs * 1024).status().message(),
                HasSubstr("--fragment-bytes"))
        << fragments;
  }
}

}  // namespace
}  // namespace glaive::state
