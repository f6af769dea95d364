#include "state/store/fragment_geometry.h"

#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/epoch/delta_layout.h"
#include "state/store/slice_table.h"

namespace glaive::state {
namespace {

using testing::HasSubstr;

constexpr std::size_t kEntryBytes = 24;

FragmentGeometry Plan(std::uint32_t executors, std::size_t slot_bytes, std::uint64_t fragment_bytes) {
  return FragmentGeometry::Plan(executors, slot_bytes, kEntryBytes, fragment_bytes).value();
}

TEST(FragmentGeometry, ASegmentKeepsRoomForFooterAndMarker) {
  EXPECT_EQ(Plan(2, 256, 0).entries_per_segment, 5U);  // 256 - 64 - 64 = 128
  EXPECT_EQ(Plan(2, 65'536, 0).entries_per_segment, 2725U);
  for (std::size_t slot_bytes = 256; slot_bytes < 4096; slot_bytes += 64) {
    for (std::size_t entry_bytes = 1; entry_bytes <= 128; ++entry_bytes) {
      const std::uint32_t entries = EntriesPerSegment(slot_bytes - 64, entry_bytes);
      ASSERT_GE(entries, 1U);
      ASSERT_LE(MarkerOffset(entries, entry_bytes) + kMarkerBytes, slot_bytes - 64);
      ASSERT_EQ(MarkerOffset(entries, entry_bytes) % 8, 0U);
    }
  }
}

TEST(FragmentGeometry, AfterAnEpochsEndAGroupAlwaysFits) {
  for (const std::uint32_t executors : {2U, 3U, 16U, 160U}) {
    for (const std::size_t slot_bytes : {256U, 1024U, 65'536U}) {
      for (const std::uint64_t fragment_bytes : {0UL, 4096UL, 1UL << 20}) {
        const FragmentGeometry geometry = Plan(executors, slot_bytes, fragment_bytes);
        EXPECT_GE(geometry.capacity_segments, geometry.WorstCaseSegments(kGroupSize));
        EXPECT_GE(std::uint64_t{geometry.capacity_segments} * slot_bytes, fragment_bytes / slot_bytes * slot_bytes);
        // One epoch on its way, one being filled, and a marker for every leader.
        EXPECT_GE(geometry.pool_segments, 2 * geometry.capacity_segments + geometry.remote_leaders);
        EXPECT_LE(geometry.pool_segments, geometry.MaxPoolSegments());
      }
    }
  }
}

TEST(FragmentGeometry, TheWorstCaseIsOneSegmentALeaderAndWhatTheItemsFill) {
  const FragmentGeometry geometry = Plan(4, 256, 0);  // 3 leaders, 5 entries a segment
  EXPECT_EQ(geometry.WorstCaseSegments(0), 0U);
  EXPECT_EQ(geometry.WorstCaseSegments(1), 1U);
  EXPECT_EQ(geometry.WorstCaseSegments(2), 2U);
  EXPECT_EQ(geometry.WorstCaseSegments(4), 3U);
  EXPECT_EQ(geometry.WorstCaseSegments(64), 3U + 12);
}

TEST(FragmentGeometry, AloneThereIsNobodyToShipTo) { EXPECT_EQ(Plan(1, 65'536, 1 << 20).remote_leaders, 0U); }

TEST(FragmentGeometry, ASlotTooSmallForOneEntryIsRefusedWithAdvice) {
  for (const std::size_t slot_bytes : {0U, 63U, 64U, 128U, 192U}) {
    const auto geometry = FragmentGeometry::Plan(2, slot_bytes, 128, 0);
    EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument) << slot_bytes;
    EXPECT_THAT(geometry.status().message(), HasSubstr("--slot-bytes"));
  }
  EXPECT_EQ(FragmentGeometry::Plan(2, 256, 129, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FragmentGeometry::Plan(2, 256, 128, 0)->entries_per_segment, 1U);
}

TEST(FragmentGeometry, MoreEntriesThanAddressesAreRefusedWithAdvice) {
  for (const std::uint64_t fragment_bytes :
       {std::uint64_t{1} << 37, std::uint64_t{1} << 50, std::numeric_limits<std::uint64_t>::max()}) {
    for (const std::size_t slot_bytes : {std::size_t{256}, std::size_t{65'536}, std::size_t{1} << 30}) {
      const auto geometry = FragmentGeometry::Plan(2, slot_bytes, kEntryBytes, fragment_bytes);
      EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument) << fragment_bytes << " " << slot_bytes;
      EXPECT_THAT(geometry.status().message(), HasSubstr("--fragment-bytes"));
    }
  }
}

TEST(FragmentGeometry, AnEntrysAddressNeverMeansNone) {
  for (const std::size_t slot_bytes : {256U, 65'536U, 1U << 20}) {
    const FragmentGeometry geometry = Plan(2, slot_bytes, 1 << 20);
    const std::uint64_t last = ((std::uint64_t{geometry.MaxPoolSegments()} - 1) << geometry.offset_bits()) |
                               ((std::uint64_t{1} << geometry.offset_bits()) - 1);
    EXPECT_LT(last, 0xFFFFFFFFU);
    EXPECT_GE(std::uint64_t{1} << geometry.offset_bits(), geometry.entries_per_segment);
  }
}

}  // namespace
}  // namespace glaive::state
