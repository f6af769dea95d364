#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/nexmark/auction.h"
#include "queries/nexmark/seller.h"

namespace glaive::queries::nexmark {
namespace {

using testing::ElementsAreArray;

template <typename R>
std::vector<std::uint8_t> BytesOf(const R& record) {
  std::vector<std::uint8_t> bytes(sizeof(record));
  std::memcpy(bytes.data(), &record, sizeof(record));
  return bytes;
}

TEST(AuctionTest, ItsBytesAreThoseOfTheTable) {
  Auction auction{};
  auction.id = 0x0102030405060708;
  auction.seller = 0x11;
  auction.event_time_ms = -2;
  auction.expires_ms = 0x22;
  auction.initial_bid = 0x33;
  auction.reserve = 0x44;
  auction.category = 14;
  auction.item_name[0] = 'i';
  auction.description[199] = 'd';
  std::vector<std::uint8_t> expected(269);
  for (std::size_t i = 0; i < 8; ++i) {
    expected[i] = static_cast<std::uint8_t>(8 - i);
    expected[16 + i] = 0xff;
  }
  expected[8] = 0x11;
  expected[16] = 0xfe;
  expected[24] = 0x22;
  expected[32] = 0x33;
  expected[40] = 0x44;
  expected[48] = 14;
  expected[49] = 'i';
  expected[268] = 'd';
  EXPECT_THAT(BytesOf(auction), ElementsAreArray(expected));
}

TEST(SellerTest, ItsBytesAreThoseOfTheTable) {
  Seller seller{};
  seller.id = 0x0102030405060708;
  seller.event_time_ms = -2;
  seller.name[0] = 'n';
  seller.email[0] = 'e';
  seller.credit_card[0] = '1';
  seller.street[0] = 's';
  seller.city[0] = 'c';
  seller.state[1] = 'R';
  std::vector<std::uint8_t> expected(206);
  for (std::size_t i = 0; i < 8; ++i) {
    expected[i] = static_cast<std::uint8_t>(8 - i);
    expected[8 + i] = 0xff;
  }
  expected[8] = 0xfe;
  expected[16] = 'n';
  expected[48] = 'e';
  expected[96] = '1';
  expected[112] = 's';
  expected[172] = 'c';
  expected[205] = 'R';
  EXPECT_THAT(BytesOf(seller), ElementsAreArray(expected));
}

TEST(NexmarkRecordsTest, ArraysHaveNoGaps) {
  EXPECT_EQ(sizeof(std::array<Auction, 3>), 3u * 269u);
  EXPECT_EQ(sizeof(std::array<Seller, 3>), 3u * 206u);
}

}  // namespace
}  // namespace glaive::queries::nexmark
