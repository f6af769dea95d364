#include "engine/metrics/latency_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rdma/base/check.h"

namespace glaive::engine {

LatencySamples::LatencySamples(std::size_t capacity) : capacity_(capacity) {
  GLAIVE_CHECK(capacity >= 2 && capacity % 2 == 0, "capacity ", capacity, " is not an even number of at least 2");
  retained_.reserve(capacity);
}

LatencySamples::LatencySamples(std::vector<std::int64_t> retained, std::uint64_t stride, std::uint64_t count,
                               std::int64_t max_ns)
    : capacity_(std::max<std::size_t>(2, retained.size() + retained.size() % 2)),
      retained_(std::move(retained)),
      stride_(stride),
      count_(count),
      max_ns_(max_ns) {}

void LatencySamples::Add(std::int64_t latency_ns) {
  max_ns_ = std::max(max_ns_, latency_ns);
  if (count_++ % stride_ != 0) {
    return;
  }
  if (retained_.size() == capacity_) {
    // Every second one stays. The new sample's number is a multiple of the new stride too, since the capacity is even.
    for (std::size_t i = 0; i < capacity_ / 2; ++i) {
      retained_[i] = retained_[2 * i];
    }
    retained_.resize(capacity_ / 2);
    stride_ *= 2;
  }
  retained_.push_back(latency_ns);
}

std::int64_t PercentileNanos(std::span<const LatencySamples* const> executors, double fraction) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> weighted;
  std::uint64_t total = 0;
  for (const LatencySamples* samples : executors) {
    for (const std::int64_t latency_ns : samples->retained()) {
      weighted.emplace_back(latency_ns, samples->stride());
      total += samples->stride();
    }
  }
  std::sort(weighted.begin(), weighted.end());
  const auto rank = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(total)));
  std::uint64_t passed = 0;
  for (const auto& [latency_ns, weight] : weighted) {
    passed += weight;
    if (passed >= rank) {
      return latency_ns;
    }
  }
  return weighted.empty() ? 0 : weighted.back().first;
}

}  // namespace glaive::engine
