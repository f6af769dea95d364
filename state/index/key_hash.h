// KeyHash and LeaderOf: the hash that every index uses, drawn for each run, and the executor that leads a key of that
// hash, if each executor of the run leads (state/index/leaders.h).
//
// All nodes must agree on both, or a delta would reach an executor that does not lead its keys: the seed is the run's
// token. state/index/bucket.h lists the users of the hash's bits.
//
// Keys that were chosen without the seed, by accident or on purpose, spread like random ones. Keys that were chosen
// after observing how this run takes them do not: nothing here is cryptographic.
//
//   const KeyHash hash(run_token);
//   ExecutorId leader = LeaderOf(hash(key), executor_count);
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "absl/numeric/int128.h"

#include "rdma/base/ids.h"
#include "state/record/record.h"
#include "state/record/text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glaive::state {

/// Keys are hashed and shipped as their bytes, and those of their texts (state/record/record.h): no pointers, no
/// padding, boundaries of at most 8.
template <typename K>
concept StateKey = RecordData<K> && std::has_unique_object_representations_v<K> && std::equality_comparable<K> &&
                   std::is_default_constructible_v<K> && (alignof(K) <= 8);

/// A type of which all keys are equal, as those of a query without keys: it says so by a member kOnlyKey.
template <typename K>
concept OnlyKey = StateKey<K> && requires { typename std::bool_constant<K::kOnlyKey>; };

/// Whether the bits of a key fit a word.
template <typename K>
inline constexpr bool kIsWord = sizeof(K) <= sizeof(std::uint64_t);

/// The bits of a key of up to 8 bytes, zero-extended.
template <StateKey K>
std::uint64_t BitsOf(const K& key) {
  static_assert(kIsWord<K>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof(key));
  return bits;
}

class KeyHash {
 public:
  /// For a table that has no keys yet.
  KeyHash() = default;
  /// The same seed gives the same hash.
  explicit KeyHash(std::uint64_t seed) noexcept : multiplier_(MultiplierOf(Mixed(seed))), mixer_(Mixed(~seed) | 1) {}

  /// 64 bits that are as good as random: of a key of up to 8 bytes three multiplications, each with the bits that the
  /// one before left at the upper end brought down to the lower; of a text, see OfText; XXH3 of a longer one. A key
  /// with a StateHash(KeyHash) of its own is asked for it. Flattened: where much else is inlined, GCC would call XXH3
  /// and choose the code for the key's length there.
  template <StateKey K>
  [[gnu::flatten]] inline std::uint64_t operator()(const K& key) const {
    if constexpr (requires { key.StateHash(*this); }) {
      return key.StateHash(*this);
    } else if constexpr (kIsWord<K>) {
      std::uint64_t bits = BitsOf(key) * multiplier_;
      bits = (bits ^ bits >> 32) * mixer_;
      bits = (bits ^ bits >> 32) * mixer_;
      return bits ^ bits >> 32;
    } else if constexpr (std::is_same_v<K, Text>) {
      return OfText(key);
    } else {
      return OfContent(key);
    }
  }

  /// Two multiplications, as wyhash has for as many bytes (github.com/wangyi-fudan/wyhash). The XXH3 of a long text
  /// takes the place of its address.
  [[gnu::always_inline]] std::uint64_t OfText(const Text& text) const {
    const auto [first, rest] = std::bit_cast<std::array<std::uint64_t, 2>>(text);
    const std::uint64_t content = text.is_inline() ? rest : OfAnyBytes(text.view(), mixer_);
    return Folded(Folded(first ^ multiplier_, content ^ mixer_) ^ multiplier_, mixer_);
  }

  /// XXH3 of a value's bytes, in which the XXH3 of a long text takes the place of its address.
  template <typename T>
  std::uint64_t OfContent(const T& value) const {
    if constexpr (kHasText<T>) {
      T content = value;
      ForEachText(content, [this](Text& text) {
        if (!text.is_inline()) [[unlikely]] {
          text = text.WithReference(OfAnyBytes(text.view(), mixer_));
        }
      });
      return OfBytes(&content, sizeof(content));
    } else {
      return OfBytes(&value, sizeof(value));
    }
  }

  /// XXH3 of some bytes.
  std::uint64_t OfBytes(const void* bytes, std::size_t size_bytes) const {
    return XXH3_64bits_withSeed(bytes, size_bytes, mixer_);
  }

  /// 32 bits for tables that number their places by the highest of them: for a short key one multiplication, which
  /// spreads neighbouring keys more evenly than random bits would (Knuth, The Art of Computer Programming 3,
  /// section 6.4). Multiples of some strides, such as Fibonacci numbers up to some thousand, fall close together: such
  /// a table must bound its probes. For other keys the low half of the hash, its lowest byte first: the high half
  /// has the bits that the leader follows from, which are alike in all keys of one leader.
  template <StateKey K>
  [[gnu::always_inline]] inline std::uint32_t Spread(const K& key) const {
    if constexpr (!requires { key.StateHash(*this); } && kIsWord<K>) {
      return static_cast<std::uint32_t>((BitsOf(key) * multiplier_) >> 32);
    } else {
      return __builtin_bswap32(static_cast<std::uint32_t>((*this)(key)));
    }
  }

 private:
  /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring seeds give unrelated numbers.
  static constexpr std::uint64_t Mixed(std::uint64_t seed) {
    std::uint64_t bits = seed + 0x9E3779B97F4A7C15;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return bits ^ bits >> 31;
  }

  /// Both halves of a product, one upon the other.
  static std::uint64_t Folded(std::uint64_t a, std::uint64_t b) {
    const absl::uint128 product = absl::uint128(a) * b;
    return absl::Uint128High64(product) ^ absl::Uint128Low64(product);
  }

  /// XXH3 of bytes of any number: much code, which is compiled once.
  static std::uint64_t OfAnyBytes(std::string_view bytes, std::uint64_t seed);

  /// 2^64 times a fraction that no fraction with a small denominator is near to, so that its multiples are spread
  /// evenly. Its continued fraction begins with 1s, as that of the golden ratio does throughout, and goes on with a 1
  /// or a 2 for each bit of `choices`: some thousand neighbouring keys are spread as by the golden ratio, more keys
  /// nearly so.
  static std::uint64_t MultiplierOf(std::uint64_t choices) {
    constexpr int kOnes = 18;
    std::uint64_t fraction = 0;
    for (int place = 63; place >= 0; --place) {
      const std::uint64_t term = place < kOnes ? 1 : 1 + (choices >> place & 1);
      fraction = absl::Uint128Low64(absl::Uint128Max() / absl::MakeUint128(term, fraction));
    }
    return fraction | 1;
  }

  std::uint64_t multiplier_ = 1;
  std::uint64_t mixer_ = 1;
};

/// The bits of a hash that LeaderOf reads.
inline constexpr std::uint64_t kLeaderBits = std::uint64_t{0xFFFFFFFF} << 24;

/// The executor, of `executor_count`, that leads the key with this hash: a multiply-shift of bits 24 .. 55.
inline ExecutorId LeaderOf(std::uint64_t hash, std::uint32_t executor_count) {
  const std::uint64_t bits = (hash >> 24) & 0xFFFFFFFF;
  return ExecutorId{static_cast<std::uint32_t>((bits * executor_count) >> 32)};
}

}  // namespace glaive::state
