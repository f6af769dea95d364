// TwoStacks: for each key, the aggregate of the pieces of a stream that still count, as pieces come and go.
//
// Each piece is a table of {key, value} that counts until a given time. Pieces come in the order in which they leave,
// apart from rare ones. A value need not be invertible: pieces that have left are never subtracted. It is the
// two-stacks algorithm (Tangwongsan et al., VLDB 2015, section 2.2) over tables instead of values:
//
//   back   pieces that came since the last flip; one table has the aggregate of all of them for each key
//   front  older pieces; the same table has their aggregate, too. Each of their entries has the aggregate once the
//          piece has left
//
// When a back piece leaves and the front is empty, all move to the front, the newest first (a flip). So for each of its
// keys a piece is merged once when it comes and once when it flips, and each key of the result once: at most three
// merges a key and step, however many pieces count. A piece that leaves costs a copy for each of its keys.
//
// A piece may come out of turn, to leave before one that is there. It is merged into the piece that leaves with it, or
// is put in its place if there is none. So there are never more pieces than times to leave at, twice over. A piece out
// of turn costs a lookup for each of its keys, and in the front one in each piece that leaves earlier, and as many
// merges at most.
//
// Owned by one executor, used by its thread alone. Work is done in steps, so that the executor can turn to other
// things:
//
//   stacks.Advance(window);                                   // pieces that count until before it leave
//   stacks.Push(std::move(table), last_window);
//   while (!*stacks.Work(4096)) Yield();
//   for (const auto& entry : stacks.Run(0)) if (stacks.Holds(entry)) Emit(entry.key, stacks.ValueOf(entry));
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/crdt/crdt.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/store/slice_table.h"

namespace glaive::state {

/// See the head of this file.
template <StateKey K, CrdtValue V>
class TwoStacks {
 public:
  using Table = SliceTable<K, V>;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  /// A key's aggregates over the front and the back pieces, and until when the last of these counts.
  struct Sides {
    using Members = std::tuple<V, V>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("front", self.front);
      visit("back", self.back);
    }

    V front{};
    V back{};
    std::int64_t front_until = kNever;
    std::int64_t back_until = kNever;
  };
  using Entry = typename SliceTable<K, Sides>::Entry;

  /// `memory` outlives it. What is still held at the end goes with the memory.
  explicit TwoStacks(StateMemory& memory) : memory_(&memory) {}

  /// From now on only pieces that count until `now` or longer do. It never goes back; all work was done before.
  void Advance(std::int64_t now) { now_ = now; }
  /// Adds a piece, which counts until `until`, and takes its memory over.
  void Push(Table piece, std::int64_t until) {
    until_ = std::max(until_, until);
    incoming_.push_back({std::move(piece), until});
  }

  /// Does what Advance and Push have left to do, for about so many entries. True when nothing is left: only then ask
  /// for results. ResourceExhausted past the budget.
  absl::StatusOr<bool> Work(std::size_t entries);

  /// The keys from number `first` on to the end of a contiguous run; empty behind the last. Some may count no more.
  std::span<const Entry> Run(std::uint32_t first) const { return keys_.Run(first); }
  bool Holds(const Entry& entry) const { return std::max(entry.value.front_until, entry.value.back_until) >= now_; }
  /// The aggregate of a key that Holds. The reference is valid until ValueOf or Work is called again. A value that is
  /// returned by copy would have its parts stored one by one and read as a vector: the load would wait for the stores.
  const V& ValueOf(const Entry& entry) {
    const Sides& sides = entry.value;
    if (sides.front_until < now_) {
      return sides.back;
    }
    if (sides.back_until < now_) {
      return sides.front;
    }
    both_ = sides.front;
    Merge(both_, sides.back);
    return both_;
  }

  /// Until when the last piece counts; kNever before the first.
  std::int64_t until() const { return until_; }
  /// Merges of two values so far.
  std::uint64_t merges() const { return merges_; }

 private:
  struct Piece {
    Table table;
    std::int64_t until;
  };
  struct Item {
    std::uint64_t hash;
    K key;
    V* value;
  };

  /// How far the piece that is being worked on has come.
  enum class Progress : std::uint8_t { kMore, kDone };

  void Merge(V& value, const V& other) {
    value.Merge(other);
    ++merges_;
  }

  /// Adds a value to one side of a key, or takes its place if nothing on that side counts any more.
  void Join(V& side, std::int64_t& side_until, const V& value, std::int64_t until) {
    if (side_until == kNever || side_until < now_) {
      side = value;
    } else {
      Merge(side, value);
    }
    side_until = std::max(side_until, until);
  }

  absl::StatusOr<Progress> WorkOnNext(std::size_t& entries);
  absl::Status StartFlip();
  template <typename Applier>
  absl::StatusOr<Progress> ForEach(Piece& piece, std::size_t& entries, const Applier& apply);

  void Pop(Sides& sides, const Item& item) { sides.front = *item.value; }
  absl::Status Flip(Sides& sides, const Item& item, Piece& piece);
  absl::Status MergeInto(Piece& resident, const Item& item);
  absl::Status InsertInFront(Sides& sides, const Item& item, Piece& piece, Piece* resident);
  absl::StatusOr<Progress> TakeIn(std::size_t& entries);

  /// Where a piece that leaves at `until` belongs: before all that leave later.
  static auto PlaceOf(std::deque<Piece>& pieces, std::int64_t until) {
    return std::upper_bound(pieces.begin(), pieces.end(), until,
                            [](std::int64_t time, const Piece& other) { return time < other.until; });
  }

  StateMemory* memory_;
  SliceTable<K, Sides> keys_;
  bool has_keys_ = false;  // keys_ was created
  std::deque<Piece> front_;
  std::deque<Piece> back_;
  std::deque<Piece> incoming_;
  bool flipping_ = false;     // back_'s last piece goes next
  std::uint32_t cursor_ = 0;  // entry of the piece that is being worked on
  std::int64_t now_ = kNever;
  std::int64_t until_ = kNever;
  std::uint64_t merges_ = 0;
  V both_{};  // ValueOf's result where both sides count
};

template <StateKey K, CrdtValue V>
absl::StatusOr<bool> TwoStacks<K, V>::Work(std::size_t entries) {
  if (!has_keys_) {
    auto keys = SliceTable<K, Sides>::Create(*memory_, incoming_.empty() ? 0 : incoming_.front().table.size());
    if (!keys.ok()) {
      return keys.status();
    }
    keys_ = *std::move(keys);
    has_keys_ = true;
  }
  if (memory_->TouchSome(memory_->thresholds().cleaned_bytes_per_turn)) {
    return false;
  }
  const auto expired = [this](const std::deque<Piece>& pieces) {
    return !pieces.empty() && pieces.front().until < now_;
  };
  while (flipping_ || expired(front_) || expired(back_) || !incoming_.empty()) {
    const absl::StatusOr<Progress> progress = WorkOnNext(entries);
    if (!progress.ok()) {
      return progress.status();
    }
    if (*progress == Progress::kMore || memory_->has_untouched()) {
      return false;
    }
  }
  return true;
}

// One piece: first those that leave, then those that come.
template <StateKey K, CrdtValue V>
absl::StatusOr<typename TwoStacks<K, V>::Progress> TwoStacks<K, V>::WorkOnNext(std::size_t& entries) {
  absl::StatusOr<Progress> progress = Progress::kDone;
  if (flipping_) {
    if (back_.empty()) {
      flipping_ = false;
      return Progress::kDone;
    }
    Piece& piece = back_.back();
    absl::Status status;
    progress =
        ForEach(piece, entries, [&](Sides& sides, const Item& item) { status.Update(Flip(sides, item, piece)); });
    if (!status.ok()) {
      return status;
    }
    if (progress.ok() && *progress == Progress::kDone) {
      front_.push_front(std::move(piece));
      back_.pop_back();
    }
  } else if (!front_.empty() && front_.front().until < now_) {
    progress = ForEach(front_.front(), entries, [&](Sides& sides, const Item& item) { Pop(sides, item); });
    if (progress.ok() && *progress == Progress::kDone) {
      front_.front().table.Release(*memory_);
      front_.pop_front();
    }
  } else if (!back_.empty() && back_.front().until < now_) {
    if (absl::Status status = StartFlip(); !status.ok()) {
      return status;
    }
  } else {
    progress = TakeIn(entries);
  }
  return progress;
}

// The oldest piece that has come. One that is out of turn is merged into another where it can be.
template <StateKey K, CrdtValue V>
absl::StatusOr<typename TwoStacks<K, V>::Progress> TwoStacks<K, V>::TakeIn(std::size_t& entries) {
  Piece& piece = incoming_.front();
  const bool in_front = !front_.empty() && piece.until <= front_.back().until;
  std::deque<Piece>& pieces = in_front ? front_ : back_;
  const auto place = PlaceOf(pieces, piece.until);
  const bool out_of_turn = in_front || place != pieces.end();
  const bool has_resident = out_of_turn && place != pieces.begin() && std::prev(place)->until == piece.until;
  Piece* const resident = has_resident ? &*std::prev(place) : nullptr;

  absl::Status status;
  const auto apply = [&](Sides& sides, const Item& item) {
    if (in_front) {
      status.Update(InsertInFront(sides, item, piece, resident));
      return;
    }
    Join(sides.back, sides.back_until, *item.value, piece.until);
    if (resident != nullptr) {
      status.Update(MergeInto(*resident, item));
    }
  };
  // In the front an entry costs a lookup in every piece.
  std::size_t budget = in_front ? std::max<std::size_t>(1, entries / (1 + front_.size())) : entries;
  absl::StatusOr<Progress> progress = ForEach(piece, budget, apply);
  entries = in_front ? 0 : budget;
  if (!progress.ok() || !status.ok()) {
    return progress.ok() ? status : progress.status();
  }
  if (*progress == Progress::kDone) {
    if (resident != nullptr) {
      piece.table.Release(*memory_);
    } else {
      pieces.insert(place, std::move(piece));
    }
    incoming_.pop_front();
  }
  return progress;
}

template <StateKey K, CrdtValue V>
absl::Status TwoStacks<K, V>::MergeInto(Piece& resident, const Item& item) {
  return resident.table.ApplyOne(*memory_, item.hash, item.key, [&](V& value) { Merge(value, *item.value); });
}

// The front is empty. Back pieces that have expired go, and the table of keys starts anew from those that have not.
template <StateKey K, CrdtValue V>
absl::Status TwoStacks<K, V>::StartFlip() {
  while (!back_.empty() && back_.front().until < now_) {
    back_.front().table.Release(*memory_);
    back_.pop_front();
  }
  // The new one first: it gets the memory of the one before this, which was cleaned meanwhile.
  auto fresh = SliceTable<K, Sides>::Create(*memory_, back_.empty() ? 0 : keys_.size());
  if (!fresh.ok()) {
    return fresh.status();
  }
  keys_.Release(*memory_);
  keys_ = *std::move(fresh);
  flipping_ = true;
  return absl::OkStatus();
}

// Calls `apply(sides of the key, item)` for the next entries of the piece, at most so many and fewer from then on, in
// groups whose cache misses overlap.
template <StateKey K, CrdtValue V>
template <typename Applier>
absl::StatusOr<typename TwoStacks<K, V>::Progress> TwoStacks<K, V>::ForEach(Piece& piece, std::size_t& entries,
                                                                            const Applier& apply) {
  const std::uint32_t first = cursor_;
  const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece.table.size(), cursor_ + entries));
  while (cursor_ < end) {
    std::array<Item, kGroupSize> items;
    std::size_t count = 0;
    for (; count < items.size() && cursor_ < end; ++count, ++cursor_) {
      auto& entry = piece.table.At(cursor_);
      items[count] = Item{.hash = memory_->key_hash()(entry.key), .key = entry.key, .value = &entry.value};
    }
    const std::span<const Item> group(items.data(), count);
    if (absl::Status status = keys_.Apply(*memory_, group, apply); !status.ok()) {
      return status;
    }
    if (memory_->has_untouched()) [[unlikely]] {
      break;  // Work goes on when the growing table has pages
    }
  }
  entries -= cursor_ - first;
  if (cursor_ < piece.table.size()) {
    return Progress::kMore;
  }
  cursor_ = 0;
  return Progress::kDone;
}

// The texts that an entry gives up can be read until the next change of its table: until the next item at least.
template <StateKey K, CrdtValue V>
absl::Status TwoStacks<K, V>::Flip(Sides& sides, const Item& item, Piece& piece) {
  const V later = sides.front;  // of the pieces that leave later
  Join(sides.front, sides.front_until, *item.value, piece.until);
  return piece.table.Change(*memory_, *item.value, [&](V& value) { value = later; });
}

// A key that is in a piece which leaves at the same time has there what its front will be after that. Of another key it
// is what the newest piece that leaves earlier says, or the front itself.
template <StateKey K, CrdtValue V>
absl::Status TwoStacks<K, V>::InsertInFront(Sides& sides, const Item& item, Piece& piece, Piece* resident) {
  V later = sides.front_until >= now_ ? sides.front : V{};
  bool leaves_with_another = false;
  absl::Status status;
  for (Piece& other : front_) {
    if (other.until > piece.until || leaves_with_another) {
      break;
    }
    V* const saved = other.table.Find(item.hash, item.key);
    leaves_with_another = saved != nullptr && other.until == piece.until;
    if (saved != nullptr && other.until < piece.until) {
      later = *saved;
      status.Update(other.table.Change(*memory_, *saved, [&](V& value) { Merge(value, *item.value); }));
    }
  }
  Join(sides.front, sides.front_until, *item.value, piece.until);
  if (resident == nullptr) {
    status.Update(piece.table.Change(*memory_, *item.value, [&](V& value) { value = later; }));
    return status;
  }
  if (leaves_with_another || !status.ok()) {
    return status;
  }
  return resident->table.ApplyOne(*memory_, item.hash, item.key, [&](V& value) { value = later; });
}

}  // namespace glaive::state
