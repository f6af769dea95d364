// TwoStacks: for each key, the aggregate of those pieces of a stream that still count, as pieces come and go.
//
// Each piece is a table of {key, value} that counts until a given time. Pieces come in the order in which they leave,
// apart from rare ones. A value need not be invertible: what is gone is never subtracted. It is the two-stacks
// algorithm (Tangwongsan et al., VLDB 2015, section 2.2) over tables instead of values:
//
//   back   pieces that came since the last flip; one table has the aggregate of all of them for each key
//   front  older pieces; the same table has their aggregate, too, and each of their entries what that will be once the
//          piece has left
//
// When a back piece leaves and the front is empty, all move to the front, the newest first (a flip). So for each of its
// keys a piece is merged once when it comes and once when it flips, and each key of the result once: at most three
// merges a key and step, however many pieces count. A piece that leaves costs copies.
//
// A piece that comes out of turn, to leave before one that is there, is put in its place: that costs a lookup for each
// of its keys in each piece that leaves earlier.
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
#include <limits>
#include <span>
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
    V front{};
    V back{};
    std::int64_t front_until = kNever;
    std::int64_t back_until = kNever;
  };
  using Entry = typename SliceTable<K, Sides>::Entry;

  /// `memory` outlives it. What is still held at the end goes with the memory.
  explicit TwoStacks(StateMemory& memory) : memory_(&memory) {}

  /// From now on only pieces that count until `now` or longer do. It never goes back.
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
  /// The aggregate of a key that Holds.
  V ValueOf(const Entry& entry) {
    const Sides& sides = entry.value;
    if (sides.front_until < now_) {
      return sides.back;
    }
    V value = sides.front;
    if (sides.back_until >= now_) {
      Merge(value, sides.back);
    }
    return value;
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

  absl::StatusOr<Progress> WorkOnNext(std::size_t& entries);
  absl::Status StartFlip();
  template <typename Applier>
  absl::StatusOr<Progress> ForEach(Piece& piece, std::size_t& entries, const Applier& apply);

  void Pop(Sides& sides, const Item& item) { sides.front = *item.value; }
  void Flip(Sides& sides, const Item& item, std::int64_t until);
  void Add(Sides& sides, const Item& item, std::int64_t until);
  void InsertInFront(Sides& sides, const Item& item, std::int64_t until);
  bool BelongsInFront(std::int64_t until) const { return !front_.empty() && until <= front_.back().until; }

  static void Insert(std::deque<Piece>& pieces, Piece piece) {
    const auto place = std::upper_bound(pieces.begin(), pieces.end(), piece.until,
                                        [](std::int64_t until, const Piece& other) { return until < other.until; });
    pieces.insert(place, std::move(piece));
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
  const auto expired = [this](const std::deque<Piece>& pieces) {
    return !pieces.empty() && pieces.front().until < now_;
  };
  while (flipping_ || expired(front_) || expired(back_) || !incoming_.empty()) {
    const absl::StatusOr<Progress> progress = WorkOnNext(entries);
    if (!progress.ok()) {
      return progress.status();
    }
    if (*progress == Progress::kMore) {
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
    progress = ForEach(piece, entries, [&](Sides& sides, const Item& item) { Flip(sides, item, piece.until); });
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
    Piece& piece = incoming_.front();
    const bool in_front = BelongsInFront(piece.until);
    progress = ForEach(piece, entries, [&](Sides& sides, const Item& item) {
      in_front ? InsertInFront(sides, item, piece.until) : Add(sides, item, piece.until);
    });
    if (progress.ok() && *progress == Progress::kDone) {
      Insert(in_front ? front_ : back_, std::move(piece));
      incoming_.pop_front();
    }
  }
  return progress;
}

// The front is empty. Back pieces that have expired go, and the table of keys starts anew from those that have not.
template <StateKey K, CrdtValue V>
absl::Status TwoStacks<K, V>::StartFlip() {
  while (!back_.empty() && back_.front().until < now_) {
    back_.front().table.Release(*memory_);
    back_.pop_front();
  }
  const std::uint32_t keys = keys_.size();
  keys_.Release(*memory_);
  has_keys_ = false;
  auto fresh = SliceTable<K, Sides>::Create(*memory_, back_.empty() ? 0 : keys);
  if (!fresh.ok()) {
    return fresh.status();
  }
  keys_ = *std::move(fresh);
  has_keys_ = true;
  flipping_ = true;
  return absl::OkStatus();
}

// Calls `apply(sides of the key, item)` for the next entries of the piece, at most so many and fewer from then on, in
// groups whose cache misses overlap.
template <StateKey K, CrdtValue V>
template <typename Applier>
absl::StatusOr<typename TwoStacks<K, V>::Progress> TwoStacks<K, V>::ForEach(Piece& piece, std::size_t& entries,
                                                                            const Applier& apply) {
  const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece.table.size(), cursor_ + entries));
  entries -= end - cursor_;
  while (cursor_ < end) {
    std::array<Item, kGroupSize> items;
    std::size_t count = 0;
    for (; count < items.size() && cursor_ < end; ++count, ++cursor_) {
      auto& entry = piece.table.At(cursor_);
      items[count] = Item{.hash = HashKey(entry.key), .key = entry.key, .value = &entry.value};
    }
    const std::span<const Item> group(items.data(), count);
    if (absl::Status status = keys_.Apply(*memory_, group, apply); !status.ok()) {
      return status;
    }
  }
  if (cursor_ < piece.table.size()) {
    return Progress::kMore;
  }
  cursor_ = 0;
  return Progress::kDone;
}

template <StateKey K, CrdtValue V>
void TwoStacks<K, V>::Flip(Sides& sides, const Item& item, std::int64_t until) {
  const V later = sides.front;  // of the pieces that leave later
  if (sides.front_until == kNever) {
    sides.front = *item.value;
  } else {
    Merge(sides.front, *item.value);
  }
  *item.value = later;
  sides.front_until = std::max(sides.front_until, until);
}

template <StateKey K, CrdtValue V>
void TwoStacks<K, V>::Add(Sides& sides, const Item& item, std::int64_t until) {
  if (sides.back_until == kNever) {
    sides.back = *item.value;
  } else {
    Merge(sides.back, *item.value);
  }
  sides.back_until = std::max(sides.back_until, until);
}

// What the key's front will be once this piece has left: that of the newest among the pieces that leave earlier.
template <StateKey K, CrdtValue V>
void TwoStacks<K, V>::InsertInFront(Sides& sides, const Item& item, std::int64_t until) {
  V later = sides.front_until >= now_ ? sides.front : V{};
  for (Piece& piece : front_) {
    if (piece.until > until) {
      break;
    }
    if (V* const saved = piece.table.Find(item.hash, item.key); saved != nullptr) {
      later = *saved;
      Merge(*saved, *item.value);
    }
  }
  if (sides.front_until >= now_) {
    Merge(sides.front, *item.value);
  } else {
    sides.front = *item.value;
  }
  sides.front_until = std::max(sides.front_until, until);
  *item.value = later;
}

}  // namespace glaive::state
