// LatencyHistogram: latencies of one executor in bounded memory, and percentiles over many executors.
//
// Buckets have a relative width of 1/32 at most, as in an HDR histogram: below 64 ns each nanosecond has its own, and
// then each power of two has 32 of the same width. A percentile is the upper end of its bucket, so it is overstated by
// less than 3.2 %, never understated; count and maximum are exact. Nothing is dropped, so that rare stalls show, and a
// replay has the same buckets.
//
//   ns     0 1 2 ... 63 │ 64 66 68 ... 126 │ 128 132 136 ... 252 │ 256 264 ...
//
// Owned by one executor. All memory, 15 KiB, is taken at construction; Add never allocates.
//
//   LatencyHistogram latencies;
//   latencies.Add(result_ns - batch_ns, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace glaive::engine {

class LatencyHistogram {
 public:
  LatencyHistogram() : counts_(kBuckets) {}

  /// Counts `samples` of the same latency; one below 0 counts as 0.
  void Add(std::int64_t latency_ns, std::uint64_t samples = 1);
  /// From an encoded form: false if there is no such bucket.
  bool AddBucket(std::size_t bucket, std::uint64_t samples);
  void SetMax(std::int64_t max_ns) { max_ns_ = max_ns; }

  /// Exact.
  std::uint64_t count() const { return count_; }
  std::int64_t max_ns() const { return max_ns_; }
  /// The buckets that have samples, by number, each with how many.
  std::vector<std::pair<std::size_t, std::uint64_t>> buckets() const;

  static std::size_t BucketOf(std::int64_t latency_ns);
  /// The greatest latency of a bucket.
  static std::int64_t GreatestOf(std::size_t bucket);

 private:
  friend std::int64_t PercentileNanos(std::span<const LatencyHistogram* const> executors, double fraction);

  static constexpr std::size_t kHalfBits = 5;  // 32 buckets of a power of two
  static constexpr std::size_t kHalf = std::size_t{1} << kHalfBits;
  static constexpr std::size_t kBuckets = (64 - kHalfBits) * kHalf;  // of all numbers that are not negative

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::int64_t max_ns_ = 0;
};

/// The smallest latency that at least `fraction` (0..1) of all samples do not exceed (nearest rank), as precise as its
/// bucket, at most the largest; 0 without samples.
std::int64_t PercentileNanos(std::span<const LatencyHistogram* const> executors, double fraction);

}  // namespace glaive::engine
