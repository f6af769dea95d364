// SessionPart: a part of one session of a key: its first and its last event time, and the aggregate of its records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "state/crdt/compact_form.h"
#include "state/crdt/crdt.h"

namespace glaive::state {

/// See the head of this file. Times are event times in ms.
template <CrdtValue V>
struct SessionPart {
  struct Input {
    using Members = std::tuple<std::int64_t, typename V::Input>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("", self.input);
    }

    std::int64_t time_ms;
    [[no_unique_address]] typename V::Input input;
  };

  using Members = std::tuple<std::int64_t, std::int64_t, V>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.value);
  }

  void Update(const Input& input) {
    NoteTime(input.time_ms, first_ms, last_ms);
    value.Update(input.input);
  }
  void Merge(const SessionPart& other) {
    first_ms = std::min(first_ms, other.first_ms);
    last_ms = std::max(last_ms, other.last_ms);
    value.Merge(other.value);
  }
  auto Result() const { return value.Result(); }
  bool empty() const { return first_ms > last_ms; }

  /// Takes note of a record's time, which hardly ever is the first: a branch, since two minima that are stored together
  /// are stored as one vector, and the next update of the key waits for that.
  [[gnu::always_inline]] static void NoteTime(std::int64_t time_ms, std::int64_t& first_ms, std::int64_t& last_ms) {
    if (time_ms < first_ms) [[unlikely]] {
      first_ms = time_ms;
    }
    last_ms = std::max(last_ms, time_ms);
  }

  friend bool operator==(const SessionPart&, const SessionPart&) = default;

  std::int64_t first_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ms = std::numeric_limits<std::int64_t>::min();
  V value{};
};

/// The times, and the aggregate's own form.
template <CrdtValue V>
class CompactForm<SessionPart<V>> {
 public:
  [[gnu::always_inline]] bool TryUpdate(const typename SessionPart<V>::Input& input) {
    if (!value_.TryUpdate(input.input)) [[unlikely]] {
      return false;
    }
    SessionPart<V>::NoteTime(input.time_ms, first_ms_, last_ms_);
    return true;
  }
  bool TryMerge(const SessionPart<V>& delta) {
    if (!value_.TryMerge(delta.value)) [[unlikely]] {
      return false;
    }
    first_ms_ = std::min(first_ms_, delta.first_ms);
    last_ms_ = std::max(last_ms_, delta.last_ms);
    return true;
  }
  [[gnu::always_inline]] bool TryMerge(const CompactForm& delta) {
    if (!value_.TryMerge(delta.value_)) [[unlikely]] {
      return false;
    }
    first_ms_ = std::min(first_ms_, delta.first_ms_);
    last_ms_ = std::max(last_ms_, delta.last_ms_);
    return true;
  }
  SessionPart<V> Expanded() const { return {.first_ms = first_ms_, .last_ms = last_ms_, .value = value_.Expanded()}; }
  auto Result() const { return value_.Result(); }

 private:
  std::int64_t first_ms_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ms_ = std::numeric_limits<std::int64_t>::min();
  CompactForm<V> value_;
};

}  // namespace glaive::state
