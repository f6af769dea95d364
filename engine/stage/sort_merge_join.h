// SortMergeJoin: joins the tuples of a window by sorting both sides and reading them side by side.
//
//    left    17 17 42 58          the hashes of their keys, ascending
//    right   17 42 42    90
//            pairs       58 and 90 have no partner
//
// Both sides are sorted in memory of the state, which takes 32 bytes a tuple meanwhile: runs of kMostRunTuples at most
// are sorted each in one piece, then merged two by two (Graefe, "Query evaluation techniques", 1993, sections 3.1
// and 5.2). No index is built. Tuples whose keys share a hash are compared by their keys. A sliding window sorts all of
// its tuples, also those that the window before it had.
//
//   status = SortMergeJoin<typename Plan::Rows>(memory, left, right, log, [&] { pace.Step(fiber); }, emit_pair);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/take_first.h"
#include "engine/graph/join_rows.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

/// The tuples of one side, by the hashes of their keys. `Entry` has a `key`. Owned by its join, used by one fiber.
template <typename Entry>
class SortedTuples {
 public:
  struct Tuple {
    std::uint64_t hash;
    const Entry* entry;
  };

  /// Sorts one log of a WindowTuples. Calls `pause()` for each tuple as often as it is moved; it may suspend the fiber.
  /// ResourceExhausted past the budget.
  template <typename Side, typename PauseFn>
  static absl::StatusOr<SortedTuples> Sort(state::StateMemory& memory, const Side& side, std::size_t log,
                                           const PauseFn& pause) {
    const std::uint64_t count = side.arranged[log].tuples;
    const absl::StatusOr<state::Block> block =
        memory.Acquire(std::max<std::uint64_t>(2 * count, 1) * sizeof(Tuple), state::Contents::kAny);
    if (!block.ok()) {
      return block.status();
    }
    SortedTuples sorted(*block, count);
    const state::KeyHash hash = memory.key_hash();
    std::size_t next = 0;
    side.ForEach(log,
                 [&](const Entry& entry) {
                   pause();
                   sorted.tuples_[next++] = {.hash = hash(entry.key), .entry = &entry};
                   return absl::OkStatus();
                 })
        .IgnoreError();
    const std::size_t run_tuples = std::min<std::size_t>(kMostRunTuples, memory.thresholds().entries_per_turn);
    sorted.SortRuns(run_tuples, pause);
    for (std::size_t run = run_tuples; run < count; run *= 2) {
      sorted.MergeRuns(run, pause);
    }
    return sorted;
  }

  std::span<const Tuple> tuples() const { return tuples_; }
  void Release(state::StateMemory& memory) { memory.Release(block_, state::Contents::kAny); }

 private:
  /// About 50 µs of work, during which the fiber does not yield.
  static constexpr std::size_t kMostRunTuples = 1024;

  SortedTuples(state::Block block, std::size_t count)
      : block_(block), tuples_(reinterpret_cast<Tuple*>(block.data), count), merged_(tuples_.data() + count, count) {}

  static bool Precedes(const Tuple& a, const Tuple& b) { return a.hash < b.hash; }

  template <typename PauseFn>
  void SortRuns(std::size_t run_tuples, const PauseFn& pause) {
    for (std::span<Tuple> rest = tuples_; !rest.empty();) {
      const std::span<Tuple> run = TakeFirst(rest, run_tuples);
      std::ranges::sort(run, Precedes);
      std::ranges::for_each(run, [&](const Tuple&) { pause(); });
    }
  }

  /// Merges runs of `run` tuples, two by two.
  template <typename PauseFn>
  void MergeRuns(std::size_t run, const PauseFn& pause) {
    for (std::size_t first = 0; first < tuples_.size(); first += 2 * run) {
      const std::size_t middle = std::min(first + run, tuples_.size());
      const std::size_t end = std::min(middle + run, tuples_.size());
      std::size_t a = first;
      std::size_t b = middle;
      for (std::size_t out = first; out < end; ++out) {
        pause();
        const bool takes_a = b == end || (a < middle && !Precedes(tuples_[b], tuples_[a]));
        merged_[out] = tuples_[takes_a ? a++ : b++];
      }
    }
    std::swap(tuples_, merged_);
  }

  state::Block block_;  // of both spans
  std::span<Tuple> tuples_;
  std::span<Tuple> merged_;
};

/// The pairs of tuples of two sides that share a hash, and the tuples that have a row alone; see SortMergeJoin.
template <typename Rows, typename LeftTuple, typename RightTuple, typename PauseFn, typename EmitFn>
absl::Status JoinSameHash(std::span<const LeftTuple> left, std::span<const RightTuple> right, const PauseFn& pause,
                          const EmitFn& emit) {
  const decltype(LeftTuple::entry) no_left = nullptr;
  const decltype(RightTuple::entry) no_right = nullptr;
  for (const LeftTuple& one : left) {
    bool has_met = false;
    for (const RightTuple& other : right) {
      pause();
      if (one.entry->key == other.entry->key) {
        has_met = true;
        if constexpr (!Rows::kHasPairs) {
          break;
        } else if (absl::Status status = emit(one.entry, other.entry); !status.ok()) {
          return status;
        }
      }
    }
    pause();
    if (has_met ? Rows::kLeftAlone == Alone::kWithPartner : Rows::kLeftAlone == Alone::kWithoutPartner) {
      if (absl::Status status = emit(one.entry, no_right); !status.ok()) {
        return status;
      }
    }
  }
  if constexpr (Rows::kRightAlone == Alone::kWithoutPartner) {
    for (const RightTuple& other : right) {
      pause();
      if (std::ranges::none_of(left, [&](const LeftTuple& one) { return one.entry->key == other.entry->key; })) {
        if (absl::Status status = emit(no_left, other.entry); !status.ok()) {
          return status;
        }
      }
    }
  }
  return absl::OkStatus();
}

/// Joins one log of both sides, which are WindowTuples. Calls `emit(left, right)` for each pair, if pairs are results,
/// and with null in place of the other for a tuple that has a row alone. ResourceExhausted past the budget.
template <typename Rows, typename Left, typename Right, typename PauseFn, typename EmitFn>
absl::Status SortMergeJoin(state::StateMemory& memory, const Left& left, const Right& right, std::size_t log,
                           const PauseFn& pause, const EmitFn& emit) {
  using SortedLeft = SortedTuples<typename Left::Entry>;
  using SortedRight = SortedTuples<typename Right::Entry>;
  absl::StatusOr<SortedLeft> sorted_left = SortedLeft::Sort(memory, left, log, pause);
  if (!sorted_left.ok()) {
    return sorted_left.status();
  }
  absl::StatusOr<SortedRight> sorted_right = SortedRight::Sort(memory, right, log, pause);
  if (!sorted_right.ok()) {
    sorted_left->Release(memory);
    return sorted_right.status();
  }
  // Takes the tuples of a hash from the front of `rest`, which has none of a smaller one.
  const auto take = [&pause](auto& rest, std::uint64_t hash) {
    std::size_t count = 0;
    for (; count < rest.size() && rest[count].hash == hash; ++count) {
      pause();
    }
    const auto taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
  };
  absl::Status status;
  auto left_rest = sorted_left->tuples();
  auto right_rest = sorted_right->tuples();
  while (status.ok() && !(left_rest.empty() && right_rest.empty())) {
    const std::uint64_t hash = left_rest.empty()    ? right_rest.front().hash
                               : right_rest.empty() ? left_rest.front().hash
                                                    : std::min(left_rest.front().hash, right_rest.front().hash);
    const auto of_left = take(left_rest, hash);
    const auto of_right = take(right_rest, hash);
    status = JoinSameHash<Rows>(of_left, of_right, pause, emit);
  }
  sorted_left->Release(memory);
  sorted_right->Release(memory);
  return status;
}

}  // namespace glaive::engine
