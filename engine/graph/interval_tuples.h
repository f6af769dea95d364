// IntervalTuples: the tuples of an interval join on one executor, by event time and key.
//
//    bucket     │   7 · width   │   8 · width   │   9 · width   │
//               │ key ► left,   │ key ► left,   │ key ► left,   │   event time ──►
//               │       right   │       right   │       right   │
//    partners of a tuple  x  lie here: [─────────────]
//
// A bucket has the tuples of a stretch of event time, which is as wide as the interval in which partners lie. So the
// partners of a tuple are in two buckets at most. Once no later tuple can have a partner in a bucket, all of it is
// dropped at once, and no list of single tuples has to be cleared.
//
// A bucket is a table of keys, each with a list of left and of right tuples in the order of their arrival. Tuples take
// their size, their event time, a flag and a link. Texts are copied.
//
// Owned by an IntervalJoinOperator, used by its fiber. Errors are ResourceExhausted past the budget of the state.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"
#include "state/store/slice_table.h"
#include "state/store/table_counts.h"
#include "state/store/tuple_lists.h"

namespace glaive::engine {

/// A tuple with its event time, and whether it has met a partner.
template <typename T>
struct IntervalTuple {
  using Members = std::tuple<std::int64_t, T, bool>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.tuple);
  }

  std::int64_t time_ms = 0;
  T tuple{};
  bool has_met = false;
};

/// `Left` and `Right` are the kept parts of the records.
template <typename Key, typename Left, typename Right>
class IntervalTuples {
 public:
  using LeftTuple = IntervalTuple<Left>;
  using RightTuple = IntervalTuple<Right>;
  /// The tuples of a key in a bucket.
  struct Part {
    state::TupleList left;
    state::TupleList right;
  };
  using Table = state::SliceTable<Key, Part>;
  struct Bucket {
    Table table;
    state::TupleLists<LeftTuple> left;
    state::TupleLists<RightTuple> right;

    void Release(state::StateMemory& memory) {
      table.Release(memory);
      left.Release(memory);
      right.Release(memory);
    }
  };

  /// `width_ms` > 0.
  explicit IntervalTuples(std::int64_t width_ms) : width_ms_(width_ms) {}

  /// The number of the bucket of an event time.
  std::int64_t NumberOf(std::int64_t time_ms) const {
    const std::int64_t number = time_ms / width_ms_;
    return number * width_ms_ > time_ms ? number - 1 : number;
  }

  /// The bucket of a number, which is made if there is none. It stays where it is until it is dropped.
  absl::StatusOr<Bucket*> Open(state::StateMemory& memory, std::int64_t number) {
    if (const auto found = buckets_.find(number); found != buckets_.end()) {
      return &found->second;
    }
    absl::StatusOr<Table> table = Table::Create(memory, /*expected_keys=*/0);
    if (!table.ok()) {
      return table.status();
    }
    return &buckets_.emplace(number, Bucket{.table = *std::move(table), .left = {}, .right = {}}).first->second;
  }

  /// Calls `visit(number, bucket)` for the buckets with event times from `first_ms` to `last_ms`.
  template <typename Visit>
  void ForEachBetween(std::int64_t first_ms, std::int64_t last_ms, const Visit& visit) {
    const std::int64_t last = NumberOf(last_ms);
    for (auto bucket = buckets_.lower_bound(NumberOf(first_ms)); bucket != buckets_.end() && bucket->first <= last;
         ++bucket) {
      visit(bucket->first, bucket->second);
    }
  }

  /// Drops the buckets whose event times are all before `time_ms`, or all buckets. Calls `before(bucket)` on each
  /// first, which may suspend the fiber.
  template <typename Before>
  void DropBefore(state::StateMemory& memory, std::optional<std::int64_t> time_ms, const Before& before) {
    const std::int64_t first_left = time_ms ? NumberOf(*time_ms) : std::numeric_limits<std::int64_t>::max();
    while (!buckets_.empty() && buckets_.begin()->first < first_left) {
      Bucket& bucket = buckets_.begin()->second;
      before(bucket);
      counts_ += bucket.table.counts();
      left_size_ -= bucket.left.size();
      right_size_ -= bucket.right.size();
      bucket.Release(memory);
      buckets_.erase(buckets_.begin());
    }
  }

  /// Adds a tuple to the part of its key in its bucket, into room that MakeRoom of the bucket's lists has made.
  void PushLeft(Bucket& bucket, Part& part, const LeftTuple& tuple) {
    bucket.left.Push(part.left, tuple);
    ++left_size_;
  }
  void PushRight(Bucket& bucket, Part& part, const RightTuple& tuple) {
    bucket.right.Push(part.right, tuple);
    ++right_size_;
  }

  /// Tuples of the left and of the right stream in all buckets.
  std::uint64_t left_size() const { return left_size_; }
  std::uint64_t right_size() const { return right_size_; }
  /// Of the tables that have been dropped.
  const state::TableCounts& counts() const { return counts_; }

 private:
  std::int64_t width_ms_;
  std::map<std::int64_t, Bucket> buckets_;
  state::TableCounts counts_;
  std::uint64_t left_size_ = 0;
  std::uint64_t right_size_ = 0;
};

}  // namespace glaive::engine
