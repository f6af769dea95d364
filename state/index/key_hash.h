// HashKey and LeaderOf: the hash every index uses, and the executor that leads a hash.
//
// All nodes must agree on both, or a delta would reach an executor that does not lead its keys. See
// state/index/bucket.h for which bits of the hash serve whom.
//
//   ExecutorId leader = LeaderOf(HashKey(key), executor_count);
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rdma/base/ids.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glaive::state {

/// Keys are hashed, compared and shipped as their bytes: no pointers (one hidden in a struct is not noticed), no
/// padding, boundaries of at most 8.
template <typename K>
concept StateKey = !std::is_pointer_v<K> && !std::is_member_pointer_v<K> && std::is_trivially_copyable_v<K> &&
                   std::has_unique_object_representations_v<K> && std::equality_comparable<K> &&
                   std::is_default_constructible_v<K> && (alignof(K) <= 8);

/// The hash of a short key's bits, zero-extended. Tables number their buckets by the low 32 bits: the highest bytes of
/// a product with 2^64 divided by the golden ratio, which spread neighbouring numbers evenly (Knuth, The Art of
/// Computer Programming 3, section 6.4), where random bits would overfill some buckets. The others are mixed once more.
constexpr std::uint64_t HashBits(std::uint64_t bits) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  constexpr std::uint64_t kMixer = 0xD6E8FEB86659FD93;
  const std::uint64_t spread = bits * kGolden;
  const std::uint64_t mixed = (spread ^ (spread >> 32)) * kMixer;
  return (mixed & ~std::uint64_t{0xFFFFFFFF}) | __builtin_bswap32(static_cast<std::uint32_t>(spread >> 32));
}

/// HashBits of a key of up to 8 bytes, XXH3 of a longer one's. A key with a StateHash() of its own is asked for it.
/// Flattened: where much else is inlined, GCC would call XXH3 and choose the code for the key's length there.
template <StateKey K>
[[gnu::flatten]] inline std::uint64_t HashKey(const K& key) {
  if constexpr (requires { key.StateHash(); }) {
    return key.StateHash();
  } else if constexpr (sizeof(K) <= sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof(key));
    return HashBits(bits);
  } else {
    return XXH3_64bits(&key, sizeof(key));
  }
}

/// The bits of a hash that LeaderOf looks at.
inline constexpr std::uint64_t kLeaderBits = std::uint64_t{0xFFFFFFFF} << 24;

/// The executor, of `executor_count`, that leads the key with this hash: a multiply-shift of bits 24 .. 55.
inline ExecutorId LeaderOf(std::uint64_t hash, std::uint32_t executor_count) {
  const std::uint64_t bits = (hash >> 24) & 0xFFFFFFFF;
  return ExecutorId{static_cast<std::uint32_t>((bits * executor_count) >> 32)};
}

}  // namespace glaive::state
