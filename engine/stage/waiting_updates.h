// WaitingUpdates: a ring of updates whose places in the state are known and being loaded, in the order they came.
//
// Updates are added a chunk at a time, and tried a chunk at a time when some others have come behind them: two loops
// of few instructions each, so that many of them are under way in the processor at once.
//
// Owned by a RecordStage, used by its fiber.
//
//   waiting.Add(eager.Locate(key), key, input);             // at most kChunk times
//   if (waiting.HasChunk()) taken += waiting.Try(kChunk, eager, refused);
#pragma once

#include <array>
#include <cstddef>

#include "state/store/slot_table.h"

namespace glaive::engine {

template <typename K, typename Input>
class WaitingUpdates {
 public:
  static constexpr std::size_t kCapacity = 64;
  /// So many are added between two calls of HasChunk, at most.
  static constexpr std::size_t kChunk = 16;

  std::size_t size() const { return added_ - tried_; }
  /// Whether the oldest chunk has to be tried to make room for another, and has enough behind it.
  bool HasChunk() const { return size() > kCapacity - kChunk; }

  /// There must be room.
  [[gnu::always_inline]] void Add(state::SlotHome home, const K& key, const Input& input) {
    const std::size_t i = added_++ % kCapacity;
    homes_[i] = home;
    keys_[i] = key;
    inputs_[i] = input;
  }

  /// Takes the `count` oldest out; tries each (PartitionedStore::UseEager) and calls `refused(key, input)` if it was
  /// not taken. Returns how many were: none if nothing waits any more, since homes are those of another table then.
  template <typename Eager, typename RefusedFn>
  [[gnu::always_inline]] std::size_t Try(std::size_t count, Eager& eager, const RefusedFn& refused) {
    std::size_t taken = 0;
    std::size_t next = tried_;
    for (const std::size_t end = next + count; next != end; ++next) {
      const std::size_t i = next % kCapacity;
      if (Eager::kWaits && eager.TryUpdate(homes_[i], keys_[i], inputs_[i])) [[likely]] {
        ++taken;
      } else {
        refused(keys_[i], inputs_[i]);
      }
    }
    tried_ = next;
    return taken;
  }

 private:
  std::size_t added_ = 0;
  std::size_t tried_ = 0;  // of these, how many do no longer wait
  // Apart, not side by side: a chunk's homes are a line or two.
  std::array<state::SlotHome, kCapacity> homes_;
  std::array<K, kCapacity> keys_;
  std::array<Input, kCapacity> inputs_;
};

}  // namespace glaive::engine
