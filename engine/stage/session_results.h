// SessionResults: the results of sessions, which are put together from one slice to the next.
//
// A slice is as long as the gap. So its records of a key are of one session, and a session that is still open has
// records in the slice that fired last. When a slice fires, its part of each key's session continues the key's open
// session. If a gap or more lies between them, it takes the place of the open session. Then the sessions without
// records in the slice are closed: their last record is a gap or more before the slice's end. Each key of a slice costs
// one lookup and at most one merge.
//
// A key's entry stays when its session is closed, since most keys come again. Entries without a session are removed
// once they are more than the others.
//
// A kind of window (window_kind.h), whose windows are slices here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/fiber/pace.h"
#include "engine/stage/read_slice.h"
#include "engine/stage/slice_times.h"
#include "engine/stage/touch_new_tables.h"
#include "engine/window/windows.h"
#include "state/index/key_hash.h"
#include "state/store/slice_table.h"

namespace glaive::engine {

template <typename Plan>
class SessionResults {
 public:
  SessionResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : windows_(windows),
        memory_(context.memory),
        store_(&store),
        pace_(context.memory->thresholds().entries_per_turn) {}

  /// Whether sessions are open, which the next slice continues or completes.
  bool has_more(std::int64_t /*fired*/) const { return open_count_ > 0; }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t slice, const Emit& emit) {
    auto& primary = store_->primary();
    absl::Status status;
    if (primary.Oldest() != nullptr && windows_.FirstWindowOf(primary.Oldest()->first) == slice) {
      auto table = primary.TakeOldest();
      status = Open(fiber, 2 * table.size());
      status = status.ok() ? Continue(fiber, slice, table, emit) : status;
      table.Release(*memory_);
    }
    if (status.ok()) {
      status = Close(fiber, windows_.StartMs(slice), emit);
    }
    return status.ok() ? DropClosed(fiber) : status;
  }

  std::uint64_t merges() const { return merges_; }

 private:
  using Key = typename Plan::Key;
  using Part = typename Plan::Value;
  using Table = state::SliceTable<Key, Part>;
  /// What a slice has of a key.
  struct Item {
    std::uint64_t hash;
    Key key;
    Part part;
  };

  static constexpr std::uint32_t kFewestClosed = 64;  // that are worth the work to be dropped

  /// Makes the table of sessions, if there is none, for so many entries.
  absl::Status Open(Fiber& fiber, std::uint64_t keys) {
    if (sessions_) {
      return absl::OkStatus();
    }
    absl::StatusOr<Table> created = Table::Create(*memory_, keys);
    if (!created.ok()) {
      return created.status();
    }
    sessions_ = *std::move(created);
    TouchNewTables(fiber, *memory_);
    return absl::OkStatus();
  }

  /// Continues the keys' sessions with what the slice has of them.
  template <typename SliceTable, typename Emit>
  absl::Status Continue(Fiber& fiber, std::int64_t slice, SliceTable& table, const Emit& emit) {
    const auto take = [&](const auto& entry) {
      const Part part = state::Whole(entry.value);
      for (const std::int64_t time_ms : {part.first_ms, part.last_ms}) {
        if (!windows_.Covers(slice, time_ms)) [[unlikely]] {
          return TimeOutsideSlice(windows_, slice, time_ms);
        }
      }
      const std::uint64_t hash = memory_->key_hash()(entry.key);
      pending_[pending_count_++] = Item{.hash = hash, .key = entry.key, .part = part};
      typename Table::Prefetcher{*sessions_}(hash);
      return pending_count_ < pending_.size() ? absl::OkStatus() : ContinueGroup(fiber, emit);
    };
    absl::Status status = ReadSlice(fiber, *memory_, table, take);
    while (status.ok() && pending_count_ > 0) {
      status = ContinueGroup(fiber, emit);
    }
    return status;
  }

  /// Continues the sessions of the oldest pending group: the cache lines that it needs have had time to come.
  template <typename Emit>
  absl::Status ContinueGroup(Fiber& fiber, const Emit& emit) {
    const std::size_t count = std::min(pending_count_, state::kGroupSize);
    const std::span<const Item> items(pending_.data(), count);
    pace_.Step(fiber, count);
    TouchNewTables(fiber, *memory_);
    absl::Status emitted;
    const auto go_on = [&](Part& session, const Item& item) {
      if (session.empty()) {
        ++open_count_;
        session = item.part;
      } else if (item.part.first_ms - session.last_ms < windows_.size_ms()) {
        session.Merge(item.part);
        ++merges_;
      } else {
        const Part closed = std::exchange(session, item.part);
        emitted.Update(EmitSession(item.key, closed, emit));
      }
    };
    absl::Status status = sessions_->ApplyPrefetched(*memory_, items, go_on);
    status.Update(emitted);
    std::copy(pending_.begin() + static_cast<std::ptrdiff_t>(count),
              pending_.begin() + static_cast<std::ptrdiff_t>(pending_count_), pending_.begin());
    pending_count_ -= count;
    return status;
  }

  /// Closes the sessions whose last record is before the slice.
  template <typename Emit>
  absl::Status Close(Fiber& fiber, std::int64_t start_ms, const Emit& emit) {
    for (std::uint32_t i = 0; sessions_ && i < sessions_->size(); ++i) {
      pace_.Step(fiber);
      auto& [key, session] = sessions_->At(i);
      if (session.empty() || session.last_ms >= start_ms) {
        continue;
      }
      --open_count_;
      const Part closed = session;
      absl::Status status = sessions_->Change(*memory_, session, [](Part& open) { open = Part{}; });
      status.Update(EmitSession(key, closed, emit));  // its texts are there until the next change
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  /// Moves the open sessions to a table of their own, if that has less than half of the entries.
  absl::Status DropClosed(Fiber& fiber) {
    if (!sessions_ || (open_count_ > 0 && sessions_->size() < 2 * open_count_ + kFewestClosed)) {
      return absl::OkStatus();
    }
    Table all = *std::exchange(sessions_, std::nullopt);
    absl::Status status = open_count_ > 0 ? Open(fiber, 2 * open_count_) : absl::OkStatus();
    for (std::uint32_t i = 0; open_count_ > 0 && i < all.size() && status.ok(); ++i) {
      pace_.Step(fiber);
      if (const auto& [key, session] = all.At(i); !session.empty()) {
        pending_[pending_count_++] = Item{.hash = memory_->key_hash()(key), .key = key, .part = session};
      }
      if (pending_count_ == state::kGroupSize || i + 1 == all.size()) {
        status = sessions_->Apply(*memory_, std::span<const Item>(pending_.data(), std::exchange(pending_count_, 0)),
                                  [](Part& session, const Item& item) { session = item.part; });
      }
    }
    all.Release(*memory_);
    return status;
  }

  template <typename Emit>
  absl::Status EmitSession(const Key& key, const Part& session, const Emit& emit) const {
    return emit(session.first_ms, session.last_ms + windows_.size_ms(), key, session.Result());
  }

  Windows windows_;
  state::StateMemory* memory_;
  typename Plan::Store* store_;
  std::optional<Table> sessions_;  // by key; empty ones of keys that have none now
  std::uint64_t open_count_ = 0;   // sessions that are not empty: with records in the slice that fired last
  Pace pace_;                      // over entries
  std::uint64_t merges_ = 0;
  std::size_t pending_count_ = 0;
  std::array<Item, 2 * state::kGroupSize> pending_;
};

}  // namespace glaive::engine
