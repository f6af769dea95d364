// OrderedRecords: the records of one key and window side by side, in the order of their event times, for a function of
// all of them. Records of one time are in the order in which they came.
//
// Its memory is the executor's state memory. Owned by a kind of window, used by its fiber.
//
//   status = records.Begin(memory, count);
//   records.Add(timed, number);              // so many times
//   function(records.InOrder());             // a span
//   records.Release(memory);
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/stage/join_plan.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

template <typename R>
class OrderedRecords {
  static_assert(std::is_trivially_copyable_v<R> && alignof(R) <= 64);

 public:
  /// Makes room for `count` records; none is added yet. ResourceExhausted past the budget.
  absl::Status Begin(state::StateMemory& memory, std::uint64_t count) {
    size_ = 0;
    if (count <= capacity_) {
      return absl::OkStatus();
    }
    Release(memory);
    const std::uint64_t capacity = std::max(count, kLeastCapacity);
    const absl::StatusOr<state::Block> places = memory.Acquire(capacity * sizeof(Place), state::Contents::kAny);
    if (!places.ok()) {
      return places.status();
    }
    places_ = *places;
    const absl::StatusOr<state::Block> records = memory.Acquire(capacity * sizeof(R), state::Contents::kAny);
    if (!records.ok()) {
      return records.status();
    }
    records_ = *records;
    capacity_ = capacity;
    return absl::OkStatus();
  }

  /// `number` says which one it is of all that came, from 0. `timed` is valid until InOrder returns.
  void Add(const Timed<R>& timed, std::uint64_t number) {
    places()[number] = {.time_ms = timed.time_ms, .number = number, .record = &timed.tuple};
    ++size_;
  }

  /// All of them, once each has been added.
  std::span<const R> InOrder() {
    const std::span<Place> all(places(), size_);
    if (!std::ranges::is_sorted(all)) {
      std::ranges::sort(all);
    }
    R* const records = reinterpret_cast<R*>(records_.data);
    for (std::uint64_t i = 0; i < size_; ++i) {
      std::memcpy(static_cast<void*>(records + i), all[i].record, sizeof(R));
    }
    return {records, size_};
  }

  void Release(state::StateMemory& memory) {
    for (state::Block* const block : {&places_, &records_}) {
      if (block->data != nullptr) {
        memory.Release(std::exchange(*block, {}), state::Contents::kAny);
      }
    }
    capacity_ = 0;
  }

 private:
  static constexpr std::uint64_t kLeastCapacity = 64;

  struct Place {
    std::int64_t time_ms;
    std::uint64_t number;
    const R* record;

    friend auto operator<=>(const Place& a, const Place& b) {
      return std::pair(a.time_ms, a.number) <=> std::pair(b.time_ms, b.number);
    }
    friend bool operator==(const Place& a, const Place& b) { return a.number == b.number; }
  };

  Place* places() const { return reinterpret_cast<Place*>(places_.data); }

  state::Block places_;
  state::Block records_;
  std::uint64_t capacity_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace glaive::engine
