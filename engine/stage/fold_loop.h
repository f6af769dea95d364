// FoldLoop: the stateful end of a chain: folds the records that the chain makes, or gathers them for the store.
//
// Owned by the input of a stage, used by the fiber of the input's producer. It takes a few records at a time, and runs
// the chain on each once, in one loop. Most records are of the current piece of a slice (window/windows.h):
//
//   record ─► chain ─► of the current piece? ── yes ─► folder takes it? ── yes ─► done
//                          │                               │ no
//                          │ no                            ▼
//                          ▼                           pending: handed to the store, many at a time
//                      set aside: sorted by piece behind the loop, and handed to the store
//
// A folder of cells outside the cache takes a record when some fifty others are pending behind it. The record's cell is
// prefetched in the meantime.
//
// Where more records are set aside than not, their piece becomes the current one.
//
// Of most plans a record makes one update. With several Distinct it makes one for each, all of the same piece.
//
//   1. After Flush everything that was added is in the store: flush before a watermark is passed on (I3).
//   2. A record is late if its last window ends at or before the flow's watermark: it is counted and not folded. If the
//      plan has a sink for late records, the chain's result is handed out.
//
// `Host` brings records to the store. All its functions but the first may suspend the fiber:
//
//   UseFolder(piece, use)           PartitionedStore::UseFolder
//   Enter(piece)                    reads out what the store holds back of other pieces, then PartitionedStore::Enter
//   Take(piece, updates)            waits for room, then PartitionedStore::Take
//   Late(event_time_ms, survivor)   hands out a late record, if the plan has a sink for them
//
//   loop.BeginBatch(watermark_ms);
//   loop.Add(records, {.in_order = true}, host, meanwhile);
//   loop.Flush(host);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/base/take_first.h"
#include "engine/stage/pending_updates.h"
#include "engine/window/windows.h"
#include "rdma/base/check.h"
#include "rdma/base/prefetch.h"
#include "state/store/cell_table.h"
#include "state/store/partitioned_store.h"

namespace glaive::engine {

template <typename Plan>
class FoldLoop {
 public:
  using Update = typename Plan::Store::Update;
  static_assert(
      sizeof(Update) <= 256,
      "glaive: what an aggregate or a join takes of a record is larger than 200 bytes; Map() it to less first, or "
      "Keep() less of it");
  /// The updates that a record makes.
  static constexpr std::size_t kUpdates = Plan::kEntriesOfRecord;
  /// The most records of one Add.
  static constexpr std::size_t kMaxRecords = std::max<std::size_t>(128 / kUpdates, 1);

  /// The properties that all records of a step share.
  struct Stretch {
    std::int64_t event_time_shift_ms = 0;  // to be added to their event times
    bool in_order = false;                 // whether none's event time is below that of the one before it
  };

  /// Hands `most_pending` records over at a time, or fewer where they are large.
  FoldLoop(const Plan& plan, const Windows& windows, std::uint64_t most_pending = kHandOver)
      : plan_(&plan), windows_(windows), hand_over_(std::min<std::uint64_t>(most_pending, kHandOver)) {}

  /// Takes note of the flow's watermark, by which lateness is judged from here on.
  void BeginBatch(std::int64_t watermark_ms) {
    watermark_ms_ = watermark_ms;
    if (place_.closes_ms <= watermark_ms) {
      place_ = kNowhere;  // the next record decides anew
    }
  }

  /// Runs the chain on at most kMaxRecords records that its leading filters have selected; `records` are of them or
  /// point to them. `meanwhile()` is called as each is folded or becomes pending.
  template <typename Item, typename Host, typename MeanwhileFn>
  void Add(std::span<const Item> records, const Stretch& stretch, Host& host, const MeanwhileFn& meanwhile) {
    GLAIVE_CHECK(records.size() <= kMaxRecords, records.size(), " records in a step, at most ", kMaxRecords);
    const std::int64_t shift_ms = stretch.event_time_shift_ms;
    while (!records.empty()) {
      const std::size_t here = stretch.in_order ? CountHere(records, shift_ms) : 0;
      if (here > 0) {
        Gather</*kAllHere=*/true>(records.first(here), shift_ms, host, meanwhile);
        records = records.subspan(here);
      } else if (stretch.in_order && records.size() > kMaxRecords / 2 &&
                 Enter(TimeOf(records.front(), shift_ms), host)) {
        continue;  // from here on the records are of that piece
      } else {
        Gather</*kAllHere=*/false>(records, shift_ms, host, meanwhile);
        records = {};
      }
    }
    if (pending_.used() >= hand_over_) {
      Flush(host);
    }
    if (aside_count_ > 0) {
      TakeAside(host);
    }
  }

  /// Hands over what is pending.
  template <typename Host>
  void Flush(Host& host) {
    if (!pending_.empty()) {
      host.Take(place_.piece, pending_.TakeAll());
    }
  }

  /// Records accepted, which is folded or handed to the store, and records dropped because they were late.
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t late() const { return late_; }
  /// Of those accepted, how many were late for some of their windows.
  std::uint64_t partly_late() const { return partly_late_; }

 private:
  static constexpr std::size_t kMaxUpdates = kMaxRecords * kUpdates;
  /// Updates handed to the store at a time: many, since it asks for memory far ahead, but no more than the first-level
  /// cache has room for.
  static constexpr std::size_t kHandOver =
      std::clamp<std::size_t>((std::size_t{16} << 10) / sizeof(Update), kMaxUpdates, state::kMostEntries - kMaxUpdates);
  /// After so many records it is decided whether the current piece stays.
  static constexpr std::uint64_t kRecordsOfDecision = 128;

  struct Nothing {};
  /// An update by a record that is not of the current piece. Those of a record stand side by side, and the first has
  /// the survivor.
  struct Aside {
    std::int64_t event_time_ms;
    Update update;
    [[no_unique_address]] std::conditional_t<Plan::kHasLateSink, std::optional<typename Plan::Record>, Nothing>
        survivor;
  };

  /// Whether to ask for the record of the next step along with each: while the store takes records, the processor's own
  /// prefetchers lose the stream. Not where leading filters have read it before, nor where a record has several lines.
  template <typename Item>
  static constexpr bool kReadsAhead = std::is_same_v<Item, typename Plan::Input> && sizeof(Item) <= 64;

  static const typename Plan::Input* PointerTo(const typename Plan::Input& record) { return &record; }
  static const typename Plan::Input* PointerTo(const typename Plan::Input* record) { return record; }

  /// A folder that folds ahead takes a chunk of pending records behind each chunk of the loop.
  template <typename Folder>
  static constexpr std::size_t kRecordsOfLoop =
      Folder::kFoldsAhead ? std::max<std::size_t>(state::kCellChunk / kUpdates, 1) : kMaxRecords;

  template <typename Item>
  std::int64_t TimeOf(const Item& item, std::int64_t shift_ms) const {
    return plan_->origin.event_time_ms(*PointerTo(item)) + shift_ms;
  }

  bool IsHere(std::int64_t event_time_ms) const {
    return event_time_ms >= place_.start_ms && event_time_ms < place_.end_ms;
  }

  /// How many records at the front, of records in order, are of the current piece.
  template <typename Item>
  std::size_t CountHere(std::span<const Item> records, std::int64_t shift_ms) const {
    const auto is_here = [&](const Item& item) { return IsHere(TimeOf(item, shift_ms)); };
    if (!is_here(records.front())) {
      return 0;
    }
    return is_here(records.back())
               ? records.size()
               : static_cast<std::size_t>(std::ranges::partition_point(records, is_here) - records.begin());
  }

  /// Folds or holds the records of the current piece, of which all are if kAllHere; sets the others aside.
  template <bool kAllHere, typename Item, typename Host, typename MeanwhileFn>
  void Gather(std::span<const Item> records, std::int64_t shift_ms, Host& host, const MeanwhileFn& meanwhile) {
    std::size_t here = 0;
    host.UseFolder(place_.piece, [&](auto folder) {
      here = FoldOrHold<kAllHere>(records, shift_ms, folder, meanwhile);
      return folder;
    });
    here_count_ += here;
    Count(here, place_);
  }

  /// Returns how many records are of the current piece. A function of its own for each folder: in one function with
  /// those of other folders, the loop has too few registers.
  template <bool kAllHere, typename Item, typename Folder, typename MeanwhileFn>
  [[gnu::noinline]] std::size_t FoldOrHold(std::span<const Item> records, std::int64_t shift_ms, Folder& used,
                                           const MeanwhileFn& meanwhile) {
    // What is hoisted here the compiler would have to read again after each update that it writes.
    const std::uint64_t start_ms = static_cast<std::uint64_t>(place_.start_ms) - static_cast<std::uint64_t>(shift_ms);
    const std::uint64_t span_ms =
        static_cast<std::uint64_t>(place_.end_ms) - static_cast<std::uint64_t>(place_.start_ms);
    const Plan& plan = *plan_;
    Folder folder = used;  // a copy, which can stay in registers
    const std::size_t used_before = pending_.used();
    while (!records.empty()) {
      const std::span<const Item> chunk = TakeFirst(records, kRecordsOfLoop<Folder>);
      Update* __restrict next = pending_.end();
      for (const Item& item : chunk) {
        const typename Plan::Input& record = *PointerTo(item);
        if constexpr (kReadsAhead<Item>) {
          Prefetch(&record + kMaxRecords);  // it need not be one
        }
        plan.chain.Push(record, [&](const typename Plan::Record& survivor) {
          const std::int64_t event_time_ms = plan.origin.event_time_ms(record);
          if (!kAllHere && static_cast<std::uint64_t>(event_time_ms) - start_ms >= span_ms) [[unlikely]] {
            SetAside(survivor, event_time_ms + shift_ms);
            return;
          }
          meanwhile();
          ForEachUpdate(plan, survivor, event_time_ms + shift_ms,
                        [&](const typename Plan::Key& key, const typename Update::Input& input) {
                          if constexpr (Folder::kFoldsAhead) {
                            folder.Prefetch(key);
                          } else if (folder.TryFold(key, input)) {
                            return;
                          }
                          *next++ = Update{.key = key, .input = input};
                        });
        });
      }
      pending_.set_end(next);
      if (Folder::kFoldsAhead && pending_.waiting() >= state::kCellsAhead + state::kCellChunk) {
        pending_.FoldOldest(state::kCellChunk, folder);
      }
    }
    used = folder;
    return (pending_.used() - used_before + (Folder::kFoldsAhead ? 0 : folder.folded())) / kUpdates;
  }

  void SetAside(const typename Plan::Record& survivor, std::int64_t event_time_ms) {
    if constexpr (Plan::kHasLateSink) {
      aside_[aside_count_].survivor = survivor;
    }
    ForEachUpdate(*plan_, survivor, event_time_ms,
                  [&](const typename Plan::Key& key, const typename Update::Input& input) {
                    Aside& aside = aside_[aside_count_++];
                    aside.event_time_ms = event_time_ms;
                    aside.update = {.key = key, .input = input};
                  });
  }

  /// Calls `take(key, input)` for each update that a record makes.
  template <typename Take>
  [[gnu::always_inline]] static void ForEachUpdate(const Plan& plan, const typename Plan::Record& survivor,
                                                   std::int64_t event_time_ms, const Take& take) {
    if constexpr (kUpdates == 1) {
      take(plan.MakeKey(survivor), plan.MakeInput(survivor, event_time_ms));
    } else {
      [&]<std::size_t... kEntries>(std::index_sequence<kEntries...>) {
        (take(plan.template MakeKey<kEntries>(survivor), plan.template MakeInput<kEntries>(survivor, event_time_ms)),
         ...);
      }(std::make_index_sequence<kUpdates>());
    }
  }

  static bool Covers(const std::optional<Windows::Place>& place, std::int64_t event_time_ms) {
    return place && event_time_ms >= place->start_ms && event_time_ms < place->end_ms;
  }

  /// Hands over what was set aside, a piece at a time.
  template <typename Host>
  void TakeAside(Host& host) {
    const std::size_t all = aside_count_;
    const std::int64_t last_ms = aside_[all - 1].event_time_ms;
    DropLate(host);
    while (aside_count_ > 0) {
      const std::optional<Windows::Place> place = windows_.PlaceOf(aside_.front().event_time_ms, watermark_ms_);
      std::size_t of_place = 0;
      std::size_t left = 0;
      for (std::size_t i = 0; i < aside_count_; ++i) {
        if (Covers(place, aside_[i].event_time_ms)) {
          sorted_[of_place++] = aside_[i].update;
        } else {
          aside_[left++] = aside_[i];
        }
      }
      aside_count_ = left;
      Count(of_place / kUpdates, *place);
      host.Take(place->piece, std::span(sorted_).first(of_place));
    }
    JudgePlace(all / kUpdates, last_ms, host);
  }

  /// Takes the late records out of what was set aside, in their order.
  template <typename Host>
  void DropLate(Host& host) {
    std::optional<Windows::Place> place;
    std::size_t left = 0;
    for (std::size_t i = 0; i < aside_count_; ++i) {
      const Aside& aside = aside_[i];
      if (!Covers(place, aside.event_time_ms)) {
        place = windows_.PlaceOf(aside.event_time_ms, watermark_ms_);
      }
      if (place) {
        aside_[left++] = aside;
        continue;
      }
      if (i % kUpdates != 0) {
        continue;  // it is of the same record as the one before
      }
      ++late_;
      if constexpr (Plan::kHasLateSink) {
        host.Late(aside.event_time_ms, *aside.survivor);
      }
    }
    aside_count_ = left;
  }

  /// Makes the place of the record that was set aside last the current one, if more are set aside than not.
  template <typename Host>
  void JudgePlace(std::size_t aside, std::int64_t last_ms, Host& host) {
    elsewhere_count_ += aside;
    if (here_count_ + elsewhere_count_ < kRecordsOfDecision) {
      return;
    }
    if (elsewhere_count_ > here_count_) {
      Enter(last_ms, host);
    }
    here_count_ = 0;
    elsewhere_count_ = 0;
  }

  void Count(std::uint64_t records, const Windows::Place& place) {
    accepted_ += records;
    partly_late_ += place.partly_late ? records : 0;
  }

  /// Makes the place of an event time the current one; false if it is late.
  template <typename Host>
  bool Enter(std::int64_t event_time_ms, Host& host) {
    const std::optional<Windows::Place> place = windows_.PlaceOf(event_time_ms, watermark_ms_);
    if (!place) {
      return false;
    }
    Flush(host);
    place_ = *place;
    host.Enter(place_.piece);
    here_count_ = 0;
    elsewhere_count_ = 0;
    return true;
  }

  /// No event time is in it.
  static constexpr Windows::Place kNowhere = {
      .piece = {}, .start_ms = kMinEventTimeMs, .end_ms = kMinEventTimeMs, .closes_ms = kMaxEventTimeMs};

  const Plan* plan_;
  Windows windows_;
  std::size_t hand_over_;            // pending updates
  Windows::Place place_ = kNowhere;  // the current one, and that of what is pending
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  std::uint64_t accepted_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t partly_late_ = 0;
  std::uint64_t here_count_ = 0;                             // records since the current place was judged last
  std::uint64_t elsewhere_count_ = 0;                        // records set aside since then
  std::size_t aside_count_ = 0;                              // 0 between calls
  PendingUpdates<Update, kHandOver + kMaxUpdates> pending_;  // used below hand_over_ between calls
  std::array<Aside, kMaxUpdates> aside_;
  std::array<Update, kMaxUpdates> sorted_;  // those of one piece
};

}  // namespace glaive::engine
