// SumValue: the exact sum of an integer field, in 128 bits so that no stream overflows it.
#pragma once

#include <concepts>

#include "state/crdt/crdt.h"
#include "state/crdt/wide_integer.h"

namespace glaive::state {

template <std::integral T>
struct SumValue {
  using Input = T;

  void Update(const T& value) { sum.Add(absl::int128(value)); }
  void Merge(const SumValue& other) { sum.Add(other.sum.value()); }
  absl::int128 Result() const { return sum.value(); }

  friend bool operator==(const SumValue&, const SumValue&) = default;

  WideInteger sum;
};

static_assert(CrdtValue<SumValue<std::int64_t>>);

}  // namespace glaive::state
