// MeanValue: the mean of an integer field, kept as its exact sum and count and divided only at the end.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "state/crdt/crdt.h"
#include "state/crdt/wide_integer.h"

namespace glaive::state {

template <std::integral T>
struct MeanValue {
  using Input = T;

  void Update(const T& value) {
    sum.Add(absl::int128(value));
    ++count;
  }
  void Merge(const MeanValue& other) {
    sum.Add(other.sum.value());
    count += other.count;
  }
  /// Empty when no record came.
  std::optional<double> Result() const {
    if (count == 0) {
      return std::nullopt;
    }
    return static_cast<double>(static_cast<long double>(sum.value()) / static_cast<long double>(count));
  }

  friend bool operator==(const MeanValue&, const MeanValue&) = default;

  WideInteger sum;
  std::uint64_t count = 0;
};

static_assert(CrdtValue<MeanValue<std::int64_t>>);

}  // namespace glaive::state
