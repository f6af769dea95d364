// PendingUpdates: the updates that a chain has made of records and that the store has not taken yet, in the order of
// the records.
//
//   │ refused │ tried │ waiting │ room │
//
// Most updates wait for the store to take them all at once. A folder that folds ahead (state/store/folders.h) takes the
// oldest when their cells have had time to come into the cache; the ones that it refuses move to the front.
//
// Owned by a FoldLoop, used by its fiber. An array in place: no allocation.
//
//   *pending.end() = update, and pending.set_end(...);      // as often as there is room
//   pending.FoldOldest(16, folder);
//   store.Take(slice, pending.TakeAll());
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace glaive::engine {

template <typename Update, std::size_t kCapacity>
class PendingUpdates {
 public:
  /// Behind the last update. The caller writes updates there, up to the capacity, and calls set_end.
  Update* end() { return updates_.data() + end_; }
  void set_end(const Update* end) { end_ = static_cast<std::size_t>(end - updates_.data()); }

  bool empty() const { return refused_ == 0 && waiting() == 0; }
  /// Places that are no longer room.
  std::size_t used() const { return end_; }
  std::size_t waiting() const { return end_ - first_waiting_; }

  /// Has `folder` take the `count` oldest of those that wait.
  template <typename Folder>
  [[gnu::always_inline]] void FoldOldest(std::size_t count, Folder& folder) {
    std::size_t next = first_waiting_;
    for (const std::size_t end = next + count; next < end; ++next) {
      const Update update = updates_[next];
      if (!folder.TryFold(update.key, update.input)) [[unlikely]] {
        updates_[refused_++] = update;
      }
    }
    first_waiting_ = next;
  }

  /// All that were not folded, in their order; valid until the next update is written.
  std::span<Update> TakeAll() {
    const auto first = updates_.begin();
    if (refused_ < first_waiting_) {
      std::copy(first + static_cast<std::ptrdiff_t>(first_waiting_), first + static_cast<std::ptrdiff_t>(end_),
                first + static_cast<std::ptrdiff_t>(refused_));
    }
    const std::size_t count = refused_ + waiting();
    refused_ = first_waiting_ = end_ = 0;
    return std::span(updates_).first(count);
  }

 private:
  std::size_t refused_ = 0;
  std::size_t first_waiting_ = 0;
  std::size_t end_ = 0;
  std::array<Update, kCapacity> updates_;
};

}  // namespace glaive::engine
