// RecordStage: the stateful end of a fused pipeline: gathers the records that survive it into groups for the store.
//
// Owned by a query task, used by its source fiber. It takes selected records some hundred at a time, and each of its
// steps is a loop over all of them with nothing to mispredict: run the chain, hash the key, note the event time.
// Whether all of them lie in the current slice is decided once, by their least and greatest event time; if not, each
// finds its own.
//
//   1. After Flush everything that was added is in the store: flush before a watermark is told to anyone (I3).
//   2. A record is late if its last window ends at or before the flow's watermark: it is counted and not folded. If the
//      plan keeps late records, it is run through the chain again and handed out.
//   3. A group is of one piece of a slice (window/windows.h).
//
//   stage.BeginBatch(watermark_ms);
//   stage.Add(selected, shift_ms, prefetch, flush, late);   // calls flush(slice, updates) for each full group
//   stage.Flush(flush);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "engine/window/windows.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

template <typename Plan>
class RecordStage {
 public:
  using Update = typename Plan::Store::Update;
  // A group of them lies on a fiber's stack, twice.
  static_assert(sizeof(Update) <= 256,
                "glaive: what an aggregate takes of a record is larger than 200 bytes; Map() the record to less first");
  /// The most records of one Add: their bytes stay in the first-level cache from being selected to being gathered.
  static constexpr std::size_t kMaxRecords = 128;

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

  /// Runs the chain on records that its leading filters have kept, at most kMaxRecords. `prefetch(hash)` is called as
  /// soon as a key is known, so that its index bucket is on its way while the rest of the group is still being read.
  /// `flush(slice, updates)` is called for each full group; it may suspend the fiber. If the plan keeps late records,
  /// `late(event_time_ms, record)` is called for each, with what the chain emits.
  template <typename PrefetchFn, typename FlushFn, typename LateFn = NoLate>
  void Add(std::span<const typename Plan::Input* const> selected, std::int64_t event_time_shift_ms,
           const PrefetchFn& prefetch, FlushFn&& flush, const LateFn& late = {}) {
    const Gathered gathered = Gather(selected, event_time_shift_ms, prefetch);
    if (gathered.count > 0 && (gathered.min_ms < place_.start_ms || gathered.max_ms >= place_.end_ms)) [[unlikely]] {
      SortIntoSlices(gathered.count, flush, late);
    } else {
      staged_count_ += gathered.count;
      FlushGroups(flush);
    }
  }

  /// Hands over what is staged, full group or not.
  template <typename FlushFn>
  void Flush(FlushFn&& flush) {
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
  /// What a call has added behind the staged updates.
  struct Gathered {
    std::size_t count = 0;
    std::int64_t min_ms = kMaxEventTimeMs;  // of their event times
    std::int64_t max_ms = kMinEventTimeMs;
  };

  /// Writes the survivors' updates behind what is staged, as if they were all of the current slice.
  template <typename PrefetchFn>
  Gathered Gather(std::span<const typename Plan::Input* const> selected, std::int64_t shift_ms,
                  const PrefetchFn& prefetch) {
    Gathered gathered;
    Update* const updates = staged_.data() + staged_count_;
    for (const typename Plan::Input* record : selected) {
      plan_->chain.Push(*record, [&](const typename Plan::Record& survivor) {
        const std::int64_t event_time_ms = plan_->source.event_time_ms(*record) + shift_ms;
        const typename Plan::Key key = plan_->MakeKey(survivor);
        const std::uint64_t hash = state::HashKey(key);
        prefetch(hash);
        updates[gathered.count] = Update{.hash = hash, .key = key, .input = plan_->MakeInput(survivor, event_time_ms)};
        event_times_ms_[gathered.count] = event_time_ms;
        if constexpr (Plan::kKeepsLate) {
          inputs_[gathered.count] = record;
        }
        ++gathered.count;
        gathered.min_ms = std::min(gathered.min_ms, event_time_ms);
        gathered.max_ms = std::max(gathered.max_ms, event_time_ms);
      });
    }
    return gathered;
  }

  /// The rare case: some of the `count` gathered updates are not of the current slice. Each finds its own.
  template <typename FlushFn, typename LateFn>
  void SortIntoSlices(std::size_t count, FlushFn& flush, const LateFn& late) {
    std::copy_n(staged_.begin() + static_cast<std::ptrdiff_t>(staged_count_), count, unsorted_.begin());
    for (std::size_t i = 0; i < count; ++i) {
      if (event_times_ms_[i] < place_.start_ms || event_times_ms_[i] >= place_.end_ms) {
        Flush(flush);
        if (!Enter(event_times_ms_[i])) {
          if constexpr (Plan::kKeepsLate) {
            plan_->chain.Push(*inputs_[i],
                              [&](const typename Plan::Record& record) { late(event_times_ms_[i], record); });
          }
          continue;
        }
      }
      staged_[staged_count_++] = unsorted_[i];
      FlushGroups(flush);
    }
  }

  /// Hands over all full groups; what is left moves to the front.
  template <typename FlushFn>
  void FlushGroups(FlushFn&& flush) {
    std::size_t done = 0;
    if (staged_count_ < state::kGroupSize) {
      return;
    }
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

  /// Makes the place of an event time the current one; false, and counted, if the record is late.
  bool Enter(std::int64_t event_time_ms) {
    const std::optional<Windows::Place> place = windows_.PlaceOf(event_time_ms, watermark_ms_);
    place_ = place.value_or(kNowhere);
    late_ += place ? 0 : 1;
    return place.has_value();
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
  std::size_t staged_count_ = 0;  // fewer than a group between calls
  std::array<std::int64_t, kMaxRecords> event_times_ms_;
  std::array<const typename Plan::Input*, Plan::kKeepsLate ? kMaxRecords : 0> inputs_;  // of the gathered updates
  std::array<Update, kMaxRecords> unsorted_;
  std::array<Update, kMaxRecords + state::kGroupSize> staged_;
};

}  // namespace glaive::engine
