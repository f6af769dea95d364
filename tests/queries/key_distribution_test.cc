#include "queries/common/key_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/common/random.h"
#include "tests/queries/statistics.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kDraws = 400'000;

KeyLaw LawOf(const std::string& text) {
  const absl::StatusOr<KeyLaw> law = KeyLaw::Parse(text);
  EXPECT_TRUE(law.ok()) << law.status();
  return law.value_or(KeyLaw{});
}

template <typename Visit>
void DrawMany(const KeyOptions& options, std::uint64_t seed, const Visit& visit) {
  const KeyDistribution keys(options);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    visit(keys.Draw(Mix(StreamOf(seed, 0) + i * kCounterStep)));
  }
}

// Each key's exact probability by the law's definition; of key k at [k - 1].
std::vector<double> Probabilities(const KeyLaw& law, std::uint64_t count) {
  std::vector<double> weights;
  double sum = 0;
  for (std::uint64_t key = 1; key <= count; ++key) {
    const auto k = static_cast<double>(key);
    double weight = 1;
    if (law.kind == KeyLaw::Kind::kZipf) {
      weight = std::pow(k, -law.parameter);
    } else if (law.kind == KeyLaw::Kind::kPareto) {
      weight = std::pow(k, -law.parameter) - std::pow(k + 1, -law.parameter);
    } else if (law.kind == KeyLaw::Kind::kGeometric) {
      weight = std::pow(1 - law.parameter, k);
    }
    weights.push_back(weight);
    sum += weight;
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

class KeyDistributionTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Laws, KeyDistributionTest,
                         testing::Values("uniform", "zipf:0", "zipf:0.2", "zipf:0.9", "zipf:1", "zipf:1.16", "zipf:2",
                                         "pareto:1.16", "pareto:0.3", "geometric:0.1", "geometric:0.0001"));

TEST_P(KeyDistributionTest, EachOfAFewKeysHasItsExactShare) {
  for (const std::uint64_t count : {2U, 3U, 40U}) {
    const KeyLaw law = LawOf(GetParam());
    std::vector<std::uint64_t> drawn(count);
    DrawMany({.count = count, .law = law}, count, [&](std::uint64_t key) { ++drawn.at(key - 1); });
    const std::vector<double> exact = Probabilities(law, count);
    double chi_square = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      ExpectShare(drawn[i], kDraws, exact[i], absl::StrCat("key ", i + 1, " of ", count));
      const double mean = kDraws * exact[i];
      chi_square += (static_cast<double>(drawn[i]) - mean) * (static_cast<double>(drawn[i]) - mean) / mean;
    }
    const auto freedom = static_cast<double>(count - 1);
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << count << " keys";
  }
}

TEST_P(KeyDistributionTest, TheFirstOfManyKeysAndTheTailHaveTheirExactShares) {
  constexpr std::uint64_t kKeys = 100'000;
  constexpr std::uint64_t kFirst = 20;
  const KeyLaw law = LawOf(GetParam());
  std::array<std::uint64_t, kFirst + 1> first{};
  std::array<std::uint64_t, 17> octaves{};  // keys from 2^i to 2^(i+1) - 1
  DrawMany({.count = kKeys, .law = law}, 5, [&](std::uint64_t key) {
    ASSERT_GE(key, 1U);
    ASSERT_LE(key, kKeys);
    ++first.at(std::min(key, kFirst + 1) - 1);
    ++octaves.at(static_cast<std::size_t>(std::log2(key)));
  });
  const std::vector<double> exact = Probabilities(law, kKeys);
  double tail = 1;
  for (std::uint64_t i = 0; i < kFirst; ++i) {
    ExpectShare(first[i], kDraws, exact[i], absl::StrCat("key ", i + 1));
    tail -= exact[i];
  }
  ExpectShare(first[kFirst], kDraws, tail, "all keys behind");
  for (std::size_t octave = 0; octave < octaves.size(); ++octave) {
    double share = 0;
    for (std::uint64_t key = std::uint64_t{1} << octave; key < std::min(std::uint64_t{2} << octave, kKeys + 1); ++key) {
      share += exact[key - 1];
    }
    ExpectShare(octaves[octave], kDraws, share, absl::StrCat("keys from ", 1ULL << octave));
  }
}

TEST_P(KeyDistributionTest, NoDrawIsZeroOrAboveTheNumberOfKeys) {
  for (const std::uint64_t count : {1ULL, 2ULL, 3ULL, 1'000ULL, 1ULL << 40, 1ULL << 48}) {
    const KeyDistribution keys({.count = count, .law = LawOf(GetParam())});
    const auto expect_in_range = [&](std::uint64_t random) {
      const std::uint64_t key = keys.Draw(random);
      ASSERT_GE(key, 1U) << count << " keys, draw " << random;
      ASSERT_LE(key, count) << count << " keys, draw " << random;
    };
    for (std::uint64_t i = 0; i < 2'000; ++i) {
      expect_in_range(i);
      expect_in_range(std::numeric_limits<std::uint64_t>::max() - i);
      expect_in_range(i << 11);  // the least that tells draws apart
      expect_in_range(Mix(i * kCounterStep));
    }
  }
}

TEST_P(KeyDistributionTest, OneKeyIsEnough) {
  DrawMany({.count = 1, .law = LawOf(GetParam())}, 1, [&](std::uint64_t key) { ASSERT_EQ(key, 1U); });
}

TEST_P(KeyDistributionTest, TheHotKeyTakesItsShareAndTheLawTheRest) {
  constexpr std::uint64_t kKeys = 40;
  const KeyLaw law = LawOf(GetParam());
  const std::vector<double> exact = Probabilities(law, kKeys);
  for (const double hot_share : {0.001, 0.25, 0.9, 1.0}) {
    std::vector<std::uint64_t> drawn(kKeys);
    DrawMany({.count = kKeys, .law = law, .hot_share = hot_share}, 9, [&](std::uint64_t key) { ++drawn.at(key - 1); });
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ExpectShare(drawn[i], kDraws, (1 - hot_share) * exact[i] + (i == 0 ? hot_share : 0),
                  absl::StrCat("key ", i + 1, " with a hot share of ", hot_share));
    }
  }
}

TEST(KeyDistributionManyKeysTest, ATrillionUniformKeysSpreadOverAllOfThem) {
  constexpr std::uint64_t kKeys = 1ULL << 40;
  std::array<std::uint64_t, 16> parts{};
  DrawMany({.count = kKeys}, 1, [&](std::uint64_t key) { ++parts.at((key - 1) / (kKeys / 16)); });
  for (const std::uint64_t part : parts) {
    ExpectShare(part, kDraws, 1.0 / 16, "a sixteenth");
  }
}

TEST(KeyDistributionManyKeysTest, ATrillionKeysAreSpreadEvenlyOverOrdersOfMagnitudeByZipfOfOne) {
  constexpr double kEulersConstant = 0.5772156649015329;
  const double sum = 40 * std::log(2) + kEulersConstant;  // of 1 / k up to 2^40
  std::uint64_t first = 0;
  std::array<std::uint64_t, 4> quarters{};  // of the order of magnitude
  DrawMany({.count = 1ULL << 40, .law = LawOf("zipf:1")}, 1, [&](std::uint64_t key) {
    first += key == 1 ? 1 : 0;
    ++quarters.at(std::min<std::size_t>(3, static_cast<std::size_t>(std::log2(key) / 10)));
  });
  ExpectShare(first, kDraws, 1 / sum, "key 1");
  for (const std::size_t quarter : {1U, 2U, 3U}) {
    ExpectShare(quarters[quarter], kDraws, 10 * std::log(2) / sum, absl::StrCat("keys from 2^", 10 * quarter));
  }
}

TEST(KeyDistributionManyKeysTest, ATrillionKeysFallOffByParetosPower) {
  std::array<std::uint64_t, 5> beyond{};  // of 10^1 .. 10^5
  DrawMany({.count = 1ULL << 40, .law = LawOf("pareto:0.5")}, 1, [&](std::uint64_t key) {
    std::uint64_t bound = 10;
    for (std::uint64_t& count : beyond) {
      count += key >= bound ? 1 : 0;
      bound *= 10;
    }
  });
  const double cut_off = std::pow(0x1p40 + 1, -0.5);
  double bound = 10;
  for (const std::uint64_t count : beyond) {
    ExpectShare(count, kDraws, (std::pow(bound, -0.5) - cut_off) / (1 - cut_off), absl::StrCat("from ", bound));
    bound *= 10;
  }
}

TEST(KeyLawTest, ReadsEveryForm) {
  EXPECT_EQ(LawOf("uniform").kind, KeyLaw::Kind::kUniform);
  EXPECT_EQ(LawOf("zipf:1.16").kind, KeyLaw::Kind::kZipf);
  EXPECT_EQ(LawOf("zipf:1.16").parameter, 1.16);
  EXPECT_EQ(LawOf("pareto:0.5").kind, KeyLaw::Kind::kPareto);
  EXPECT_EQ(LawOf("pareto:0.5").parameter, 0.5);
  EXPECT_EQ(LawOf("zipf:0.1234567890123456").parameter, 0.1234567890123456);
  EXPECT_EQ(LawOf("zipf:1e-17").parameter, 1e-17);
  EXPECT_EQ(LawOf("geometric:0.1").kind, KeyLaw::Kind::kGeometric);
  EXPECT_EQ(LawOf("geometric:0.1").parameter, 0.1);
  EXPECT_EQ(LawOf("zipf:0").kind, KeyLaw::Kind::kZipf);
  EXPECT_EQ(LawOf("zipf:0").parameter, 0);
  EXPECT_EQ(LawOf("zipf:10").parameter, 10);
  EXPECT_EQ(LawOf("pareto:9.999999999999998").parameter, 9.999999999999998);
}

TEST(KeyLawTest, WhatIsNoLawIsRefusedWithTheFormsThatThereAre) {
  for (const char* text : {"", "zipf", "zipf:", "zipf:x", "zipf:-0.1", "zipf:10.5", "zipf:nan", "zipf:inf", "Zipf:1",
                           "pareto:0", "pareto:-1", "pareto:11", "pareto:1,16", "uniform:1", "uniform ", "1.16",
                           "geometric:0", "geometric:1", "geometric:nan"}) {
    const absl::StatusOr<KeyLaw> law = KeyLaw::Parse(text);
    EXPECT_EQ(law.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(law.status().message(),
              absl::StrCat("'", text,
                           "' is no distribution of keys; there are uniform, zipf:Z with Z from 0 to 10, "
                           "pareto:A with A above 0 up to 10, and geometric:P with P between 0 and 1"));
  }
}

TEST(KeyOptionsTest, WhatIsOutOfRangeIsRefusedByName) {
  const auto message = [](const KeyOptions& options) { return Validate(options).ToString(); };
  EXPECT_TRUE(Validate(KeyOptions{}).ok());
  EXPECT_TRUE(Validate(KeyOptions{.count = 1ULL << 48, .hot_share = 1}).ok());
  EXPECT_THAT(message({.count = 0}), HasSubstr("the number of keys is 0; it must be from 1 to 281474976710656"));
  EXPECT_THAT(message({.count = (1ULL << 48) + 1}), HasSubstr("the number of keys is 281474976710657"));
  EXPECT_THAT(message({.hot_share = 1.5}), HasSubstr("the hot key's share is 1.5; it must be from 0 to 1"));
  EXPECT_THAT(message({.hot_share = -0.5}), HasSubstr("the hot key's share is -0.5"));
  EXPECT_THAT(message({.hot_share = std::nan("")}), HasSubstr("the hot key's share is nan"));
}

}  // namespace
}  // namespace glaive::queries
