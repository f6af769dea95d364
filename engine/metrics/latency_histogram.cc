#include "engine/metrics/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace glaive::engine {

std::size_t LatencyHistogram::BucketOf(std::int64_t latency_ns) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(latency_ns, 0));
  const auto width = static_cast<std::size_t>(std::bit_width(ns));
  const std::size_t shift = width > kHalfBits + 1 ? width - kHalfBits - 1 : 0;
  return shift * kHalf + static_cast<std::size_t>(ns >> shift);
}

std::int64_t LatencyHistogram::GreatestOf(std::size_t bucket) {
  const std::size_t shift = bucket < 2 * kHalf ? 0 : bucket / kHalf - 1;
  return static_cast<std::int64_t>(((bucket - shift * kHalf + 1) << shift) - 1);
}

void LatencyHistogram::Add(std::int64_t latency_ns, std::uint64_t samples) {
  counts_[BucketOf(latency_ns)] += samples;
  count_ += samples;
  max_ns_ = samples == 0 ? max_ns_ : std::max(max_ns_, latency_ns);
}

bool LatencyHistogram::AddBucket(std::size_t bucket, std::uint64_t samples) {
  if (bucket >= kBuckets) {
    return false;
  }
  counts_[bucket] += samples;
  count_ += samples;
  return true;
}

std::vector<std::pair<std::size_t, std::uint64_t>> LatencyHistogram::buckets() const {
  std::vector<std::pair<std::size_t, std::uint64_t>> buckets;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] != 0) {
      buckets.emplace_back(bucket, counts_[bucket]);
    }
  }
  return buckets;
}

std::int64_t PercentileNanos(std::span<const LatencyHistogram* const> executors, double fraction) {
  std::uint64_t total = 0;
  std::int64_t max_ns = 0;
  for (const LatencyHistogram* each : executors) {
    total += each->count();
    max_ns = std::max(max_ns, each->max_ns());
  }
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(total))));
  std::uint64_t passed = 0;
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets && total != 0; ++bucket) {
    for (const LatencyHistogram* each : executors) {
      passed += each->counts_[bucket];
    }
    if (passed >= rank) {
      return std::min(LatencyHistogram::GreatestOf(bucket), max_ns);
    }
  }
  return max_ns;
}

}  // namespace glaive::engine
