// SessionPart: what is known of one session of a key: from when to when its records are, and their aggregate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "state/crdt/crdt.h"

namespace glaive::state {

/// See the head of this file. Times are event times in ms.
template <CrdtValue V>
struct SessionPart {
  struct Input {
    std::int64_t time_ms;
    [[no_unique_address]] typename V::Input input;
  };

  void Update(const Input& input) {
    first_ms = std::min(first_ms, input.time_ms);
    last_ms = std::max(last_ms, input.time_ms);
    value.Update(input.input);
  }
  void Merge(const SessionPart& other) {
    first_ms = std::min(first_ms, other.first_ms);
    last_ms = std::max(last_ms, other.last_ms);
    value.Merge(other.value);
  }
  auto Result() const { return value.Result(); }
  bool empty() const { return first_ms > last_ms; }

  friend bool operator==(const SessionPart&, const SessionPart&) = default;

  std::int64_t first_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ms = std::numeric_limits<std::int64_t>::min();
  V value{};
};

}  // namespace glaive::state
