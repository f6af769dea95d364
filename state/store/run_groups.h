// RunGroups: the entries of a run in groups, as tables take them (slice_table.h). The entries of a group are hashed,
// and the cache lines that they need are prefetched while the group before is applied.
//
//   status = ForEachGroup(memory.key_hash(), run, [&](std::uint64_t hash) { index.Prefetch(hash); },
//                         [&](std::span<const RunItem<E>> group) { return table.Apply(memory, group, ApplyRunItem{});
//                         });
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "state/index/key_hash.h"
#include "state/store/delta_entry.h"

namespace glaive::state {

/// The most items one group may have, and so of misses in flight.
inline constexpr std::size_t kGroupSize = 32;

/// An entry of a run (delta_entry.h), which outlives the item.
template <typename E>
struct RunItem {
  std::uint64_t hash;
  decltype(E::key) key;
  const E* entry;
};

/// ApplyEntry of an item's entry.
struct ApplyRunItem {
  template <typename Target, typename E>
  [[gnu::always_inline]] auto operator()(Target& target, const RunItem<E>& item) const {
    return ApplyEntry{}(target, *item.entry);
  }
};

/// Calls `apply(group)`, which returns a status, for one group of at most kGroupSize items after the other, until one
/// is not OK; returns that. `prefetch(hash)` is called for each item while the group before it is still to be applied.
template <typename E, typename PrefetchFn, typename ApplyFn>
absl::Status ForEachGroup(KeyHash hash_of, std::span<const E> run, const PrefetchFn& prefetch, const ApplyFn& apply) {
  std::array<std::array<RunItem<E>, kGroupSize>, 2> groups;
  std::size_t waiting = 0;  // items of the group that is to be applied next
  for (std::size_t turn = 0; waiting > 0 || !run.empty(); ++turn) {
    auto& next = groups[turn % 2];
    const std::size_t count = std::min(run.size(), kGroupSize);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t hash = hash_of(run[i].key);
      prefetch(hash);
      next[i] = {.hash = hash, .key = run[i].key, .entry = &run[i]};
    }
    run = run.subspan(count);
    if (waiting > 0) {
      if (absl::Status status = apply(std::span<const RunItem<E>>(groups[1 - turn % 2]).first(waiting)); !status.ok()) {
        return status;
      }
    }
    waiting = count;
  }
  return absl::OkStatus();
}

}  // namespace glaive::state
