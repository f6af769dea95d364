// KeyDistribution: which keys a generated stream has, and how often: uniform, Zipf or Pareto over 1 .. count, and a hot
// key beside them. Immutable and safe to share; a draw is a pure function of 64 random bits.
//
//   uniform      every key alike
//   zipf:Z       key k with a probability in proportion to k^-Z, exactly (rejection-inversion: Hoermann and Derflinger,
//                ACM TOMACS 6(3), 1996); Z = 0 is uniform
//   pareto:A     the integer part of a Pareto(A) variable with minimum 1, cut off behind `count`: few heavy hitters and
//                a long tail
//   geometric:P  key k with a probability in proportion to (1 - P)^k
//
//   absl::StatusOr<KeyLaw> law = KeyLaw::Parse("zipf:1.16");
//   KeyDistribution keys({.count = 1'000'000, .law = *law});
//   std::uint64_t key = keys.Draw(random_bits);
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace glaive::queries {

struct KeyLaw {
  enum class Kind : std::uint8_t { kUniform, kZipf, kPareto, kGeometric };

  /// InvalidArgument with the forms that there are.
  static absl::StatusOr<KeyLaw> Parse(const std::string& text);

  Kind kind = Kind::kUniform;
  double parameter = 0;  // of zipf from 0 to 10, of pareto above 0 to 10, of geometric between 0 and 1
};

inline constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 48;

struct KeyOptions {
  std::uint64_t count = 1;  // 1 .. kMaxKeys
  KeyLaw law = {};
  double hot_share = 0;  // 0 .. 1 of all draws are key 1, whatever the law says for the others
};

/// InvalidArgument naming the option and its bounds.
absl::Status Validate(const KeyOptions& options);

class KeyDistribution {
 public:
  /// `options` must be valid.
  explicit KeyDistribution(const KeyOptions& options);

  /// A key from 1 to count. Some ns; the others some 50.
  std::uint64_t Draw(std::uint64_t random) const;

 private:
  std::uint64_t DrawZipf(std::uint64_t random) const;
  std::uint64_t DrawPareto(double unit) const;
  std::uint64_t DrawGeometric(double unit) const;

  // The integral of x^-exponent from 1 on, and its inverse.
  double Integral(double x) const;
  double InverseIntegral(double area) const;

  KeyOptions options_;
  std::uint64_t hot_threshold_;  // of 2^32
  double first_area_ = 0;        // zipf: where the area of key 1 begins
  double last_area_ = 0;         // zipf: where the area of the last key ends
  double sure_ = 0;              // zipf: so close to a key, no test is needed
};

}  // namespace glaive::queries
