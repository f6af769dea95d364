// Means and variances against rational numbers: each is the double nearest to the exact quotient, ties to even.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "state/crdt/mean.h"
#include "state/crdt/variance.h"
#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

using Rational = boost::multiprecision::cpp_rational;

template <typename V, typename T>
double ResultOf(const std::vector<T>& values) {
  V folded;
  for (const T value : values) folded.Update(value);
  return folded.Result().value();
}

template <typename T>
Rational MeanOf(const std::vector<T>& values) {
  Rational sum = 0;
  for (const T value : values) sum += Rational(value);
  return sum / values.size();
}

template <typename T>
Rational VarianceOf(const std::vector<T>& values) {
  const Rational mean = MeanOf(values);
  Rational sum = 0;
  for (const T value : values) {
    const Rational difference = Rational(value) - mean;
    sum += difference * difference;
  }
  return sum / values.size();
}

/// Whether no double lies nearer to `exact`, and none as near is even where `rounded` is odd. An infinity counts as
/// 2^1024 does, as IEEE 754 has it.
bool IsNearest(double rounded, const Rational& exact) {
  const auto value_of = [](double number) {
    const Rational beyond(boost::multiprecision::pow(boost::multiprecision::cpp_int(2), 1024));
    return std::isinf(number) ? Rational(number > 0 ? beyond : -beyond) : Rational(number);
  };
  const Rational error = abs(value_of(rounded) - exact);
  for (const double to : {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}) {
    const double neighbour = std::nextafter(rounded, to);
    const bool is_odd = (std::bit_cast<std::uint64_t>(rounded) & 1) != 0;
    if (neighbour != rounded &&
        (abs(value_of(neighbour) - exact) < error || (is_odd && abs(value_of(neighbour) - exact) == error))) {
      return false;
    }
  }
  return true;
}

/// Numbers of any size, often close to each other, so that quotients fall next to the middle of two doubles.
template <typename T>
std::vector<T> RandomValues(LawRandom& random) {
  std::vector<T> values(1 + random() % 12);
  for (T& value : values) {
    const bool repeats = &value != values.data() && random() % 2 == 0;
    if constexpr (std::integral<T>) {
      value = repeats ? static_cast<T>(values.front() ^ static_cast<T>(random() % 4)) : RandomInteger<T>(random);
    } else {
      const T drawn = std::bit_cast<T>(static_cast<typename FloatParts<T>::Bits>(random()));
      value = repeats                ? std::nextafter(values.front(), T{0})
              : random() % 4 == 0    ? std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 9)
              : std::isfinite(drawn) ? drawn
                                     : std::numeric_limits<T>::max();
    }
  }
  return values;
}

template <typename T>
class RoundingOf : public ::testing::Test {};
using Types = ::testing::Types<std::int64_t, std::uint64_t, std::int32_t, float, double>;
TYPED_TEST_SUITE(RoundingOf, Types);

TYPED_TEST(RoundingOf, AMeanIsOnce) {
  LawRandom random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<TypeParam> values = RandomValues<TypeParam>(random);
    const auto mean = ResultOf<MeanValue<TypeParam>>(values);
    ASSERT_TRUE(IsNearest(mean, MeanOf(values))) << "round " << round << ": " << mean << " of " << values.size();
  }
}

TYPED_TEST(RoundingOf, AVarianceIsOnce) {
  LawRandom random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<TypeParam> values = RandomValues<TypeParam>(random);
    const auto variance = ResultOf<VarianceValue<TypeParam>>(values);
    ASSERT_TRUE(IsNearest(variance, VarianceOf(values))) << "round " << round << ": " << variance;
  }
}

// The middle of two doubles, and means so near to it that no quotient of 64 bits tells them apart.
TEST(MeanValue, OfIntegersIsRoundedOnceWhereverItsNeighboursMeet) {
  LawRandom random(3);
  for (int round = 0; round < 200; ++round) {
    const auto middle = static_cast<std::int64_t>((random() >> 10 | std::uint64_t{1} << 53 | 1) << random() % 10);
    std::vector<std::int64_t> values(1 + random() % 5000, random() % 2 == 0 ? middle : -middle);
    values.back() += static_cast<std::int64_t>(random() % 3) - 1;
    const auto mean = ResultOf<MeanValue<std::int64_t>>(values);
    ASSERT_TRUE(IsNearest(mean, MeanOf(values))) << "round " << round << ": " << mean << " of " << values.size();
  }
}

TEST(MeanValue, OfIntegersIsTheNearestDouble) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  std::vector<std::int64_t> values(2999, kOdd);
  values.push_back(kOdd + 1);
  EXPECT_EQ(ResultOf<MeanValue<std::int64_t>>(values), 9007199254740994.0);
  EXPECT_EQ(ResultOf<MeanValue<std::int64_t>>(std::vector<std::int64_t>(3, kOdd)), 9007199254740992.0) << "to even";
  EXPECT_EQ(ResultOf<MeanValue<std::uint64_t>>(std::vector<std::uint64_t>{~std::uint64_t{0}}), 0x1p64);
  EXPECT_EQ(ResultOf<MeanValue<std::int64_t>>(std::vector<std::int64_t>(7, std::numeric_limits<std::int64_t>::min())),
            -0x1p63);
  EXPECT_EQ(MeanValue<std::int64_t>().Result(), std::nullopt);
}

}  // namespace
}  // namespace glaive::state
