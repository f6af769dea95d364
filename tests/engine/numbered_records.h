// Records with the executor that has read them, for tests of what depends on the order of records.
//
//   Run(*NumberedRecords().KeyBy(&Numbered::key).Fold(std::uint64_t{7}, &MixIn).To(Collect(rows)));
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/api/generated.h"

namespace glaive::engine {

/// A record with the executor that has read it, and its number there.
struct Numbered {
  std::uint64_t key;
  std::uint64_t reader;
  std::uint64_t number;

  friend bool operator==(const Numbered&, const Numbered&) = default;
};

inline constexpr std::uint64_t kNumbered = 6'000;  // of each executor
inline constexpr std::uint64_t kKeysOfReader = 61;

/// Records whose keys no two executors share: the order of a key's records is known.
inline auto NumberedRecords() {
  return FromParallel([](const SourceContext& context) {
    return [reader = std::uint64_t{Value(context.executor)},
            number = std::uint64_t{0}]() mutable -> std::optional<Numbered> {
      if (number == kNumbered) return std::nullopt;
      const std::uint64_t next = number++;
      return Numbered{.key = next % kKeysOfReader * 8 + reader, .reader = reader, .number = next};
    };
  });
}

/// Depends on the order of the records.
inline std::uint64_t Mixed(std::uint64_t state, std::uint64_t number) { return state * 31 + number; }
/// Two functions that fold so: by changing the state, and by returning the new one.
inline void MixIn(std::uint64_t& state, const Numbered& record) { state = Mixed(state, record.number); }
inline std::uint64_t MixedWith(const std::uint64_t& state, const Numbered& record) {
  return Mixed(state, record.number);
}

/// Calls `use(key, state)` behind each of the numbered records of so many executors: what folding by MixIn has made of
/// the key's records so far, from 7 on.
template <typename UseFn>
void ForEachMixed(std::uint32_t executors, const UseFn& use) {
  for (std::uint64_t reader = 0; reader < executors; ++reader) {
    std::map<std::uint64_t, std::uint64_t> states;
    for (std::uint64_t number = 0; number < kNumbered; ++number) {
      const std::uint64_t key = number % kKeysOfReader * 8 + reader;
      auto& state = states.try_emplace(key, 7).first->second;
      state = Mixed(state, number);
      use(key, state);
    }
  }
}

/// How far each executor's records have been seen, and whether one came out of order.
struct Order {
  std::array<std::uint64_t, 3> next = {};
  std::uint64_t records = 0;
  std::uint64_t disorder = 0;

  friend bool operator==(const Order&, const Order&) = default;
};
inline void NoteOrder(Order& order, const Numbered& record) {
  order.disorder += record.number < order.next[record.reader] ? 1 : 0;
  order.next[record.reader] = record.number + 1;
  ++order.records;
}

/// The rows of all executors.
template <typename T>
std::vector<T> Joined(const std::vector<std::vector<T>>& shares) {
  std::vector<T> all;
  for (const auto& share : shares) all.insert(all.end(), share.begin(), share.end());
  return all;
}

}  // namespace glaive::engine
