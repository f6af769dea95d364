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
#include "rdma/base/plain_data.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glaive::state {

/// Keys are hashed, compared and shipped as their bytes: no pointers, no padding, boundaries of at most 8.
template <typename K>
concept StateKey = PlainData<K> && std::has_unique_object_representations_v<K> && std::equality_comparable<K> &&
                   std::is_default_constructible_v<K> && (alignof(K) <= 8);

/// A type of which all keys are equal, as those of a query without keys: it says so by a member kOnlyKey.
template <typename K>
concept OnlyKey = StateKey<K> && requires { typename std::bool_constant<K::kOnlyKey>; };

/// 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

/// The hash of a short key's bits, zero-extended. Tables number their buckets by the low 32 bits: the highest bytes of
/// a product with 2^64 divided by the golden ratio, which spread neighbouring numbers evenly (Knuth, The Art of
/// Computer Programming 3, section 6.4), where random bits would overfill some buckets. The others are mixed once more.
constexpr std::uint64_t HashBits(std::uint64_t bits) {
  constexpr std::uint64_t kMixer = 0xD6E8FEB86659FD93;
  const std::uint64_t spread = bits * kGolden;
  const std::uint64_t mixed = (spread ^ (spread >> 32)) * kMixer;
  return (mixed & ~std::uint64_t{0xFFFFFFFF}) | __builtin_bswap32(static_cast<std::uint32_t>(spread >> 32));
}

/// The bits of a key of up to 8 bytes, zero-extended.
template <StateKey K>
std::uint64_t BitsOf(const K& key) {
  static_assert(sizeof(K) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof(key));
  return bits;
}

/// HashBits of a key of up to 8 bytes, XXH3 of a longer one's. A key with a StateHash() of its own is asked for it.
/// Flattened: where much else is inlined, GCC would call XXH3 and choose the code for the key's length there.
template <StateKey K>
[[gnu::flatten]] inline std::uint64_t HashKey(const K& key) {
  if constexpr (requires { key.StateHash(); }) {
    return key.StateHash();
  } else if constexpr (sizeof(K) <= sizeof(std::uint64_t)) {
    return HashBits(BitsOf(key));
  } else {
    return XXH3_64bits(&key, sizeof(key));
  }
}

/// 32 bits of a hash, of which the highest are spread as evenly as those that number a table's buckets: they are the
/// same, the other way round.
constexpr std::uint32_t SpreadOf(std::uint64_t hash) { return __builtin_bswap32(static_cast<std::uint32_t>(hash)); }

/// SpreadOf(HashKey(key)), which of a short key is the product's upper half: the compiler does not see that.
template <StateKey K>
[[gnu::always_inline]] inline std::uint32_t SpreadOfKey(const K& key) {
  if constexpr (!requires { key.StateHash(); } && sizeof(K) <= sizeof(std::uint64_t)) {
    return static_cast<std::uint32_t>((BitsOf(key) * kGolden) >> 32);
  } else {
    return SpreadOf(HashKey(key));
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
