// Sums of floating-point numbers against sums of rational numbers and of wider floating-point numbers.

#include "state/crdt/exact_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "state/crdt/mean.h"
#include "state/crdt/sum.h"
#include "state/crdt/variance.h"
#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

using ::testing::Optional;

template <typename T>
double SumOf(const std::vector<T>& values) {
  SumValue<T> sum;
  for (const T value : values) sum.Update(value);
  return sum.Result();
}

template <typename V, typename T>
std::optional<double> ResultOf(const std::vector<T>& values) {
  V folded;
  for (const T value : values) folded.Update(value);
  return folded.Result();
}

// Any finite number, edges often.
template <std::floating_point T>
T RandomFinite(LawRandom& random) {
  using Limits = std::numeric_limits<T>;
  constexpr T kEdges[] = {T{0}, T{-0.0}, Limits::denorm_min(), -Limits::min(), Limits::max(), Limits::lowest(), T{1}};
  if (random() % 3 == 0) return kEdges[random() % std::size(kEdges)];
  const T value = std::bit_cast<T>(static_cast<typename FloatParts<T>::Bits>(random()));
  return std::isfinite(value) ? value : T{1.5};
}

TEST(ExactSum, KeepsTheLaws) {
  ExpectCrdtLaws<SumValue<float>>(1, RandomFinite<float>);
  ExpectCrdtLaws<SumValue<double>>(2, RandomFinite<double>, 500);
  ExpectCrdtLaws<MeanValue<float>>(3, RandomFinite<float>);
  ExpectCrdtLaws<MeanValue<double>>(4, RandomFinite<double>, 500);
  ExpectCrdtLaws<VarianceValue<float>>(5, RandomFinite<float>, 500);
  ExpectCrdtLaws<VarianceValue<double>>(6, RandomFinite<double>, 50);
  ExpectCrdtLaws<VarianceValue<std::int64_t>>(7, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<VarianceValue<std::uint64_t>>(8, RandomInteger<std::uint64_t>);
}

TEST(ExactSum, OneNumberIsItself) {
  LawRandom random(9);
  for (int i = 0; i < 20'000; ++i) {
    const auto small = RandomFinite<float>(random);
    const auto large = RandomFinite<double>(random);
    ASSERT_EQ(SumOf<float>({small}), static_cast<double>(small));
    ASSERT_EQ(SumOf<double>({large}), large);
    ASSERT_EQ(SumOf<double>({large, -large}), 0.0);
  }
}

TEST(ExactSum, LosesNothingWhereAddingWould) {
  EXPECT_EQ(SumOf<double>({1e308, 1.0, -1e308}), 1.0);
  EXPECT_EQ(SumOf<double>({1.0, 1e-300, -1.0}), 1e-300);
  EXPECT_EQ(SumOf<float>({1e38F, 1e-44F, -1e38F}), static_cast<double>(1e-44F));
  EXPECT_EQ(SumOf<double>(std::vector<double>(10, 0.1)), 1.0);  // ten times the double next to 0.1, rounded once
}

// The sum of two doubles, rounded once, is what the processor adds.
TEST(ExactSum, RoundsLikeTheProcessor) {
  LawRandom random(10);
  for (int i = 0; i < 50'000; ++i) {
    const auto a = RandomFinite<double>(random);
    const double b =
        random() % 2 == 0 ? RandomFinite<double>(random) : std::ldexp(a, static_cast<int>(random() % 120) - 60);
    ASSERT_EQ(SumOf<double>({a, b}), a + b) << a << " + " << b;
  }
}

TEST(ExactSum, AgreesWithIntegersBeyondItsType) {
  LawRandom random(11);
  for (int round = 0; round < 200; ++round) {
    absl::int128 expected = 0;
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) {
      const std::int64_t value = static_cast<std::int64_t>(random()) >> 11;  // 53 bits
      values.push_back(static_cast<double>(value));
      expected += value;
    }
    ASSERT_EQ(SumOf(values), static_cast<double>(expected));
  }
}

// Floats so far apart that no double holds their sum, with the greatest and the least among them.
TEST(ExactSum, OfFloatsAgreesWithSumsOfDoublesInAnyOrder) {
  LawRandom random(12);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<float> values;
    for (std::uint64_t i = random() % 40; i > 0; --i) {
      values.push_back(random() % 3 == 0 && !values.empty() ? -values[random() % values.size()]
                                                            : RandomFinite<float>(random));
    }
    const double expected = SumOf(std::vector<double>(values.begin(), values.end()));
    EXPECT_EQ(SumOf(values), expected);
    std::ranges::shuffle(values, random);
    SumValue<float> halves[2];
    for (const float value : values) halves[random() % 2].Update(value);
    halves[0].Merge(halves[1]);
    EXPECT_EQ(halves[0].Result(), expected);
  }
}

TEST(ExactSum, HasRoomForMoreThanTheGreatestNumber) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf<double>({most, most}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(SumOf<double>({most, most, -most}), most);
  EXPECT_EQ(SumOf<float>(std::vector<float>(1000, std::numeric_limits<float>::max())),
            1000.0 * static_cast<double>(std::numeric_limits<float>::max()));
}

TEST(ExactSum, InfinitiesAndNanAddUpAsInIeee754) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(SumOf<double>({1, infinity, 5}), infinity);
  EXPECT_EQ(SumOf<double>({-infinity, 5}), -infinity);
  EXPECT_TRUE(std::isnan(SumOf<double>({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(SumOf<double>({std::nan(""), infinity})));
  EXPECT_TRUE(std::isnan(ResultOf<VarianceValue<double>>(std::vector<double>{1, infinity}).value()));
}

TEST(ExactSum, InfinitiesAndNanOfFloatsAddUpAsInIeee754) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float other : {5.0F, 1e-44F, -std::numeric_limits<float>::max()}) {
    EXPECT_EQ(SumOf<float>({1, infinity, other}), double{infinity});
    EXPECT_EQ(SumOf<float>({other, -infinity, -infinity, 1e38F}), -double{infinity});
    EXPECT_TRUE(std::isnan(SumOf<float>({infinity, other, -infinity})));
    EXPECT_TRUE(std::isnan(SumOf<float>({other, std::nanf(""), 1, infinity})));
  }
  SumValue<float> one;
  one.Update(infinity);
  SumValue<float> other;
  other.Update(3);
  one.Merge(other);
  EXPECT_EQ(one.Result(), double{infinity});
  other.Update(-infinity);
  one.Merge(other);
  EXPECT_TRUE(std::isnan(one.Result()));
}

TEST(ExactSum, WhatNoSumOfFloatsHoldsStaysWithinIt) {
  // As a peer could send it: a head far above all floats, which then has to move to the fixed point.
  struct {
    ExactSum<float> sum;
    std::array<std::uint64_t, 16> neighbours{};
  } entry;
  ExactSum<float> hostile;
  const double head = 1e300;
  std::memcpy(static_cast<void*>(&hostile), &head, sizeof(head));
  entry.sum.Merge(hostile);
  for (const float value : {1.0F, -1e30F, 1e-40F}) entry.sum.Add(value);
  (void)entry.sum.Rounded();
  for (const std::uint64_t neighbour : entry.neighbours) EXPECT_EQ(neighbour, 0U);
}

TEST(MeanValue, OfFloatsIsRoundedOnce) {
  EXPECT_EQ(MeanValue<double>().Result(), std::nullopt);
  EXPECT_THAT(ResultOf<MeanValue<double>>(std::vector<double>{1, 2, 4}), Optional(7.0 / 3));
  EXPECT_THAT(ResultOf<MeanValue<double>>(std::vector<double>(3, std::numeric_limits<double>::max())),
              Optional(std::numeric_limits<double>::max()));
  // Half of the least number is halfway between it and 0: even is 0. Three quarters are nearer to it.
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_THAT(ResultOf<MeanValue<double>>(std::vector<double>{least, 0}), Optional(0.0));
  EXPECT_THAT(ResultOf<MeanValue<double>>(std::vector<double>{least, least, least, 0}), Optional(least));
  EXPECT_THAT(ResultOf<MeanValue<float>>(std::vector<float>{1e-45F, 0}),
              Optional(static_cast<double>(1e-45F) / 2));  // less than a float, not than a double
}

TEST(VarianceValue, IsThePopulationVariance) {
  EXPECT_EQ(VarianceValue<std::int64_t>().Result(), std::nullopt);
  EXPECT_THAT(ResultOf<VarianceValue<std::int64_t>>(std::vector<std::int64_t>{5}), Optional(0.0));
  EXPECT_THAT(ResultOf<VarianceValue<std::int64_t>>(std::vector<std::int64_t>{1, 2, 3, 4}), Optional(1.25));
  EXPECT_THAT(ResultOf<VarianceValue<double>>(std::vector<double>{-1, 2}), Optional(2.25));
  EXPECT_THAT(ResultOf<VarianceValue<float>>(std::vector<float>{0.5F, 1.5F, 2.5F}), Optional(2.0 / 3));
}

TEST(VarianceValue, SurvivesALargeMean) {
  EXPECT_THAT(ResultOf<VarianceValue<double>>(std::vector<double>{1e15, 1e15 + 1, 1e15 + 2}), Optional(2.0 / 3));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(ResultOf<VarianceValue<std::int64_t>>(std::vector<std::int64_t>{most, most - 2}), Optional(1.0));
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(ResultOf<VarianceValue<std::int64_t>>(std::vector<std::int64_t>{least, least}), Optional(0.0));
  EXPECT_THAT(ResultOf<VarianceValue<std::uint64_t>>(std::vector<std::uint64_t>{~std::uint64_t{0}, 0}),
              Optional(std::ldexp(1.0, 126)));  // (2^64 - 1)^2 / 4, rounded
}

// Against the definition in long double, on numbers that it can hold exactly.
TEST(VarianceValue, AgreesWithTheDefinition) {
  LawRandom random(12);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values(1 + random() % 40);
    for (double& value : values) value = static_cast<double>(static_cast<std::int64_t>(random()) >> 40) / 256;
    long double mean = 0;
    for (const double value : values) mean += value;
    mean /= static_cast<long double>(values.size());
    long double variance = 0;
    for (const double value : values) variance += (value - mean) * (value - mean);
    variance /= static_cast<long double>(values.size());
    const double result = ResultOf<VarianceValue<double>>(values).value();
    ASSERT_NEAR(result, static_cast<double>(variance), 1e-14 * static_cast<double>(variance));
  }
}

}  // namespace
}  // namespace glaive::state
