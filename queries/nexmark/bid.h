// Bid: a bid of NEXMark in the 32 bytes that Slash's evaluation gives it (paper section 8.1.2).
//
// Plain data, little-endian, without gaps.
//
//   offset  bytes  field
//        0      8  auction        u64, the key of nb7
//        8      8  bidder         u64, the key of nb11
//       16      8  price          u64, cents
//       24      8  event_time_ms  i64, milliseconds since 1970
#pragma once

#include <cstdint>
#include <type_traits>

namespace glaive::queries::nexmark {

struct Bid {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t price;
  std::int64_t event_time_ms;
};

static_assert(sizeof(Bid) == 32 && std::is_trivially_copyable_v<Bid>);

struct BidTime {
  std::int64_t operator()(const Bid& bid) const { return bid.event_time_ms; }
};

}  // namespace glaive::queries::nexmark
