#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "state/crdt/count.h"
#include "state/crdt/extremum.h"
#include "state/crdt/mean.h"
#include "state/crdt/presence.h"
#include "state/crdt/sum.h"
#include "state/crdt/wide_integer.h"
#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

double RandomDouble(LawRandom& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kEdges[] = {0.0,
                               -0.0,
                               kInfinity,
                               -kInfinity,
                               std::numeric_limits<double>::denorm_min(),
                               std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::lowest()};
  const std::uint64_t bits = random();
  return bits % 3 == 0 ? kEdges[(bits >> 2) % std::size(kEdges)] : std::ldexp(static_cast<double>(bits), -70);
}

TEST(PresenceValue, KeepsTheLaws) {
  ExpectCrdtLaws<PresenceValue>(1, [](LawRandom& /*random*/) { return Nothing{}; });
}

TEST(CountValue, KeepsTheLaws) {
  ExpectCrdtLaws<CountValue>(1, [](LawRandom& /*random*/) { return Nothing{}; });
}

TEST(SumValue, KeepsTheLaws) {
  ExpectCrdtLaws<SumValue<std::int64_t>>(2, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<SumValue<std::uint64_t>>(3, RandomInteger<std::uint64_t>);
  ExpectCrdtLaws<SumValue<std::int8_t>>(4, RandomInteger<std::int8_t>);
}

TEST(MinValue, KeepsTheLaws) {
  ExpectCrdtLaws<MinValue<std::int64_t>>(5, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<MinValue<std::uint16_t>>(6, RandomInteger<std::uint16_t>);
  ExpectCrdtLaws<MinValue<double>>(7, RandomDouble);
  ExpectCrdtLaws<MinValue<Text>>(13, RandomLawText);
}

TEST(MaxValue, KeepsTheLaws) {
  ExpectCrdtLaws<MaxValue<std::int64_t>>(8, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<MaxValue<std::uint64_t>>(9, RandomInteger<std::uint64_t>);
  ExpectCrdtLaws<MaxValue<double>>(10, RandomDouble);
  ExpectCrdtLaws<MaxValue<Text>>(14, RandomLawText);
}

TEST(MeanValue, KeepsTheLaws) {
  ExpectCrdtLaws<MeanValue<std::int64_t>>(11, RandomInteger<std::int64_t>);
  ExpectCrdtLaws<MeanValue<std::uint64_t>>(12, RandomInteger<std::uint64_t>);
}

TEST(CountValue, CountsRecords) {
  CountValue value;
  EXPECT_EQ(value.Result(), 0U);
  value.Update({});
  value.Update({});
  EXPECT_EQ(value.Result(), 2U);
}

TEST(SumValue, DoesNotOverflowAtTheEdgesOfItsField) {
  SumValue<std::int64_t> least;
  SumValue<std::uint64_t> most;
  for (int i = 0; i < 3; ++i) {
    least.Update(kLeast);
    most.Update(std::numeric_limits<std::uint64_t>::max());
  }
  EXPECT_EQ(least.Result(), absl::int128(kLeast) * 3);
  EXPECT_EQ(most.Result(), absl::int128(std::numeric_limits<std::uint64_t>::max()) * 3);
}

TEST(SumValue, CarriesBetweenItsHalves) {
  SumValue<std::int64_t> value;
  value.Update(-1);
  EXPECT_EQ(value.Result(), absl::int128(-1));
  value.Update(1);
  EXPECT_EQ(value.Result(), absl::int128(0));
  EXPECT_EQ(value, SumValue<std::int64_t>());
}

TEST(MeanValue, IsEmptyWithoutRecords) { EXPECT_EQ(MeanValue<std::int64_t>().Result(), std::nullopt); }

TEST(MeanValue, IsExactWhereTheSumDoesNotFitTheField) {
  MeanValue<std::int64_t> value;
  value.Update(kMost);
  value.Update(kMost);
  value.Update(kMost - 3);
  EXPECT_EQ(value.Result(), static_cast<double>(kMost - 1));
}

TEST(MinValue, KeepsTheLeast) {
  MinValue<std::int64_t> value;
  value.Update(kMost);
  EXPECT_EQ(value.Result(), kMost);
  value.Update(-5);
  value.Update(7);
  EXPECT_EQ(value.Result(), -5);
}

TEST(ExtremumValue, OfNoRecordsTakesNoOthersPlace) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(MinValue<std::int64_t>().Result(), kMost);
  EXPECT_EQ(MaxValue<std::int64_t>().Result(), kLeast);
  EXPECT_EQ(MaxValue<std::uint16_t>().Result(), 0);
  EXPECT_EQ(MinValue<double>().Result(), kInfinity);
  EXPECT_EQ(MaxValue<float>().Result(), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(MinValue<bool>().Result(), true);
  EXPECT_EQ(MaxValue<char>().Result(), std::numeric_limits<char>::min());
  MinValue<double> value;
  value.Update(kInfinity);
  value.Merge(MinValue<double>());
  EXPECT_EQ(value.Result(), kInfinity);
}

TEST(MaxValue, NeverTakesTheDefaultForAValueItSaw) {
  MaxValue<std::int64_t> value;
  value.Update(kLeast);
  value.Merge(MaxValue<std::int64_t>());
  EXPECT_EQ(value.Result(), kLeast);
}

TEST(MaxValue, HasOneZeroWhateverTheOrder) {
  for (const auto& [first, second] : {std::pair(0.0, -0.0), std::pair(-0.0, 0.0)}) {
    MaxValue<double> value;
    value.Update(first);
    value.Update(second);
    EXPECT_FALSE(std::signbit(value.Result()));
  }
}

TEST(WideInteger, AddsLikeA128BitInteger) {
  LawRandom random(14);
  absl::int128 expected = 0;
  WideInteger sum;
  for (int i = 0; i < 10'000; ++i) {
    const absl::int128 next = absl::MakeInt128(RandomInteger<std::int64_t>(random) >> 16, random());
    expected += next;
    sum.Add(next);
    ASSERT_EQ(sum.value(), expected);
    ASSERT_EQ(WideInteger(expected), sum);
  }
}

}  // namespace
}  // namespace glaive::state
