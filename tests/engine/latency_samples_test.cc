#include "engine/metrics/latency_samples.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

std::int64_t Percentile(const LatencySamples& samples, double fraction) {
  const LatencySamples* all[] = {&samples};
  return PercentileNanos(all, fraction);
}

TEST(LatencySamples, IsExactUntilItIsFull) {
  LatencySamples samples(100);
  for (std::int64_t value = 100; value >= 1; --value) samples.Add(value);
  EXPECT_EQ(samples.count(), 100U);
  EXPECT_EQ(samples.stride(), 1U);
  EXPECT_EQ(samples.max_ns(), 100);
  EXPECT_EQ(Percentile(samples, 0.5), 50);
  EXPECT_EQ(Percentile(samples, 0.99), 99);
  EXPECT_EQ(Percentile(samples, 1.0), 100);
  EXPECT_EQ(Percentile(samples, 0.0), 1);
}

TEST(LatencySamples, NeverHoldsMoreThanItsCapacityAndKeepsAnEvenSpread) {
  LatencySamples samples(8);
  constexpr std::int64_t kSamples = 1000;
  for (std::int64_t value = 0; value < kSamples; ++value) {
    samples.Add(value);
    ASSERT_LE(samples.retained().size(), 8U);
    // The retained ones are exactly those whose number is a multiple of the stride.
    for (std::size_t i = 0; i < samples.retained().size(); ++i) {
      ASSERT_EQ(samples.retained()[i], static_cast<std::int64_t>(i * samples.stride())) << "after " << value;
    }
  }
  EXPECT_EQ(samples.count(), static_cast<std::uint64_t>(kSamples));
  EXPECT_EQ(samples.max_ns(), kSamples - 1);
  EXPECT_EQ(samples.stride(), 128U);
}

TEST(LatencySamples, NeverAllocatesAfterConstruction) {
  LatencySamples samples(8);
  const std::int64_t* const memory = samples.retained().data();
  for (int i = 0; i < 100; ++i) samples.Add(i);
  EXPECT_EQ(samples.retained().data(), memory);
}

TEST(PercentileNanos, WithoutSamplesItIsZero) {
  EXPECT_EQ(PercentileNanos({}, 0.5), 0);
  EXPECT_EQ(Percentile(LatencySamples(), 0.99), 0);
}

TEST(PercentileNanos, WeighsExecutorsByTheirNumberOfSamples) {
  LatencySamples many(2);  // retains few of its 1000 samples, which stand for all
  for (int i = 0; i < 1000; ++i) many.Add(10);
  LatencySamples few(100);
  for (int i = 0; i < 50; ++i) few.Add(1000);
  const LatencySamples* all[] = {&many, &few};
  EXPECT_EQ(PercentileNanos(all, 0.5), 10);
  EXPECT_EQ(PercentileNanos(all, 0.99), 1000);
}

}  // namespace
}  // namespace glaive::engine
