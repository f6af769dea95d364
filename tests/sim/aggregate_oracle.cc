#include "tests/sim/aggregate_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include <boost/multiprecision/cpp_int.hpp>

namespace glaive::sim {
namespace {

using Integer = boost::multiprecision::int512_t;

/// All weights are multiples of 2^kUnit.
constexpr int kUnit = -48;
constexpr int kDoubleBits = 53;

/// The double nearest to numerator / denominator * 2^exponent, of two such the even one.
double Rounded(const Integer& numerator, const Integer& denominator, int exponent) {
  if (numerator == 0) return 0;
  Integer magnitude = abs(numerator);
  // The quotient has 2 or 3 bits more than a double. The last one says whether anything lies below it.
  const int shift = kDoubleBits + 2 + static_cast<int>(msb(denominator)) - static_cast<int>(msb(magnitude));
  Integer divisor = denominator;
  (shift > 0 ? magnitude : divisor) <<= std::abs(shift);
  Integer rest;
  Integer quotient;
  divide_qr(magnitude, divisor, quotient, rest);
  auto bits = static_cast<std::uint64_t>(quotient);
  const int excess = static_cast<int>(msb(quotient)) + 1 - kDoubleBits;
  const std::uint64_t below = (bits & ((std::uint64_t{1} << excess) - 1)) << 1 | (rest != 0 ? 1 : 0);
  const std::uint64_t half = std::uint64_t{1} << excess;
  bits >>= excess;
  bits += below > half || (below == half && bits % 2 == 1) ? 1 : 0;
  const double value = std::ldexp(static_cast<double>(bits), excess - shift + exponent);
  return numerator < 0 ? -value : value;
}

std::string Number(double value) { return absl::StrFormat("%.17g", value); }

Integer WeightInUnits(const Event& event) {
  int exponent = 0;
  const float mantissa = std::frexp(event.weight, &exponent);  // less than 1, of 24 bits
  const Integer number = static_cast<std::int64_t>(std::ldexp(mantissa, 24));
  const int shift = exponent - 24 - kUnit;
  return shift >= 0 ? Integer(number * (Integer(1) << shift)) : Integer(number / (Integer(1) << -shift));
}
Integer BigAmountOf(const Event& event) { return Integer(event.amount) * (Integer(1) << kBigAmountBits); }

template <typename Field>
Integer SumOfField(const std::vector<Event>& events, const Field& field) {
  Integer sum = 0;
  for (const Event& event : events) sum += field(event);
  return sum;
}
/// Of a field in units of 2^unit.
template <typename Field>
std::string MeanOfField(const std::vector<Event>& events, const Field& field, int unit) {
  return Number(Rounded(SumOfField(events, field), events.size(), unit));
}
template <typename Field>
std::string VarianceOfField(const std::vector<Event>& events, const Field& field, int unit) {
  const Integer sum = SumOfField(events, field);
  const Integer squares = SumOfField(events, [&](const Event& event) {
    const Integer value = field(event);
    return Integer(value * value);
  });
  const Integer count = events.size();
  return Number(Rounded(squares * count - sum * sum, count * count, 2 * unit));
}

std::vector<std::int64_t> AmountsOf(const std::vector<Event>& events) {
  std::vector<std::int64_t> amounts;
  std::ranges::transform(events, std::back_inserter(amounts), &Event::amount);
  std::ranges::sort(amounts);
  return amounts;
}

constexpr std::pair<std::string_view, std::string (*)(const std::vector<Event>&)> kAll[] = {
    {"count", CountOf},  {"sum", BigSumOf},        {"exact-sum", WeightOf}, {"min", LeastOf}, {"max", GreatestOf},
    {"mean", BigMeanOf}, {"variance", VarianceOf}, {"first", FirstOf},      {"last", LastOf}, {"top", TopThreeOf}};

}  // namespace

std::string CountOf(const std::vector<Event>& events) { return absl::StrCat(events.size()); }
std::string SumOf(const std::vector<Event>& events) {
  return SumOfField(events, [](const Event& event) { return Integer(event.amount); }).str();
}
std::string BigSumOf(const std::vector<Event>& events) { return SumOfField(events, BigAmountOf).str(); }
std::string LeastOf(const std::vector<Event>& events) { return absl::StrCat(AmountsOf(events).front()); }
std::string GreatestOf(const std::vector<Event>& events) { return absl::StrCat(AmountsOf(events).back()); }
std::string BigMeanOf(const std::vector<Event>& events) { return MeanOfField(events, BigAmountOf, 0); }
std::string BigVarianceOf(const std::vector<Event>& events) { return VarianceOfField(events, BigAmountOf, 0); }
std::string WeightOf(const std::vector<Event>& events) {
  return Number(Rounded(SumOfField(events, WeightInUnits), 1, kUnit));
}
std::string MeanOf(const std::vector<Event>& events) { return MeanOfField(events, WeightInUnits, kUnit); }
std::string VarianceOf(const std::vector<Event>& events) { return VarianceOfField(events, WeightInUnits, kUnit); }
std::string TopThreeOf(const std::vector<Event>& events) {
  std::vector<std::int64_t> amounts = AmountsOf(events);
  std::ranges::reverse(amounts);
  amounts.resize(std::min<std::size_t>(amounts.size(), 3));
  return absl::StrJoin(amounts, " ");
}
std::string FirstOf(const std::vector<Event>& events) {
  std::pair<std::int64_t, std::int64_t> first{events.front().time_ms, events.front().amount};
  for (const Event& event : events) first = std::min(first, {event.time_ms, event.amount});
  return absl::StrCat(first.second);
}
std::string LastOf(const std::vector<Event>& events) {
  std::pair<std::int64_t, std::int64_t> last{events.front().time_ms, events.front().amount};
  for (const Event& event : events) last = std::max(last, {event.time_ms, event.amount});
  return absl::StrCat(last.second);
}
std::string DistinctOf(const std::vector<Event>& events) {
  const std::vector<std::int64_t> amounts = AmountsOf(events);
  return absl::StrCat(std::set<std::int64_t>(amounts.begin(), amounts.end()).size());
}
std::string DistinctKindsOf(const std::vector<Event>& events) {
  std::set<std::uint64_t> kinds;
  for (const Event& event : events) kinds.insert(event.kind);
  return absl::StrCat(kinds.size());
}

std::string AllOf(const std::vector<Event>& events) {
  return absl::StrJoin(kAll, ", ",
                       [&](std::string* out, const auto& aggregate) { out->append(aggregate.second(events)); });
}
std::vector<std::string_view> NamesOfAll() {
  std::vector<std::string_view> names;
  for (const auto& [name, show] : kAll) names.push_back(name);
  return names;
}

}  // namespace glaive::sim
