// CountTable: counts per key by open addressing with linear probing, as one would write it by hand.
//
// 16-byte slots on huge pages where the system has them, hashed by multiplication, about six tenths full at most. Grows
// by doubling and never shrinks, so that scanning it stays cheap while few keys are in use; all memory it can grow into
// is mapped and touched at creation. Move-only, used by one thread.
//
//   absl::StatusOr<CountTable> counts = CountTable::Create(/*keys=*/1'000);
//   counts->Add(keys);
//   counts->Drain([](std::uint64_t key, std::uint64_t count) { ... });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"

namespace glaive::bench {

/// See the head of this file.
class CountTable {
 public:
  /// Room for `keys` distinct keys.
  static absl::StatusOr<CountTable> Create(std::uint64_t keys);

  /// The most keys that one call of Add takes.
  static constexpr std::size_t kKeysAtOnce = 256;

  /// Counts one record for each of `keys`, none of which is 0.
  void Add(std::span<const std::uint64_t> keys) {
    MakeRoom(keys.size());
    Slot* const slots = slots_;
    const std::size_t mask = mask_;
    std::size_t new_keys = 0;
    for (const std::uint64_t key : keys) {
      for (std::size_t i = Home(key);; i = (i + 1) & mask) {
        Slot& slot = slots[i];
        if (slot.key == key) {
          ++slot.count;
          break;
        }
        if (slot.key == 0) {
          slot = {.key = key, .count = 1};
          ++new_keys;
          break;
        }
      }
    }
    used_ += new_keys;
  }

  /// Calls `emit(key, count)` for every key, and empties the table.
  template <typename Emit>
  void Drain(Emit emit) {
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (slots_[i].key != 0) {
        emit(slots_[i].key, slots_[i].count);
        slots_[i] = {};
      }
    }
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0: empty
    std::uint64_t count = 0;
  };
  static_assert(sizeof(Slot) == 16);

  struct Unmap {
    std::size_t bytes = 0;
    void operator()(Slot* slots) const;
  };
  using Slots = std::unique_ptr<Slot[], Unmap>;

  static constexpr int kSmallestBits = 10;

  CountTable(Slots even, Slots odd, int most_bits);

  std::size_t Home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }
  static absl::StatusOr<Slots> Map(int bits);
  void MakeRoom(std::size_t keys) {
    if (used_ + keys > limit_) [[unlikely]] {
      GrowFor(keys);
    }
  }
  void GrowFor(std::size_t keys);
  void Grow();
  void Resize(int bits);

  std::array<Slots, 2> memory_;  // tables of 2^n slots use the one of n % 2: growing moves from one to the other
  int most_bits_;
  int bits_ = 0;
  int shift_ = 0;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
  std::size_t limit_ = 0;  // six tenths of the slots
  Slot* slots_ = nullptr;
};

}  // namespace glaive::bench
