// WindowTuples: the tuples of one stream in the pieces of a tumbling or sliding window that still count (windows.h).
//
// When a window fires, the pieces that are new in it are taken out of the store. Keys are put together a log at a time:
// where tables are split, the tuples of a key are in the same log of each (state/store/append_table.h).
//
// Owned by a kind of window, used by its fiber.
//
//   tuples.TakePieces(windows, window);
//   status = tuples.Arrange(memory, logs, pause);
//   status = tuples.ForEach(log, [&](const auto& entry) { ... });
//   tuples.Drop(memory, window);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "engine/window/windows.h"
#include "state/log/append_log.h"
#include "state/log/state_memory.h"
#include "state/store/append_table.h"

namespace glaive::engine {

/// See the head of this file. `Store` is that of an append set.
template <typename Store>
struct WindowTuples {
  using Table = typename Store::Table;
  using Entry = typename Table::Entry;
  struct Piece {
    std::int64_t last_window;
    Table table;
  };

  explicit WindowTuples(Store& its_store) : store(&its_store) {}

  void TakePieces(const Windows& windows, std::int64_t window) {
    for (const auto* oldest = store->primary().Oldest();
         oldest != nullptr && windows.FirstWindowOf(oldest->first) <= window; oldest = store->primary().Oldest()) {
      const std::int64_t last_window = windows.LastWindowOf(oldest->first);
      pieces.push_back({.last_window = last_window, .table = store->primary().TakeOldest()});
    }
  }
  void Drop(state::StateMemory& memory, std::int64_t fired) {
    for (Arranged& each : arranged) {
      each.entries.Release(memory);
    }
    arranged.clear();
    std::erase_if(pieces, [&](Piece& piece) {
      if (piece.last_window <= fired) {
        piece.table.Release(memory);
      }
      return piece.last_window <= fired;
    });
  }
  bool split() const {
    return std::ranges::any_of(pieces, [](const Piece& piece) { return piece.table.split(); });
  }
  std::uint64_t tuples() const {
    std::uint64_t tuples = 0;
    for (const Piece& piece : pieces) {
      tuples += piece.table.size();
    }
    return tuples;
  }
  /// Says which tuples belong together: all, or, in as many parts as a split table has logs, those with the same
  /// bits of their hashes. Small pieces beside split ones are not copied for that, only pointed into. Calls `pause`
  /// for each of their tuples, and for each log. Drop gives the memory back; ResourceExhausted past the budget.
  template <typename PauseFn>
  absl::Status Arrange(state::StateMemory& memory, std::size_t logs, const PauseFn& pause) {
    const state::SplitLogOf log_of(memory);
    arranged.resize(logs);
    for (const Piece& piece : pieces) {
      if (piece.table.logs().size() == logs) {
        for (std::size_t log = 0; log < logs; ++log) {
          pause();
          arranged[log].logs.push_back(&piece.table.logs()[log]);
          arranged[log].tuples += piece.table.logs()[log].size();
        }
        continue;
      }
      const auto& all = piece.table.logs().front();
      for (std::size_t run = 0; run < all.run_count(); ++run) {
        for (const Entry& entry : all.Run(run)) {
          pause();
          Arranged& part = arranged[log_of(memory.key_hash()(entry.key))];
          if (absl::Status status = part.entries.MakeRoom(memory); !status.ok()) {
            return status;
          }
          part.entries.Append(&entry);
          ++part.tuples;
        }
      }
    }
    return absl::OkStatus();
  }
  /// Calls `visit(entry)` for each, until it says no.
  template <typename Visit>
  absl::Status ForEach(std::size_t log, const Visit& visit) const {
    for (const auto* entries : arranged[log].logs) {
      for (std::size_t run = 0; run < entries->run_count(); ++run) {
        for (const Entry& entry : entries->Run(run)) {
          if (absl::Status status = visit(entry); !status.ok()) {
            return status;
          }
        }
      }
    }
    for (std::size_t run = 0; run < arranged[log].entries.run_count(); ++run) {
      for (const Entry* entry : arranged[log].entries.Run(run)) {
        if (absl::Status status = visit(*entry); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  /// Tuples of keys of which no other tuples are.
  struct Arranged {
    std::vector<const typename Table::Log*> logs;
    state::AppendLog<const Entry*> entries;
    std::uint64_t tuples = 0;
  };

  Store* store;
  std::vector<Piece> pieces;
  std::vector<Arranged> arranged;  // for the window that fires
};

}  // namespace glaive::engine
