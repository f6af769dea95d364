// DistinctResults: where the state has an entry for each element of a key, counts the elements of each key.
//
// Around one of the kinds of results that a WindowTrigger is made of; see there. It has to emit each element of a
// window once: the counts are made anew for each window, in a table of the state's budget.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/window/windows.h"
#include "state/crdt/count.h"
#include "state/index/key_hash.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

template <typename Plan, typename Elements>
class DistinctResults {
 public:
  DistinctResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : memory_(context.memory), elements_(context, windows, store) {}

  bool has_more(std::int64_t fired) const { return elements_.has_more(fired); }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    absl::StatusOr<Table> counts = Table::Create(*memory_, last_keys_);
    if (!counts.ok()) {
      return counts.status();
    }
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    std::uint64_t counted = 0;
    const auto count = [&](std::int64_t start, std::int64_t end, const typename Plan::Key& key, bool) {
      start_ms = start;
      end_ms = end;
      if (++counted % kStep == 0) {
        fiber.Yield();
      }
      const GroupKey group = key.group();
      staged_[staged_count_++] = Item{.hash = state::HashKey(group), .key = group};
      return staged_count_ == staged_.size() ? CountStaged(*counts) : absl::OkStatus();
    };
    absl::Status status = elements_.Fire(fiber, window, count);
    if (status.ok()) {
      status = CountStaged(*counts);
    }
    for (std::uint32_t i = 0; status.ok() && i < counts->size(); ++i) {
      const auto& [key, value] = counts->At(i);
      status = emit(start_ms, end_ms, key, value.Result());
    }
    last_keys_ = counts->size();
    counts->Release(*memory_);
    return status;
  }

  std::uint64_t merges() const { return elements_.merges(); }

 private:
  using GroupKey = typename Plan::GroupKey;
  using Table = state::SliceTable<GroupKey, state::CountValue>;
  struct Item {
    std::uint64_t hash;
    GroupKey key;
  };

  static constexpr std::uint64_t kStep = 4096;  // elements counted in a turn

  absl::Status CountStaged(Table& counts) {
    const std::span<const Item> items(staged_.data(), staged_count_);
    staged_count_ = 0;
    return counts.Apply(*memory_, items, [](state::CountValue& value, const Item&) { ++value.count; });
  }

  state::StateMemory* memory_;
  Elements elements_;
  std::uint64_t last_keys_ = 0;
  std::size_t staged_count_ = 0;
  std::array<Item, state::kGroupSize> staged_;
};

}  // namespace glaive::engine
