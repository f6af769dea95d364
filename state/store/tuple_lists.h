// TupleLists: lists of tuples of any number of keys, in one log: what a key's tuples are kept in once they have been
// put together.
//
// A list is closed to a ring, so that adding to it and joining two of them take constant time. What a list gives back
// is used by others. Owned by one executor, used by its thread alone.
//
// Costs: a tuple takes its size and 4 bytes; walking a list may miss the cache once a tuple.
//
//   TupleLists<Offer> lists;
//   TupleList offers;                              // of one key
//   status = lists.MakeRoom(memory, 1);
//   lists.Push(offers, offer);
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "state/log/entry_log.h"
#include "state/log/state_memory.h"

namespace glaive::state {

/// One list; its tuples are in a TupleLists.
struct TupleList {
  std::uint32_t last = 0;  // the one before the first
  std::uint32_t size = 0;
};

template <typename T>
class TupleLists {
 public:
  /// Makes sure that `tuples` more can be pushed. ResourceExhausted past the budget.
  absl::Status MakeRoom(StateMemory& memory, std::uint32_t tuples) {
    return free_.size >= tuples ? absl::OkStatus() : log_.MakeRoom(memory, tuples - free_.size);
  }

  /// Appends to a list, into room that MakeRoom made.
  void Push(TupleList& list, const T& tuple) {
    const std::uint32_t number = TakeFree(tuple);
    Node& node = log_.At(number);
    if (list.size == 0) {
      node.next = number;
    } else {
      node.next = std::exchange(log_.At(list.last).next, number);
    }
    list.last = number;
    ++list.size;
  }

  /// Moves what `more` has behind what `list` has.
  void Concatenate(TupleList& list, TupleList& more) {
    if (list.size == 0 || more.size == 0) {
      list = list.size == 0 ? more : list;
    } else {
      std::swap(log_.At(list.last).next, log_.At(more.last).next);
      list.last = more.last;
      list.size += more.size;
    }
    more = {};
  }

  /// Empties a list; its places are used again.
  void Free(TupleList& list) { Concatenate(free_, list); }

  /// Gives the memory back if no list has a tuple.
  void ReleaseIfEmpty(StateMemory& memory) {
    if (size() == 0) {
      log_.Release(memory);
      free_ = {};
    }
  }

  /// Calls `visit(tuple)` for each, from the first to the last, until it returns an error; returns that.
  template <typename Visit>
  absl::Status ForEach(const TupleList& list, const Visit& visit) const {
    std::uint32_t number = list.last;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      number = log_.At(number).next;
      if (absl::Status status = visit(log_.At(number).tuple); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  /// Tuples in all lists, and the bytes of the log.
  std::uint64_t size() const { return log_.size() - free_.size; }
  std::uint64_t size_bytes() const { return log_.size_bytes(); }

 private:
  struct Node {
    T tuple;
    std::uint32_t next;
  };

  std::uint32_t TakeFree(const T& tuple) {
    if (free_.size == 0) {
      return log_.Append(Node{.tuple = tuple, .next = 0});
    }
    const std::uint32_t number = log_.At(free_.last).next;
    log_.At(free_.last).next = log_.At(number).next;
    --free_.size;
    log_.At(number).tuple = tuple;
    return number;
  }

  EntryLog<Node> log_;
  TupleList free_;
};

}  // namespace glaive::state
