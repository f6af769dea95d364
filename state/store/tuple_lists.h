// TupleLists: lists of tuples of any number of keys, in one log. A key's tuples are in a list once they have been put
// together.
//
// A list is closed to a ring, so that adding to it and joining two of them take constant time. Tuples are appended to
// the log in the order of their arrival, and dropped tuples leave their places empty. A list of free places would cost
// a cache miss each. Once most places are empty, the owner moves the remaining lists to another TupleLists. Owned by
// one executor, used by its thread alone.
//
// The texts of tuples are in memory of the lists' own. Dropped ones stay there as the tuples do.
//
// Costs: a tuple takes its size and 4 bytes; walking a list may miss the cache once a tuple. Moving costs nothing more
// than dropping does, since as many tuples at least have been dropped.
//
//   TupleLists<Offer> lists;
//   TupleList offers;                              // of one key
//   status = lists.MakeRoom(memory, 1, TextBytes(offer));
//   lists.Push(offers, offer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "state/log/entry_log.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/record/record.h"

namespace glaive::state {

/// One list; its tuples are in a TupleLists.
struct TupleList {
  std::uint32_t last = 0;  // the one before the first
  std::uint32_t size = 0;
};

template <typename T>
class TupleLists {
 public:
  /// Makes sure that `tuples` more can be pushed, whose texts refer to `text_bytes`. ResourceExhausted past the budget.
  absl::Status MakeRoom(StateMemory& memory, std::uint32_t tuples, std::size_t text_bytes = 0) {
    absl::Status status = log_.MakeRoom(memory, tuples);
    status.Update(texts_.MakeRoom(memory, text_bytes));
    return status;
  }

  /// Appends to a list, into room that MakeRoom made.
  void Push(TupleList& list, const T& tuple) {
    const std::uint32_t number = log_.size();
    std::uint32_t next = number;
    if (list.size != 0) {
      next = std::exchange(log_.At(list.last).next, number);
    }
    log_.Append(Link{.tuple = texts_.Own(tuple), .next = next});
    text_bytes_ += TextBytes(tuple);
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

  /// Forgets a list's tuples.
  void Drop(TupleList& list) {
    dropped_ += list.size;
    dropped_text_bytes_ += TextBytesOf(list);
    list = {};
  }
  /// Whether more than half of the log, or of the texts, has been dropped.
  bool IsSparse() const { return dropped_ > log_.size() / 2 || dropped_text_bytes_ > text_bytes_ / 2; }

  /// Gives the memory back, whatever the lists have.
  void Release(StateMemory& memory) {
    log_.Release(memory);
    texts_.Release(memory);
    dropped_ = 0;
    text_bytes_ = 0;
    dropped_text_bytes_ = 0;
  }

  /// Calls `visit(tuple)` for each, from the first to the last, until it returns an error; returns that.
  template <typename Visit>
  absl::Status ForEach(const TupleList& list, const Visit& visit) const {
    return Walk(log_, list, visit);
  }
  /// The same for a visitor that changes tuples, but none of their texts.
  template <typename Visit>
  absl::Status ForEach(const TupleList& list, const Visit& visit) {
    return Walk(log_, list, visit);
  }

  /// The bytes that the texts of a list's tuples refer to. Walks the list if there may be any.
  std::size_t TextBytesOf(const TupleList& list) const {
    std::size_t bytes = 0;
    if constexpr (kHasText<T>) {
      ForEach(list, [&bytes](const T& tuple) {
        bytes += TextBytes(tuple);
        return absl::OkStatus();
      }).IgnoreError();
    }
    return bytes;
  }

  /// Tuples in all lists, those that have been dropped, the bytes that the texts of the lists' refer to, and those of
  /// the log.
  std::uint32_t size() const { return log_.size() - dropped_; }
  std::uint32_t dropped() const { return dropped_; }
  std::uint64_t text_bytes() const { return text_bytes_ - dropped_text_bytes_; }
  std::uint64_t size_bytes() const { return log_.size_bytes() + texts_.size_bytes(); }

 private:
  struct Link {
    T tuple;
    std::uint32_t next;
  };

  template <typename Log, typename Visit>
  static absl::Status Walk(Log& log, const TupleList& list, const Visit& visit) {
    std::uint32_t number = list.last;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      number = log.At(number).next;
      if (absl::Status status = visit(log.At(number).tuple); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  EntryLog<Link> log_;
  [[no_unique_address]] TextLog<T> texts_;  // of the log's tuples
  std::uint32_t dropped_ = 0;               // of these
  std::uint64_t text_bytes_ = 0;            // of the log's tuples
  std::uint64_t dropped_text_bytes_ = 0;    // of these
};

}  // namespace glaive::state
