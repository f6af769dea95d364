// LoopStore: the records that a loop stores on one executor, in the order in which they came.
//
//   state memory   | block of 256 KiB: record, record, ... | block of 256 KiB: record, record, ... |
//   texts          | those of all records |
//
// Blocks count against the executor's budget. A block is filled before the next one is taken, and a stored
// record stays at its address, so a turn that stores a record is short whatever the store has. Used by its executor's
// thread alone.
//
//   LoopStore<Point> store;
//   absl::Status status = store.Add(memory, point);
//   for (std::size_t i = 0; i < store.block_count(); ++i) Use(store.block(i));   // a span
//   store.Clear(memory);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"
#include "state/log/value_texts.h"

namespace glaive::engine {

template <typename R>
class LoopStore {
  static_assert(std::is_trivially_copyable_v<R>);

 public:
  /// Adds a copy of a record, with its texts. ResourceExhausted past the budget.
  absl::Status Add(state::StateMemory& memory, const R& record) {
    if (size_ == blocks_.size() * kRecordsOfBlock) {
      const absl::StatusOr<state::Block> block = memory.Acquire(kRecordsOfBlock * sizeof(R), state::Contents::kAny);
      if (!block.ok()) {
        return block.status();
      }
      blocks_.push_back(*block);
    }
    R* const added = Data(blocks_.size() - 1) + size_ % kRecordsOfBlock;
    std::memcpy(static_cast<void*>(added), &record, sizeof(R));
    ++size_;
    return texts_.Change(memory, *added, state::Age::kNew, [](R& /*owned*/) {});
  }

  /// Gives all memory back.
  void Clear(state::StateMemory& memory) {
    for (const state::Block& block : blocks_) {
      memory.Release(block, state::Contents::kAny);
    }
    texts_.Release(memory);
    blocks_.clear();
    size_ = 0;
  }

  std::size_t block_count() const { return blocks_.size(); }
  /// The records of a block.
  std::span<const R> block(std::size_t number) const {
    return {Data(number), std::min(kRecordsOfBlock, size_ - number * kRecordsOfBlock)};
  }

  std::size_t size() const { return size_; }
  std::size_t text_bytes() const { return texts_.size_bytes(); }

 private:
  static constexpr std::size_t kRecordsOfBlock = std::max<std::size_t>((std::size_t{256} << 10) / sizeof(R), 1);

  R* Data(std::size_t block) const { return reinterpret_cast<R*>(blocks_[block].data); }

  std::vector<state::Block> blocks_;
  std::size_t size_ = 0;
  [[no_unique_address]] state::ValueTexts<R> texts_;
};

}  // namespace glaive::engine
