#include "rdma/memory/segment_pool.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/ids.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(SegmentPool, HandsOutEverySegmentOnceAndThenNone) {
  SegmentPool pool = SegmentPool::Create(256, 10).value();
  std::set<SegmentId> seen;
  for (int i = 0; i < 10; ++i) seen.insert(pool.TryAcquire().value());
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(pool.available(), 0U);
  EXPECT_EQ(pool.TryAcquire(), std::nullopt);
  pool.Release(*seen.begin());
  EXPECT_EQ(pool.TryAcquire(), *seen.begin());
}

TEST(SegmentPool, LaysSegmentsOutInOneAlignedRow) {
  SegmentPool pool = SegmentPool::Create(320, 7).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.base()) % 64, 0U);
  EXPECT_EQ(pool.bytes().size(), 7U * 320U);
  EXPECT_EQ(pool.payload_capacity(), 256U);
  for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(pool.Data(SegmentId{i}), pool.base() + i * 320);
}

TEST(SegmentPool, GivesTheLastReleasedSegmentFirst) {
  SegmentPool pool = SegmentPool::Create(256, 3).value();
  const SegmentId a = pool.TryAcquire().value();
  const SegmentId b = pool.TryAcquire().value();
  pool.Release(b);
  pool.Release(a);
  EXPECT_EQ(pool.TryAcquire(), a);
  EXPECT_EQ(pool.TryAcquire(), b);
}

TEST(SegmentPool, WorksOnAfterItWasMoved) {
  SegmentPool first = SegmentPool::Create(256, 2).value();
  const SegmentId id = first.TryAcquire().value();
  SegmentPool second = std::move(first);
  second.Release(id);
  EXPECT_EQ(second.available(), 2U);
  second.Data(id)[0] = std::byte{1};
}

TEST(SegmentPool, RefusesSlotSizesThatCannotBeUsed) {
  for (const std::uint32_t slot_bytes : {0U, 64U, 192U, 255U, 257U, 65535U, (1U << 30) + 64U}) {
    const absl::Status status = SegmentPool::Create(slot_bytes, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << slot_bytes;
    EXPECT_THAT(status.message(), HasSubstr("--slot-bytes"));
  }
  EXPECT_EQ(SegmentPool::Create(256, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SegmentPoolDeathTest, EndsTheProcessOnADoubleRelease) {
  SegmentPool pool = SegmentPool::Create(256, 2).value();
  const SegmentId id = pool.TryAcquire().value();
  pool.Release(id);
  EXPECT_DEATH(pool.Release(id), "released while it was free");
}

TEST(SegmentPoolDeathTest, EndsTheProcessOnAForeignSegment) {
  SegmentPool pool = SegmentPool::Create(256, 2).value();
  EXPECT_DEATH(pool.Release(SegmentId{2}), "segment 2 of a pool of 2");
}

}  // namespace
}  // namespace glaive::rdma
