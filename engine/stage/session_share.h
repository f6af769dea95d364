// SessionShare: the open sessions of some keys, with their tuples: of one stream, or of both sides of a join.
//
// A slice is read in whole. Its tuples are put together by key, and a key's tuples continue the open session if less
// than the gap lies between them. A session that the slice does not continue has ended. A slice costs a visit to its
// tuples and to the sessions of the slice before; the tuples of a session that goes on are only linked. A share of a
// table that is split (state/store/append_table.h) fits the cache with the slice's tuples, so its lookups and lists
// cost no cache misses of their own.
//
// Owned by a SessionTuples, used by its fiber. Of one stream there are no right tuples.
//
//   status = share.BeginSlice(memory, tuples);
//   status = share.AddLeft(memory, entries);               // groups, in any order; AddRight for the other side
//   status = share.EndSlice(memory, gap_ms, pause, ended);  // calls ended(session)
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/stage/join_tuples.h"
#include "state/index/key_hash.h"
#include "state/log/entry_log.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/record/record.h"
#include "state/store/tuple_lists.h"

namespace glaive::engine {

template <typename Plan>
class SessionShare {
 public:
  using Key = typename Plan::GroupKey;
  using LeftTuples = state::TupleLists<typename Plan::Left::Tuple>;
  using RightTuples = state::TupleLists<typename Plan::Right::Tuple>;
  using LeftEntry = typename Plan::Left::Store::Table::Entry;
  using RightEntry = typename Plan::Right::Store::Table::Entry;

  /// A session, or what the slice that is read has of it.
  struct Session {
    std::int64_t first_ms;
    std::int64_t last_ms;
    Key key;
    state::TupleList left;
    state::TupleList right;
    std::uint32_t next;  // of the same bucket, while the slice is read
  };

  /// Starts a slice that has so many tuples of both sides. ResourceExhausted past the budget.
  absl::Status BeginSlice(state::StateMemory& memory, std::uint64_t tuples) {
    const std::uint64_t buckets = std::bit_ceil(std::clamp(tuples, kFewestBuckets, kMostBuckets));
    const absl::StatusOr<state::Block> block = memory.Acquire(buckets * sizeof(std::uint32_t), state::Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    buckets_ = std::span(reinterpret_cast<std::uint32_t*>(block->data), buckets);
    std::ranges::fill(buckets_, kNone);
    hash_ = memory.key_hash();
    return slice_.MakeRoom(memory, std::min(open_.size(), static_cast<std::uint32_t>(tuples)));  // most likely
  }

  /// Takes at most some thousand tuples of the slice. ResourceExhausted past the budget.
  absl::Status AddLeft(state::StateMemory& memory, std::span<const LeftEntry> entries) {
    return Add(memory, entries, left_, &Session::left);
  }
  absl::Status AddRight(state::StateMemory& memory, std::span<const RightEntry> entries) {
    return Add(memory, entries, right_, &Session::right);
  }

  /// Ends the slice: calls `ended(session)`, which returns a status, for each session that was open before and does not
  /// go on, and gives its tuples' places back; until one is not OK, and returns that. `pause()` is called for each that
  /// was open, and may suspend the fiber. Returns how many go on.
  template <typename PauseFn, typename EndedFn>
  absl::StatusOr<std::uint64_t> EndSlice(state::StateMemory& memory, std::int64_t gap_ms, const PauseFn& pause,
                                         const EndedFn& ended) {
    std::uint64_t continued = 0;
    for (std::uint32_t number = 0; number < open_.size(); ++number) {
      pause();
      Session& session = open_.At(number);
      const std::uint32_t found = slice_.size() == 0 ? kNone : Find(session.key);
      if (found != kNone && slice_.At(found).first_ms - session.last_ms < gap_ms) {
        GoOn(session, slice_.At(found));
        ++continued;
        continue;
      }
      if (absl::Status status = ended(std::as_const(session)); !status.ok()) {
        return status;
      }
      left_.Drop(session.left);
      right_.Drop(session.right);
    }
    open_.Release(memory);
    open_keys_.Release(memory);
    std::swap(open_, slice_);
    std::swap(open_keys_, slice_keys_);
    memory.Release({.data = reinterpret_cast<std::byte*>(buckets_.data()), .size_bytes = buckets_.size_bytes()},
                   state::Contents::kAny);
    buckets_ = {};
    Gather(memory, left_, &Session::left, pause);
    Gather(memory, right_, &Session::right, pause);
    return continued;
  }

  /// Moves all sessions to others, between slices: `share_of(hash)` is where those of a key go. `pause()` is called for
  /// each tuple, and may suspend the fiber. ResourceExhausted past the budget.
  template <typename ShareOfFn, typename PauseFn>
  absl::Status MoveTo(state::StateMemory& memory, const ShareOfFn& share_of, const PauseFn& pause) {
    for (std::uint32_t number = 0; number < open_.size(); ++number) {
      Session session = open_.At(number);
      SessionShare& other = share_of(memory.key_hash()(session.key));
      absl::Status status = other.open_.MakeRoom(memory, 1);
      status.Update(other.open_keys_.MakeRoom(memory, TextBytes(session.key)));
      status.Update(other.left_.MakeRoom(memory, session.left.size, left_.TextBytesOf(session.left)));
      status.Update(other.right_.MakeRoom(memory, session.right.size, right_.TextBytesOf(session.right)));
      if (!status.ok()) {
        return status;
      }
      session.key = other.open_keys_.Own(session.key);
      session.left = CopyTuples(left_, session.left, other.left_, pause);
      session.right = CopyTuples(right_, session.right, other.right_, pause);
      other.open_.Append(session);
    }
    open_.Release(memory);
    open_keys_.Release(memory);
    left_.Release(memory);
    right_.Release(memory);
    return absl::OkStatus();
  }

  /// Whether no session is open.
  bool empty() const { return open_.size() == 0; }
  const LeftTuples& left() const { return left_; }
  const RightTuples& right() const { return right_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint64_t kFewestBuckets = 64;
  /// Clearing more would take long; with so many keys in one share, some others in the same bucket do not matter.
  static constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << 18;

  std::uint32_t& BucketOf(const Key& key) const { return buckets_[hash_(key) & (buckets_.size() - 1)]; }

  /// What the slice has of a key.
  std::uint32_t Find(const Key& key) const {
    std::uint32_t number = BucketOf(key);
    while (number != kNone && !(slice_.At(number).key == key)) {
      number = slice_.At(number).next;
    }
    return number;
  }

  template <typename Entry, typename Tuples>
  absl::Status Add(state::StateMemory& memory, std::span<const Entry> entries, Tuples& tuples,
                   state::TupleList Session::* list) {
    std::size_t text_bytes = 0;
    for (const Entry& entry : entries) {
      text_bytes += TextBytes(entry.value);
    }
    absl::Status status = tuples.MakeRoom(memory, static_cast<std::uint32_t>(entries.size()), text_bytes);
    status.Update(slice_.MakeRoom(memory, static_cast<std::uint32_t>(entries.size())));
    status.Update(slice_keys_.MakeRoomFor(memory, entries));
    if (!status.ok()) {
      return status;
    }
    for (const Entry& entry : entries) {
      const auto& timed = entry.value.tuple;
      std::uint32_t number = Find(entry.key);
      if (number == kNone) {
        std::uint32_t& bucket = BucketOf(entry.key);
        number = slice_.Append({.first_ms = timed.time_ms,
                                .last_ms = timed.time_ms,
                                .key = slice_keys_.Own(entry.key),
                                .left = {},
                                .right = {},
                                .next = bucket});
        bucket = number;
      }
      Session& session = slice_.At(number);
      session.first_ms = std::min(session.first_ms, timed.time_ms);
      session.last_ms = std::max(session.last_ms, timed.time_ms);
      if constexpr (Plan::kTimedTuples) {
        tuples.Push(session.*list, timed);
      } else {
        tuples.Push(session.*list, timed.tuple);
      }
    }
    return absl::OkStatus();
  }

  void GoOn(Session& session, Session& part) {
    part.first_ms = session.first_ms;
    left_.Concatenate(session.left, part.left);
    right_.Concatenate(session.right, part.right);
    part.left = session.left;
    part.right = session.right;
  }

  template <typename Tuples, typename PauseFn>
  void Gather(state::StateMemory& memory, Tuples& tuples, state::TupleList Session::* list, const PauseFn& pause) {
    GatherTuples(
        memory, tuples,
        [&](const auto& move) {
          for (std::uint32_t number = 0; number < open_.size(); ++number) {
            pause();
            move(open_.At(number).*list);
          }
        },
        pause);
  }

  state::EntryLog<Session> open_;   // sessions with records in the slice that was read last
  state::EntryLog<Session> slice_;  // what the slice that is read has, linked from the buckets
  [[no_unique_address]] state::TextLog<Key> open_keys_;
  [[no_unique_address]] state::TextLog<Key> slice_keys_;
  std::span<std::uint32_t> buckets_;
  state::KeyHash hash_;  // the run's, once a slice has begun
  LeftTuples left_;
  RightTuples right_;
};

}  // namespace glaive::engine
