// Bucket: one cache line of the hash index, in the shape of FASTER's (its buckets hold tagged log addresses and a link
// to an overflow bucket), with the tags side by side so that one SIMD compare tests them all.
//
//   offset  size  field
//        0    12  tag       8 bits of the hash of each entry's key, 1 .. 255; 0 where the bucket has no entry
//       12     4  overflow  number of the overflow bucket, kNoOverflow if none
//       16    48  entry     one u32 per tag: the log entry's number, in a placed_table.h with bits of its hash
//
// Tags fill from the left and are never freed one by one: an index is cleared whole.
//
// Each user of a hash takes other bits of it, so that they do not depend on each other: the bucket number takes the low
// 32, the leader of the key bits 24 .. 55 (of which the highest decide), the tag the highest 8.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace glaive::state {

/// Twelve tagged entry numbers and a link.
struct alignas(64) Bucket {
  static constexpr std::size_t kTags = 12;
  static constexpr std::uint32_t kNoOverflow = 0;  // overflow bucket 0 is never handed out

  std::uint8_t tag[kTags];
  std::uint32_t overflow;
  std::uint32_t entry[kTags];

  /// A bit for each tag that is `wanted`; Matches(0) gives the free ones.
  std::uint32_t Matches(std::uint8_t wanted) const {
    constexpr std::uint32_t kTagMask = (1U << kTags) - 1;
#if defined(__SSE2__)
    // The load takes the link along; the mask drops its four bits.
    const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(this));
    // Spread in a general register: a compiler that spills the byte would load four where it has stored one, and wait.
    const std::uint32_t spread = std::uint32_t{wanted} * 0x01010101U;
    const __m128i equal = _mm_cmpeq_epi8(tags, _mm_set1_epi32(static_cast<int>(spread)));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(equal)) & kTagMask;
#else
    std::uint32_t matches = 0;
    for (std::size_t i = 0; i < kTags; ++i) {
      matches |= static_cast<std::uint32_t>(tag[i] == wanted) << i;
    }
    return matches & kTagMask;
#endif
  }
};

static_assert(sizeof(Bucket) == 64);
static_assert(offsetof(Bucket, overflow) == 12);
static_assert(offsetof(Bucket, entry) == 16);

/// The tag of a hash: its highest 8 bits, 0 replaced by 1.
constexpr std::uint8_t TagOf(std::uint64_t hash) {
  const auto tag = static_cast<std::uint8_t>(hash >> 56);
  return tag == 0 ? std::uint8_t{1} : tag;
}

}  // namespace glaive::state
