// RecordStage: the stateful end of a fused pipeline: gathers the records that survive it into groups for the store.
//
// Owned by the input of a stage, used by the fiber of whoever brings the records. It takes a few records at a time:
// runs the chain on them, hashes their keys and stages their updates, all in one loop. Records that are not of the
// current slice are put aside in that loop, and find their own one by one behind it. What the store can update at once
// becomes part of no group: it is updated where it was read or, if the store has to load something first, some records
// later, in a loop of its own (waiting_updates.h).
//
//   1. After Flush everything that was added is in the store: flush before a watermark is told to anyone (I3).
//   2. A record is late if its last window ends at or before the flow's watermark: it is counted and not folded. If the
//      plan keeps late records, what the chain makes of it is handed out.
//   3. A group is of one piece of a slice (window/windows.h).
//
//   stage.BeginBatch(watermark_ms);
//   stage.Add(records, {.in_order = true}, use_eager, flush, late);   // calls flush(slice, updates) for full groups
//   stage.Flush(use_eager, flush);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "engine/stage/waiting_updates.h"
#include "engine/window/windows.h"
#include "rdma/base/check.h"
#include "rdma/base/prefetch.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

template <typename Plan>
class RecordStage {
 public:
  using Update = typename Plan::Store::Update;
  // A group of them lies on a fiber's stack, two or three times.
  static_assert(
      sizeof(Update) <= 256,
      "glaive: what an aggregate or a join takes of a record is larger than 200 bytes; Map() it to less first, or "
      "Keep() less of it");
  /// The most records of one Add.
  static constexpr std::size_t kMaxRecords = 128;

  /// What a step's records have in common.
  struct Stretch {
    std::int64_t event_time_shift_ms = 0;  // to be added to their event times
    bool in_order = false;                 // whether none's event time is below that of the one before it
  };

  /// For plans that keep no late records.
  struct NoLate {};

  RecordStage(const Plan& plan, const Windows& windows) : plan_(&plan), windows_(windows) {}

  /// Takes note of the flow's watermark, by which lateness is judged from here on.
  void BeginBatch(std::int64_t watermark_ms) {
    watermark_ms_ = watermark_ms;
    if (place_.closes_ms <= watermark_ms) {
      place_ = kNowhere;  // the next record decides anew
    }
  }

  /// Runs the chain on at most kMaxRecords records that its leading filters have kept; `records` are of them or point
  /// to them. `use_eager(slice, use)` has what is done for each update as soon as its key is known
  /// (PartitionedStore::UseEager); not for records that were put aside, on which the chain runs twice.
  /// `flush(slice, updates)` is called for each full group; it may suspend the fiber. If the plan keeps late records,
  /// `late(event_time_ms, record)` is called for each, with what the chain emits.
  template <typename Item, typename EagerFn, typename FlushFn, typename LateFn = NoLate>
  void Add(std::span<const Item> records, const Stretch& stretch, const EagerFn& use_eager, FlushFn&& flush,
           const LateFn& late = {}) {
    GLAIVE_CHECK(records.size() <= kMaxRecords, records.size(), " records in a step, at most ", kMaxRecords);
    const std::int64_t shift_ms = stretch.event_time_shift_ms;
    elsewhere_count_ = 0;
    if (AreAllHere(records, stretch)) {
      use_eager(place_.piece, [&](const auto& eager) { Gather</*kAllHere=*/true>(records, shift_ms, eager); });
    } else {
      use_eager(place_.piece, [&](const auto& eager) { Gather</*kAllHere=*/false>(records, shift_ms, eager); });
    }
    FlushGroups(flush);
    for (std::size_t i = 0; i < elsewhere_count_; ++i) {
      FindPlace(*elsewhere_[i], shift_ms, use_eager, flush, late);
    }
  }

  /// Updates what waits, and hands over what is staged, full group or not. `use_eager` and `flush` are as for Add.
  template <typename EagerFn, typename FlushFn>
  void Flush(const EagerFn& use_eager, FlushFn&& flush) {
    if (waiting_.size() > 0) {
      use_eager(place_.piece, [&](auto eager) { Finish(TryWaiting(waiting_.size(), eager), eager); });
      FlushGroups(flush);
    }
    if (staged_count_ > 0) {
      flush(place_.piece, std::span<const Update>(staged_.data(), staged_count_));
      Count(staged_count_);
      staged_count_ = 0;
    }
  }

  /// Records folded, and records dropped because they were late.
  std::uint64_t kept() const { return kept_; }
  std::uint64_t late() const { return late_; }
  /// Of those kept, how many were late for some of their windows.
  std::uint64_t partly_late() const { return partly_late_; }

 private:
  using WaitingFor = WaitingUpdates<typename Plan::Key, typename Update::Input>;

  /// Whether to ask for the record of the next step along with each: while a group is updated, the processor's own
  /// prefetchers lose the stream. Not where leading filters have read it before, nor where a record has several lines.
  template <typename Item>
  static constexpr bool kReadsAhead = std::is_same_v<Item, typename Plan::Input> && sizeof(Item) <= 64;

  static const typename Plan::Input* PointerTo(const typename Plan::Input& record) { return &record; }
  static const typename Plan::Input* PointerTo(const typename Plan::Input* record) { return record; }

  static Update MakeUpdate(const typename Plan::Key& key, const typename Update::Input& input) {
    return Update{.hash = state::HashKey(key), .key = key, .input = input};
  }

  bool IsHere(std::int64_t event_time_ms) const {
    return event_time_ms >= place_.start_ms && event_time_ms < place_.end_ms;
  }

  /// Whether all records are of the current piece, as far as their order tells.
  template <typename Item>
  bool AreAllHere(std::span<const Item> records, const Stretch& stretch) const {
    const auto is_here = [&](const Item& item) {
      return IsHere(plan_->origin.event_time_ms(*PointerTo(item)) + stretch.event_time_shift_ms);
    };
    return stretch.in_order && !records.empty() && is_here(records.front()) && is_here(records.back());
  }

  /// Updates or stages the records of the current piece, of which all are if kAllHere; puts the others aside.
  template <bool kAllHere, typename Item, typename Eager>
  void Gather(std::span<const Item> records, std::int64_t shift_ms, Eager eager) {
    if constexpr (Eager::kWaits) {
      std::size_t taken = 0;
      for (std::span<const Item> rest = records; !rest.empty();) {
        const std::span<const Item> chunk = rest.first(std::min(rest.size(), WaitingFor::kChunk));
        rest = rest.subspan(chunk.size());
        ForEachHere<kAllHere>(chunk, shift_ms, [&](const typename Plan::Key& key, const typename Update::Input& input) {
          waiting_.Add(eager.Locate(key), key, input);
        });
        if (waiting_.HasChunk()) {
          taken += TryWaiting(WaitingFor::kChunk, eager);
        }
      }
      Finish(taken, eager);
    } else {
      TryWaiting(waiting_.size(), eager);  // stages all: they were to wait for something else
      GatherAtOnce<kAllHere>(records, shift_ms, eager);
    }
  }

  template <bool kAllHere, typename Item, typename Eager>
  void GatherAtOnce(std::span<const Item> records, std::int64_t shift_ms, Eager eager) {
    Update* __restrict next = staged_.data() + staged_count_;
    std::size_t taken = 0;
    ForEachHere<kAllHere>(records, shift_ms, [&](const typename Plan::Key& key, const typename Update::Input& input) {
      const state::SlotHome home = eager.Locate(key);
      if (eager.TryUpdate(home, key, input)) {
        ++taken;
      } else {
        *next++ = Update{.hash = eager.HashOf(home, key), .key = key, .input = input};
      }
    });
    staged_count_ = static_cast<std::size_t>(next - staged_.data());
    Finish(taken, eager);
  }

  /// Calls `here(key, input)` for each survivor of the chain that is of the current piece, of which all are if
  /// kAllHere; puts the others aside.
  template <bool kAllHere, typename Item, typename HereFn>
  [[gnu::always_inline]] void ForEachHere(std::span<const Item> records, std::int64_t shift_ms, const HereFn& here) {
    // What is hoisted here the compiler would have to read again after each update that it writes.
    const std::uint64_t start_ms = static_cast<std::uint64_t>(place_.start_ms) - static_cast<std::uint64_t>(shift_ms);
    const std::uint64_t span_ms =
        static_cast<std::uint64_t>(place_.end_ms) - static_cast<std::uint64_t>(place_.start_ms);
    const Plan& plan = *plan_;
    for (const Item& item : records) {
      const typename Plan::Input& record = *PointerTo(item);
      if constexpr (kReadsAhead<Item>) {
        Prefetch(&record + kMaxRecords);  // it need not be one
      }
      plan.chain.Push(record, [&](const typename Plan::Record& survivor) {
        const std::int64_t event_time_ms = plan.origin.event_time_ms(record);
        if (!kAllHere && static_cast<std::uint64_t>(event_time_ms) - start_ms >= span_ms) [[unlikely]] {
          elsewhere_[elsewhere_count_++] = &record;
          return;
        }
        here(plan.MakeKey(survivor), plan.MakeInput(survivor, event_time_ms + shift_ms));
      });
    }
  }

  /// Tries the oldest that wait, and stages those that are not taken; returns how many are.
  template <typename Eager>
  [[gnu::always_inline]] std::size_t TryWaiting(std::size_t count, Eager& eager) {
    Update* next = staged_.data() + staged_count_;
    const std::size_t taken = waiting_.Try(
        count, eager,
        [&](const typename Plan::Key& key, const typename Update::Input& input) { *next++ = MakeUpdate(key, input); });
    staged_count_ = static_cast<std::size_t>(next - staged_.data());
    return taken;
  }

  template <typename Eager>
  void Finish(std::size_t taken, const Eager& eager) {
    eager.Finish(taken);
    Count(taken);
  }

  /// Stages a record that is not of the piece that was current when it came.
  template <typename EagerFn, typename FlushFn, typename LateFn>
  void FindPlace(const typename Plan::Input& record, std::int64_t shift_ms, const EagerFn& use_eager, FlushFn& flush,
                 const LateFn& late) {
    plan_->chain.Push(record, [&](const typename Plan::Record& survivor) {
      const std::int64_t event_time_ms = plan_->origin.event_time_ms(record) + shift_ms;
      if (!IsHere(event_time_ms)) {
        Flush(use_eager, flush);
        if (!Enter(event_time_ms)) {
          if constexpr (Plan::kKeepsLate) {
            late(event_time_ms, survivor);
          }
          return;
        }
      }
      staged_[staged_count_++] = MakeUpdate(plan_->MakeKey(survivor), plan_->MakeInput(survivor, event_time_ms));
      FlushGroups(flush);
    });
  }

  /// Hands over all full groups; what is left moves to the front.
  template <typename FlushFn>
  void FlushGroups(FlushFn&& flush) {
    if (staged_count_ < state::kGroupSize) {
      return;
    }
    std::size_t done = 0;
    for (; staged_count_ - done >= state::kGroupSize; done += state::kGroupSize) {
      flush(place_.piece, std::span<const Update>(staged_.data() + done, state::kGroupSize));
    }
    std::copy(staged_.begin() + static_cast<std::ptrdiff_t>(done),
              staged_.begin() + static_cast<std::ptrdiff_t>(staged_count_), staged_.begin());
    staged_count_ -= done;
    Count(done);
  }

  void Count(std::uint64_t records) {
    kept_ += records;
    partly_late_ += place_.partly_late ? records : 0;
  }

  /// Makes the place of an event time the current one; false, and counted, if the record is late. Nothing is staged.
  bool Enter(std::int64_t event_time_ms) {
    const std::optional<Windows::Place> place = windows_.PlaceOf(event_time_ms, watermark_ms_);
    if (!place) {
      ++late_;
      return false;  // the current one stays: most records are of it
    }
    place_ = *place;
    return true;
  }

  /// No event time is in it.
  static constexpr Windows::Place kNowhere = {
      .piece = {}, .start_ms = kMinEventTimeMs, .end_ms = kMinEventTimeMs, .closes_ms = kMaxEventTimeMs};

  const Plan* plan_;
  Windows windows_;
  Windows::Place place_ = kNowhere;  // of what is staged
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::uint64_t kept_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t partly_late_ = 0;
  WaitingFor waiting_;            // of place_
  std::size_t staged_count_ = 0;  // fewer than a group between calls
  std::size_t elsewhere_count_ = 0;
  std::array<const typename Plan::Input*, kMaxRecords> elsewhere_;  // not of the current piece
  std::array<Update, kMaxRecords + WaitingFor::kCapacity + state::kGroupSize> staged_;
};

}  // namespace glaive::engine
