#include "rdma/channel/slot_footer.h"

#include <cstring>

#include "gtest/gtest.h"

#include "rdma/channel/checksum.h"
#include "rdma/channel/write_id.h"

namespace glaive::rdma {
namespace {

TEST(SlotFooter, LapIsNeverZeroAndChangesWithEveryRound) {
  for (const std::uint32_t credits : {2U, 3U, 8U, 100U}) {
    for (std::uint64_t number = 1; number <= 600 * credits; ++number) {
      ASSERT_NE(LapOf(number, credits), 0) << number;
      ASSERT_NE(LapOf(number, credits), LapBefore(number, credits)) << number;
    }
  }
}

TEST(SlotFooter, LapIsTheSameForAllMessagesOfARound) {
  EXPECT_EQ(LapOf(1, 8), 1);
  EXPECT_EQ(LapOf(8, 8), 1);
  EXPECT_EQ(LapOf(9, 8), 2);
  EXPECT_EQ(LapOf(254 * 8 + 1, 8), 255);
  EXPECT_EQ(LapOf(255 * 8 + 1, 8), 1);
}

TEST(SlotFooter, LapBeforeIsWhatTheSlotHolds) {
  EXPECT_EQ(LapBefore(1, 8), 0);
  EXPECT_EQ(LapBefore(8, 8), 0);
  EXPECT_EQ(LapBefore(9, 8), 1);
  EXPECT_EQ(LapBefore(255 * 8 + 1, 8), 255);
}

TEST(SlotFooter, MessagesArePaddedToCacheLines) {
  EXPECT_EQ(MessageBytes(0), 64U);
  EXPECT_EQ(MessageBytes(1), 128U);
  EXPECT_EQ(MessageBytes(64), 128U);
  EXPECT_EQ(MessageBytes(65), 192U);
  EXPECT_EQ(MessageBytes(65472), 65536U);
}

TEST(SlotFooter, ChecksumChangesWithEveryBitButItsOwn) {
  SlotFooter footer;
  footer.message_number = 77;
  footer.payload_bytes = 1234;
  footer.lap = 9;
  const std::uint32_t before = FooterChecksum(footer);
  for (std::size_t bit = 0; bit < 8 * sizeof(footer); ++bit) {
    std::array<std::byte, sizeof(footer)> bytes;
    std::memcpy(bytes.data(), &footer, sizeof(footer));
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    SlotFooter changed;
    std::memcpy(&changed, bytes.data(), sizeof(changed));
    const bool own = bit / 8 >= offsetof(SlotFooter, footer_checksum) && bit / 8 < offsetof(SlotFooter, reserved);
    EXPECT_EQ(FooterChecksum(changed) == before, own) << "bit " << bit;
  }
}

TEST(PayloadChecksum, IsNeverTheValueThatMeansOff) {
  EXPECT_NE(PayloadChecksum({}), 0U);
  const std::array<std::byte, 3> some{std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_NE(PayloadChecksum(some), PayloadChecksum(std::span(some).first(2)));
}

TEST(MessageTag, CarriesAValueAndZeroesTheRest) {
  struct Chunk {
    std::uint64_t epoch;
    std::uint32_t kind;
  };
  const MessageTag tag = MessageTag::Of(Chunk{.epoch = 7, .kind = 3});
  EXPECT_EQ(tag.As<Chunk>().epoch, 7U);
  EXPECT_EQ(tag.As<Chunk>().kind, 3U);
  EXPECT_EQ(tag.bytes[23], std::byte{0});
  EXPECT_EQ(MessageTag::Of(std::uint64_t{0}), MessageTag());
}

TEST(WriteId, KeepsChannelAndNumberApart) {
  const WriteId id{.channel = 65535, .number = WriteId::kMaxNumber};
  EXPECT_EQ(WriteId::Unpack(id.Pack()), id);
  EXPECT_EQ(WriteId::Unpack(WriteId{.channel = 1, .number = 2}.Pack()), (WriteId{.channel = 1, .number = 2}));
}

}  // namespace
}  // namespace glaive::rdma
