// CountValue: the number of records.
#pragma once

#include <cstdint>

#include "state/crdt/crdt.h"

namespace glaive::state {

struct CountValue {
  using Input = Nothing;

  void Update(Nothing) { ++count; }
  void Merge(const CountValue& other) { count += other.count; }
  std::uint64_t Result() const { return count; }

  friend bool operator==(const CountValue&, const CountValue&) = default;

  std::uint64_t count = 0;
};

static_assert(CrdtValue<CountValue>);
static_assert(sizeof(CountValue) == 8);

}  // namespace glaive::state
