#include "engine/metrics/latency_histogram.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

std::int64_t Percentile(const LatencyHistogram& latencies, double fraction) {
  const LatencyHistogram* all[] = {&latencies};
  return PercentileNanos(all, fraction);
}

TEST(LatencyHistogram, ShortLatenciesAreExact) {
  LatencyHistogram latencies;
  for (std::int64_t value = 60; value >= 1; --value) latencies.Add(value);
  EXPECT_EQ(latencies.count(), 60U);
  EXPECT_EQ(latencies.max_ns(), 60);
  EXPECT_EQ(Percentile(latencies, 0.5), 30);
  EXPECT_EQ(Percentile(latencies, 0.95), 57);
  EXPECT_EQ(Percentile(latencies, 1.0), 60);
  EXPECT_EQ(Percentile(latencies, 0.0), 1);
}

TEST(LatencyHistogram, BucketsFollowEachOtherAndAreNarrow) {
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  std::int64_t next_ns = 0;
  for (std::size_t bucket = 0;; ++bucket) {
    const std::int64_t greatest_ns = LatencyHistogram::GreatestOf(bucket);
    ASSERT_EQ(LatencyHistogram::BucketOf(next_ns), bucket);
    ASSERT_EQ(LatencyHistogram::BucketOf(greatest_ns), bucket);
    ASSERT_LE(greatest_ns - next_ns, next_ns / 32) << "from " << next_ns;
    if (greatest_ns == kGreatest) break;
    next_ns = greatest_ns + 1;
  }
  EXPECT_EQ(LatencyHistogram::BucketOf(-5), 0U);
}

TEST(LatencyHistogram, RareStallsShow) {
  LatencyHistogram latencies;
  latencies.Add(1'000'000, 99'890);
  latencies.Add(800'000'000, 110);
  EXPECT_EQ(latencies.count(), 100'000U);
  EXPECT_NEAR(static_cast<double>(Percentile(latencies, 0.99)), 1e6, 0.032e6);
  EXPECT_EQ(Percentile(latencies, 0.999), 800'000'000) << "at most the largest";
  EXPECT_EQ(latencies.max_ns(), 800'000'000);
}

TEST(LatencyHistogram, ItsBucketsMakeItAgain) {
  LatencyHistogram latencies;
  for (std::int64_t value = 1; value < (std::int64_t{1} << 62); value *= 3) latencies.Add(value, 7);
  LatencyHistogram again;
  for (const auto& [bucket, samples] : latencies.buckets()) EXPECT_TRUE(again.AddBucket(bucket, samples));
  again.SetMax(latencies.max_ns());
  EXPECT_EQ(again.count(), latencies.count());
  EXPECT_EQ(again.buckets(), latencies.buckets());
  EXPECT_EQ(Percentile(again, 0.7), Percentile(latencies, 0.7));
  EXPECT_FALSE(again.AddBucket(LatencyHistogram::BucketOf(std::numeric_limits<std::int64_t>::max()) + 1, 1));
}

TEST(PercentileNanos, WithoutSamplesItIsZero) {
  EXPECT_EQ(PercentileNanos({}, 0.5), 0);
  EXPECT_EQ(Percentile(LatencyHistogram(), 0.99), 0);
}

TEST(PercentileNanos, WeighsExecutorsByTheirNumberOfSamples) {
  LatencyHistogram many;
  many.Add(10, 1000);
  LatencyHistogram few;
  few.Add(1000, 50);
  const LatencyHistogram* all[] = {&many, &few};
  EXPECT_EQ(PercentileNanos(all, 0.5), 10);
  EXPECT_EQ(PercentileNanos(all, 0.99), 1000);
}

}  // namespace
}  // namespace glaive::engine
