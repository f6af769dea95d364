// Auction: an auction of NEXMark in the 269 bytes that Slash's evaluation gives it (paper section 8.1.2).
//
// Plain data, little-endian, alignment 1: an array of auctions has no gaps and is read in place. Text is filled up to
// the end of its field.
//
//   offset  bytes  field
//        0      8  id             u64, no two auctions of a run have the same
//        8      8  seller         u64, the key of nb8
//       16      8  event_time_ms  i64, when it was opened, milliseconds since 1970
//       24      8  expires_ms     i64, when it closes, milliseconds since 1970
//       32      8  initial_bid    u64, cents
//       40      8  reserve        u64, cents
//       48      1  category       u8, 10 .. 14
//       49     20  item_name      text
//       69    200  description    text
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::queries::nexmark {

/// See the byte table above. Take fields by value: references to packed fields are misaligned.
struct [[gnu::packed]] Auction {
  std::uint64_t id;
  std::uint64_t seller;
  std::int64_t event_time_ms;
  std::int64_t expires_ms;
  std::uint64_t initial_bid;
  std::uint64_t reserve;
  std::uint8_t category;
  char item_name[20];
  char description[200];
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(Auction) == 269 && alignof(Auction) == 1);
static_assert(std::is_trivially_copyable_v<Auction> && std::is_standard_layout_v<Auction>);
static_assert(offsetof(Auction, event_time_ms) == 16 && offsetof(Auction, initial_bid) == 32);
static_assert(offsetof(Auction, category) == 48 && offsetof(Auction, description) == 69);

struct AuctionTime {
  std::int64_t operator()(const Auction& auction) const { return auction.event_time_ms; }
};

}  // namespace glaive::queries::nexmark
