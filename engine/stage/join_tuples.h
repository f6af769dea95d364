// JoinWindowKind: the counters that each window kind of a join has. GatherTuples: moves lists of tuples together.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "engine/graph/kept_tuples.h"
#include "state/log/state_memory.h"
#include "state/store/tuple_lists.h"

namespace glaive::engine {

/// The window kind of a join (window_kind.h), which keeps tuples beyond the slices of its inputs:
///
///   kept()        the most that it has kept at a time
///   kept_now()    tuples of the left and of the right stream
template <typename Kind>
concept JoinWindowKind = requires(const Kind& kind) {
  { kind.kept() } -> std::same_as<const KeptTuples&>;
  { kind.kept_now() } -> std::same_as<std::pair<std::uint64_t, std::uint64_t>>;
};

/// Copies a list of one TupleLists to another, which has room. `pause()` is called for each tuple, and may suspend the
/// fiber.
template <typename Tuples, typename PauseFn>
state::TupleList CopyTuples(const Tuples& from, const state::TupleList& list, Tuples& to, const PauseFn& pause) {
  state::TupleList copy;
  from.ForEach(list,
               [&](const auto& tuple) {
                 pause();
                 to.Push(copy, tuple);
                 return absl::OkStatus();
               })
      .IgnoreError();
  return copy;
}

/// Moves the tuples that are left together where most others have been dropped; not where there is no memory for both,
/// which may do until more have been dropped. `for_each_list(move)` calls `move(list)` for each list that has tuples.
/// `pause()` is called for each tuple, and may suspend the fiber.
template <typename Tuples, typename ForEachListFn, typename PauseFn>
void GatherTuples(state::StateMemory& memory, Tuples& tuples, const ForEachListFn& for_each_list,
                  const PauseFn& pause) {
  if (!tuples.IsSparse()) {
    return;
  }
  Tuples gathered;
  if (!gathered.MakeRoom(memory, tuples.size(), tuples.text_bytes()).ok()) {
    gathered.Release(memory);
    return;
  }
  for_each_list([&](state::TupleList& list) { list = CopyTuples(tuples, list, gathered, pause); });
  tuples.Release(memory);
  tuples = std::move(gathered);
}

}  // namespace glaive::engine
