// Seller: a person of NEXMark who sells, in the 206 bytes that Slash's evaluation gives it (paper section 8.1.2).
//
// Plain data, little-endian, alignment 1: an array of sellers has no gaps and is read in place. Text is filled up to
// the end of its field.
//
//   offset  bytes  field
//        0      8  id             u64, the key of nb8 and nb11
//        8      8  event_time_ms  i64, when the seller registered, milliseconds since 1970
//       16     32  name           text
//       48     48  email          text
//       96     16  credit_card    text
//      112     60  street         text
//      172     32  city           text
//      204      2  state          text, "OR", "CA", ...
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace glaive::queries::nexmark {

/// See the byte table above. Take fields by value: references to packed fields are misaligned.
struct [[gnu::packed]] Seller {
  std::uint64_t id;
  std::int64_t event_time_ms;
  char name[32];
  char email[48];
  char credit_card[16];
  char street[60];
  char city[32];
  char state[2];
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(Seller) == 206 && alignof(Seller) == 1);
static_assert(std::is_trivially_copyable_v<Seller> && std::is_standard_layout_v<Seller>);
static_assert(offsetof(Seller, event_time_ms) == 8 && offsetof(Seller, email) == 48);
static_assert(offsetof(Seller, street) == 112 && offsetof(Seller, state) == 204);

struct SellerTime {
  std::int64_t operator()(const Seller& seller) const { return seller.event_time_ms; }
};

}  // namespace glaive::queries::nexmark
