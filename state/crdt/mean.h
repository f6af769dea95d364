// MeanValue: the mean of a field, stored as its exact sum and count and divided only at the end.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "state/crdt/compact_form.h"
#include "state/crdt/counted_sum.h"
#include "state/crdt/crdt.h"
#include "state/crdt/exact_sum.h"
#include "state/crdt/short_sum.h"
#include "state/crdt/wide_integer.h"

namespace glaive::state {

template <typename T>
struct MeanValue;

template <std::integral T>
struct MeanValue<T> {
  using Input = T;

  void Update(const T& value) {
    sum.Add(absl::int128(value));
    ++count;
  }
  void Merge(const MeanValue& other) {
    sum.Add(other.sum.value());
    count += other.count;
  }
  /// Empty when no record came; rounded once.
  std::optional<double> Result() const {
    return count == 0 ? std::nullopt : std::optional<double>(sum.DividedBy(count));
  }

  friend bool operator==(const MeanValue&, const MeanValue&) = default;

  WideInteger sum;
  std::uint64_t count = 0;
};

template <std::floating_point T>
struct MeanValue<T> {
  using Input = T;

  void Update(const T& value) {
    sum.Add(value);
    ++count;
  }
  void Merge(const MeanValue& other) {
    sum.Merge(other.sum);
    count += other.count;
  }
  /// Empty when no record came; rounded once.
  std::optional<double> Result() const {
    return count == 0 ? std::nullopt : std::optional<double>(sum.DividedBy(count));
  }

  friend bool operator==(const MeanValue&, const MeanValue&) = default;

  std::uint64_t count = 0;
  ExactSum<T> sum;
};

/// As long as sum and count fit a double's bits.
template <>
class CompactForm<MeanValue<float>> {
 public:
  [[gnu::always_inline]] bool TryUpdate(float value) { return sum_.TryAdd(value); }
  bool TryMerge(const MeanValue<float>& delta) {
    ShortSum added = sum_.sum();
    return delta.count <= CountedSum::kMostCount && delta.sum.TryAddTo(added) &&
           sum_.TrySet(added, sum_.count() + delta.count);
  }
  [[gnu::always_inline]] bool TryMerge(const CompactForm& delta) {
    ShortSum added = sum_.sum();
    return added.TryAdd(delta.sum_.sum().value()) && sum_.TrySet(added, sum_.count() + delta.sum_.count());
  }
  MeanValue<float> Expanded() const { return {.count = sum_.count(), .sum = ExactSum<float>(sum_.sum())}; }
  auto Result() const { return Expanded().Result(); }

 private:
  CountedSum sum_;
};

static_assert(CrdtValue<MeanValue<std::int64_t>> && CrdtValue<MeanValue<float>> && CrdtValue<MeanValue<double>>);

}  // namespace glaive::state
