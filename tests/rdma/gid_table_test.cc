#include "rdma/verbs/gid_table.h"

#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

Gid MappedIpv4(int last) {
  Gid gid{};
  gid[10] = gid[11] = std::byte{0xff};
  gid[12] = std::byte{10};
  gid[15] = static_cast<std::byte>(last);
  return gid;
}

GidEntry Entry(std::uint32_t port, std::int32_t index, GidType type, int last) {
  return {.port = port, .index = index, .type = type, .gid = MappedIpv4(last)};
}

TEST(FindGid, PrefersRoceV2WhereverItStands) {
  for (const bool v2_first : {false, true}) {
    const GidEntry v1 = Entry(1, v2_first ? 3 : 2, GidType::kRoceV1, 5);
    const GidEntry v2 = Entry(1, v2_first ? 2 : 3, GidType::kRoceV2, 5);
    const std::vector<GidEntry> table = {Entry(1, 0, GidType::kRoceV2, 4), Entry(2, 0, GidType::kRoceV2, 5),
                                         v2_first ? v2 : v1, v2_first ? v1 : v2};
    const GidEntry* const found = FindGid(table, 1, MappedIpv4(5));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->index, v2.index);
    EXPECT_EQ(found->type, GidType::kRoceV2);
  }
}

TEST(FindGid, TakesAnotherTypeWhereThereIsNoRoceV2) {
  const std::vector<GidEntry> table = {Entry(1, 7, GidType::kRoceV1, 5)};
  ASSERT_NE(FindGid(table, 1, MappedIpv4(5)), nullptr);
  EXPECT_EQ(FindGid(table, 1, MappedIpv4(5))->index, 7);
  EXPECT_EQ(FindGid(table, 2, MappedIpv4(5)), nullptr);
  EXPECT_EQ(FindGid(table, 1, MappedIpv4(6)), nullptr);
}

TEST(FormatGid, IsAnIpv6Address) { EXPECT_EQ(Format(MappedIpv4(5)), "::ffff:10.0.0.5"); }

}  // namespace
}  // namespace glaive::rdma
