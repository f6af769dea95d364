// SumValue: the exact sum of a field: of integers in 128 bits, so that no stream overflows it; of floating-point
// numbers in fixed point, rounded once at the end.
#pragma once

#include <concepts>

#include "state/crdt/compact_form.h"
#include "state/crdt/crdt.h"
#include "state/crdt/exact_sum.h"
#include "state/crdt/short_sum.h"
#include "state/crdt/wide_integer.h"

namespace glaive::state {

template <typename T>
struct SumValue;

template <std::integral T>
struct SumValue<T> {
  using Input = T;

  void Update(const T& value) { sum.Add(absl::int128(value)); }
  void Merge(const SumValue& other) { sum.Add(other.sum.value()); }
  absl::int128 Result() const { return sum.value(); }

  friend bool operator==(const SumValue&, const SumValue&) = default;

  WideInteger sum;
};

template <std::floating_point T>
struct SumValue<T> {
  using Input = T;

  void Update(const T& value) { sum.Add(value); }
  void Merge(const SumValue& other) { sum.Merge(other.sum); }
  double Result() const { return sum.Rounded(); }

  friend bool operator==(const SumValue&, const SumValue&) = default;

  ExactSum<T> sum;
};

/// As long as the sum fits a double.
template <>
class CompactForm<SumValue<float>> {
 public:
  [[gnu::always_inline]] bool TryUpdate(float value) { return sum_.TryAdd(value); }
  bool TryMerge(const SumValue<float>& delta) { return delta.sum.TryAddTo(sum_); }
  [[gnu::always_inline]] bool TryMerge(const CompactForm& delta) { return sum_.TryAdd(delta.sum_.value()); }
  SumValue<float> Expanded() const { return {.sum = ExactSum<float>(sum_)}; }
  double Result() const { return sum_.value(); }

 private:
  ShortSum sum_;
};

static_assert(CrdtValue<SumValue<std::int64_t>> && CrdtValue<SumValue<float>> && CrdtValue<SumValue<double>>);

}  // namespace glaive::state
