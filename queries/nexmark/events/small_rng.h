// SmallRng: the generator of Rust's rand 0.8 by that name on 64-bit machines, bit for bit, as nexmark-rs draws:
// xoshiro256++, whose 256 bits of state a PCG of 32 bits makes of the seed.
//
//   SmallRng random(event_number);
//   const std::uint32_t below_five = random.Below32(5);
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace glaive::queries::nexmark::events {

class SmallRng {
 public:
  explicit constexpr SmallRng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      const std::uint64_t low = Pcg32(seed);
      word = low | std::uint64_t{Pcg32(seed)} << 32;
    }
  }

  constexpr std::uint64_t Next64() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  constexpr std::uint32_t Next32() { return static_cast<std::uint32_t>(Next64() >> 32); }

  /// gen_range(0..bound) of 32-bit integers. The product's lower half tells the draws that are to be repeated.
  constexpr std::uint32_t Below32(std::uint32_t bound) {
    const std::uint32_t zone = (bound << std::countl_zero(bound)) - 1;
    while (true) {
      const std::uint64_t product = std::uint64_t{Next32()} * bound;
      if (static_cast<std::uint32_t>(product) <= zone) {
        return static_cast<std::uint32_t>(product >> 32);
      }
    }
  }
  /// gen_range(0..bound) of 64-bit integers.
  constexpr std::uint64_t Below64(std::uint64_t bound) {
    __extension__ using Uint128 = unsigned __int128;
    const std::uint64_t zone = (bound << std::countl_zero(bound)) - 1;
    while (true) {
      const Uint128 product = Uint128{Next64()} * bound;
      if (static_cast<std::uint64_t>(product) <= zone) {
        return static_cast<std::uint64_t>(product >> 64);
      }
    }
  }
  /// gen_range(b'a'..=b'z'). Integers of 8 bits have another zone.
  constexpr char Letter() {
    constexpr std::uint32_t kLetters = 26;
    constexpr std::uint32_t kZone = UINT32_MAX - (UINT32_MAX - kLetters + 1) % kLetters;
    while (true) {
      const std::uint64_t product = std::uint64_t{Next32()} * kLetters;
      if (static_cast<std::uint32_t>(product) <= kZone) {
        return static_cast<char>('a' + (product >> 32));
      }
    }
  }
  /// gen::<f32>(): in [0, 1).
  constexpr float Float() { return static_cast<float>(Next32() >> 8) * 0x1p-24F; }

 private:
  static constexpr std::uint32_t Pcg32(std::uint64_t& state) {
    state = state * 6364136223846793005U + 11634580027462260723U;
    const auto shifted = static_cast<std::uint32_t>(((state >> 18) ^ state) >> 27);
    return std::rotr(shifted, static_cast<int>(state >> 59));
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace glaive::queries::nexmark::events
