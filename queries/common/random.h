// Random draws by hashing counters: any record of any executor can be drawn in any order, with nothing carried over.
// Pure functions of about 1 ns when pipelined.
//
//   const std::uint64_t stream = StreamOf(seed, executor);
//   std::uint64_t below_ten = Below(10, Mix(stream + number * kCounterStep));
#pragma once

#include <cstdint>

namespace glaive::queries {

/// 2^64 divided by the golden ratio, made odd: multiples of it spread evenly over all 64 bits.
inline constexpr std::uint64_t kCounterStep = 0x9e3779b97f4a7c15;

/// The finalizer of SplitMix64: a bijection in which every input bit changes every output bit about half of the time.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Where an executor's counters start.
constexpr std::uint64_t StreamOf(std::uint64_t seed, std::uint32_t executor) {
  return Mix(Mix(seed) + (executor + std::uint64_t{1}) * kCounterStep);
}

/// A number below `bound` from 64 random bits; the bias is below bound / 2^64.
constexpr std::uint64_t Below(std::uint64_t bound, std::uint64_t random) {
  __extension__ using Uint128 = unsigned __int128;
  return static_cast<std::uint64_t>((Uint128{random} * bound) >> 64);
}

/// A number in [0, 1) from 64 random bits: a multiple of 2^-53.
constexpr double Unit(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

/// The draws of one record: `kDraws` counters of its own.
template <std::uint64_t kDraws>
class RecordDraws {
 public:
  constexpr RecordDraws(std::uint32_t executor, std::uint64_t stream, std::uint64_t number)
      : executor_(executor), number_(number), counter_(stream + number * kDraws * kCounterStep) {}

  /// 64 random bits, the same whenever asked; `which` is below kDraws.
  constexpr std::uint64_t operator()(std::uint64_t which) const { return Mix(counter_ + which * kCounterStep); }

  /// Of the record, in its executor's input.
  constexpr std::uint64_t number() const { return number_; }
  constexpr std::uint32_t executor() const { return executor_; }

 private:
  std::uint32_t executor_;
  std::uint64_t number_;
  std::uint64_t counter_;
};

}  // namespace glaive::queries
