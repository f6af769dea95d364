// LatencySamples: window latencies of one executor in bounded memory, and percentiles over many executors.
//
// Owned by one executor. All memory is taken at construction; Add never allocates. When the samples are full, every
// second one is dropped and from then on half as many are retained, so that the retained ones stay evenly spread over
// the run (no randomness: a replay gives the same samples). Count and maximum are exact.
//
//   LatencySamples samples;
//   samples.Add(result_ns - batch_ns);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glaive::engine {

class LatencySamples {
 public:
  static constexpr std::size_t kDefaultCapacity = 4096;

  LatencySamples() : LatencySamples(kDefaultCapacity) {}
  /// Retains at most `capacity` samples, an even number of at least 2.
  explicit LatencySamples(std::size_t capacity);
  /// From a decoded form: `retained` samples that each stand for `stride`.
  LatencySamples(std::vector<std::int64_t> retained, std::uint64_t stride, std::uint64_t count, std::int64_t max_ns);

  void Add(std::int64_t latency_ns);

  /// Exact, dropped samples included.
  std::uint64_t count() const { return count_; }
  std::int64_t max_ns() const { return max_ns_; }
  /// The retained samples in order of arrival; each stands for `stride()` of them.
  std::span<const std::int64_t> retained() const { return retained_; }
  std::uint64_t stride() const { return stride_; }

 private:
  std::size_t capacity_;
  std::vector<std::int64_t> retained_;
  std::uint64_t stride_ = 1;
  std::uint64_t count_ = 0;
  std::int64_t max_ns_ = 0;
};

/// The smallest latency that at least `fraction` (0..1) of all samples do not exceed (nearest rank); 0 without samples.
std::int64_t PercentileNanos(std::span<const LatencySamples* const> executors, double fraction);

}  // namespace glaive::engine
