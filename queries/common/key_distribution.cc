#include "queries/common/key_distribution.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "queries/common/random.h"
#include "rdma/base/check.h"

namespace glaive::queries {
namespace {

constexpr double kMaxExponent = 10;

}  // namespace

absl::StatusOr<KeyLaw> KeyLaw::Parse(const std::string& text) {
  KeyLaw law;
  absl::string_view rest = text;
  if (rest == "uniform") {
    return law;
  }
  if (absl::ConsumePrefix(&rest, "zipf:")) {
    law.kind = Kind::kZipf;
  } else if (absl::ConsumePrefix(&rest, "pareto:")) {
    law.kind = Kind::kPareto;
  } else if (absl::ConsumePrefix(&rest, "geometric:")) {
    law.kind = Kind::kGeometric;
  }
  const bool is_number = absl::SimpleAtod(rest, &law.parameter);
  const bool in_range = law.kind == Kind::kGeometric ? law.parameter > 0 && law.parameter < 1
                                                     : law.parameter >= 0 && law.parameter <= kMaxExponent &&
                                                           (law.kind == Kind::kZipf || law.parameter > 0);
  if (law.kind == Kind::kUniform || !is_number || !in_range) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is no distribution of keys; there are uniform, zipf:Z ",
        "with Z from 0 to 10, pareto:A with A above 0 up to 10, and geometric:P ", "with P between 0 and 1"));
  }
  return law;
}

absl::Status Validate(const KeyOptions& options) {
  if (options.count < 1 || options.count > kMaxKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of keys is ", options.count, "; it must be from 1 to ", kMaxKeys));
  }
  if (!(options.hot_share >= 0 && options.hot_share <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the hot key's share is ", options.hot_share, "; it must be from 0 to 1"));
  }
  return absl::OkStatus();
}

KeyDistribution::KeyDistribution(const KeyOptions& options)
    : options_(options), hot_threshold_(static_cast<std::uint64_t>(options.hot_share * 0x1p32)) {
  const absl::Status valid = Validate(options);
  GLAIVE_CHECK(valid.ok(), valid.ToString());
  if (options.law.kind == KeyLaw::Kind::kZipf) {
    first_area_ = Integral(1.5) - 1;
    last_area_ = Integral(static_cast<double>(options.count) + 0.5);
    sure_ = 2 - InverseIntegral(Integral(2.5) - std::pow(2, -options.law.parameter));
  }
}

std::uint64_t KeyDistribution::Draw(std::uint64_t random) const {
  if (hot_threshold_ > 0 && (Mix(random) >> 32) < hot_threshold_) {
    return 1;
  }
  switch (options_.law.kind) {
    case KeyLaw::Kind::kZipf:
      return DrawZipf(random);
    case KeyLaw::Kind::kPareto:
      return DrawPareto(Unit(random));
    case KeyLaw::Kind::kGeometric:
      return DrawGeometric(Unit(random));
    case KeyLaw::Kind::kUniform:
      break;
  }
  return 1 + Below(options_.count, random);
}

double KeyDistribution::Integral(double x) const {
  const double rest = 1 - options_.law.parameter;
  const double log = std::log(x);
  return std::abs(rest * log) < 1e-12 ? log : std::expm1(rest * log) / rest;
}

double KeyDistribution::InverseIntegral(double area) const {
  const double rest = 1 - options_.law.parameter;
  // Rounding may carry the argument just beyond what the logarithm takes.
  return std::abs(rest * area) < 1e-12 ? std::exp(area) : std::exp(std::log1p(std::max(rest * area, -1.0)) / rest);
}

std::uint64_t KeyDistribution::DrawZipf(std::uint64_t random) const {
  for (std::uint64_t attempt = random;; attempt = Mix(attempt + kCounterStep)) {
    const double area = last_area_ + Unit(attempt) * (first_area_ - last_area_);
    const double x = InverseIntegral(area);
    const double key = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(options_.count));
    if (key - x <= sure_ || area >= Integral(key + 0.5) - std::pow(key, -options_.law.parameter)) {
      return static_cast<std::uint64_t>(key);
    }
  }
}

std::uint64_t KeyDistribution::DrawPareto(double unit) const {
  const auto end = static_cast<double>(options_.count) + 1;
  const double share = 1 - std::pow(end, -options_.law.parameter);  // of an uncut variable, what lies before the end
  const double x = std::pow(1 - unit * share, -1 / options_.law.parameter);
  return std::min(static_cast<std::uint64_t>(x), options_.count);
}

std::uint64_t KeyDistribution::DrawGeometric(double unit) const {
  const double ratio = std::log1p(-options_.law.parameter);                       // of a key to the one before
  const double share = -std::expm1(ratio * static_cast<double>(options_.count));  // of an uncut variable, likewise
  const double before = std::floor(std::log1p(-unit * share) / ratio);
  return 1 + static_cast<std::uint64_t>(std::clamp(before, 0.0, static_cast<double>(options_.count - 1)));
}

}  // namespace glaive::queries
