// PartitionedStore: the state backend of one executor (paper section 7) for one of the query's inputs. It has the
// partition that the executor leads, and brings the executor's records to all leaders.
//
//             the only leader, with cells                   one of several leaders, or without cells
//   record ──► folder: the slice's cells,         ──► folder: the combiner,
//      │       if they fit the cache                   where keys recur (fold_policy.h)
//      │ not taken                                      │ not taken          │ read out: slice ends, epoch ends
//      ▼                                                ▼                    ▼
//   own partition                                 updates ──► leaders ◄── forms      (own partition, or fragment)
//
//             no leader, and never folds
//   record ──► folder: the segments of leaders (append_folder.h); not taken where few are free ──► updates
//
// A folder takes records in the loop of the chain, whichever executor leads their keys. Take takes the rest, many at a
// time.
//
// Values with texts have neither cells nor a combiner: each record is an update, which goes to its key's leader.
//
// Owned by one executor, used by its thread alone; nothing in it waits. Deltas of others are merged into the own
// partition only, so merging needs neither credit nor segment (invariant I5).
//
//   1. Every record is part of exactly one entry, and every entry goes to the executor Leaders::Of(hash) (I2 relies
//      on it).
//   2. Records in the combiner are in no leader's state: ReadOut comes before any watermark that covers them (I3).
//
//   store.Enter(slice);                                    // not holds_back(), or all of the slice
//   store.UseFolder(slice, [&](auto folder) {
//     if (!folder.TryFold(key, input)) rest.push_back({key, input});
//     return folder;
//   });
//   if (store.HasRoom(rest.size())) status = store.Take(slice, rest);       // most_at_once() at most
//   while (store.holds_back() && store.HasRoom(store.most_at_once())) status = store.ReadOutSome();
//   status = store.CheckRun(reader, run, open_slices);
//   for (std::size_t merged = 0; merged < run.entry_count;) merged += *store.MergeSome(reader, run, merged);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "state/crdt/crdt.h"
#include "state/epoch/delta_observer.h"
#include "state/epoch/delta_reader.h"
#include "state/epoch/outbox.h"
#include "state/index/leaders.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"
#include "state/record/text_wire.h"
#include "state/store/append_folder.h"
#include "state/store/combiner.h"
#include "state/store/delta_entry.h"
#include "state/store/fold_policy.h"
#include "state/store/folders.h"
#include "state/store/fragment.h"
#include "state/store/primary_partition.h"
#include "state/store/state_kind.h"
#include "state/store/too_long.h"

namespace glaive::state {

/// `TableT` is what the slices of its partition are stored in.
template <StateKey K, typename V, typename TableT = typename StateKind<K, V>::Table>
  requires CrdtValue<V> || kIsAppended<V>
class PartitionedStore {
 public:
  using Table = TableT;
  using Primary = PrimaryPartition<K, V, Table>;
  using Update = DeltaUpdate<K, typename V::Input>;
  using Form = DeltaForm<K, V>;

  /// Whether records are folded before they are handed to leaders: tuples that are appended never are.
  static constexpr bool kFolds = !kIsAppended<V> && !kHasText<V>;
  static constexpr bool kHasTexts = kHasText<Update>;
  /// The sizes of its deltas' entries.
  static constexpr DeltaEntryBytes kEntryBytes = [] {
    DeltaEntryBytes bytes{.update = sizeof(Update), .has_texts = kHasTexts};
    if constexpr (kFolds) {
      bytes.form = sizeof(Form);
    }
    return bytes;
  }();
  static constexpr std::size_t kMostEntryBytes = std::max(kEntryBytes.update, kEntryBytes.form);
  /// Those of an entry with the longest texts that it may have, in messages of `slot_bytes`.
  static constexpr std::size_t MostEntryBytes(std::size_t slot_bytes) {
    return kMostEntryBytes + (kHasTexts ? MostTextBytes(slot_bytes) + kRunAlignment : 0);
  }

  /// What a store is connected with; all outlive it.
  struct Context {
    StateMemory* memory = nullptr;
    rdma::SegmentPool* pool = nullptr;  // has at least geometry.pool_segments
    Outbox* outbox = nullptr;
    DeltaObserver* observer = nullptr;  // may be null
    ExecutorId self{};
    Leaders leaders = Leaders(1);  // of the executors that bring each other entries
    std::uint32_t input = 0;       // of the query's
    FragmentGeometry geometry;
    FoldOptions fold;
    TextNames names = {};
  };

  /// ResourceExhausted when the combiner does not fit the budget.
  static absl::StatusOr<PartitionedStore> Create(const Context& context) {
    PartitionedStore store(context);
    if (context.leaders.executor_count() > 1) {
      store.fragment_.emplace(*context.pool, *context.outbox, context.self, context.leaders, context.geometry,
                              kMostEntryBytes, context.input, context.observer);
    }
    if constexpr (kFolds) {
      if (!store.leads_alone_ || kCombinesAlone) {
        auto combiner = Combiner<K, V>::Create(*context.memory, context.fold.combiner_bytes);
        if (!combiner.ok()) {
          return combiner.status();
        }
        store.combiner_ = *std::move(combiner);
        store.forms_.resize(kFormsAtOnce);
      }
    }
    return store;
  }

  // ---- the way of records ------------------------------------------------------------------------------------------

  /// Most records that follow are of `slice`. The store holds back records of no other slice.
  void Enter(SliceId slice) {
    if constexpr (kFolds) {
      GLAIVE_CHECK(combiner_.empty() || combiner_.slice() == slice, "a combiner has keys of slice ",
                   Value(combiner_.slice()), " when slice ", Value(slice), " begins");
      combiner_.BeginSlice(slice);
    }
  }

  /// Whether records of other slices than `slice` are held back.
  bool holds_back_others(SliceId slice) const { return holds_back() && combiner_.slice() != slice; }

  /// Calls `use(folder)` with a folder (folders.h) for records of a slice, and takes over what it returns: the folder,
  /// once it has folded some. Take has to bring the records that the folder does not take.
  template <typename UseFn>
  void UseFolder(SliceId slice, const UseFn& use) {
    if constexpr (kFolds) {
      if (policy_.folds() && !combiner_.empty() && combiner_.slice() == slice) {
        const std::uint32_t keys = combiner_.size();
        const std::size_t folded = combiner_.UseFolder(use);
        policy_.OnFolded(folded, combiner_.size() - keys);
        return;
      }
    }
    if constexpr (kHasCells) {
      Table* const table = leads_alone_ ? primary_.LastOpened(slice) : nullptr;
      if (table != nullptr && table->has_folder()) {
        table->UseFolder(use);
        return;
      }
    }
    if constexpr (kFolds && !kHasTexts) {
      const bool appends = fragment_.has_value() && !leads() && !policy_.folds() && HasRoom(most_at_once());
      policy_.OnAppended(use(appends ? BeginAppending(slice) : AppendFolder<K, V>(leaders_)).folded());
    } else {
      use(NoFolder<K, V>());
    }
  }

  /// The most records that Take takes, and the most that ReadOutSome hands over.
  std::size_t most_at_once() const {
    return leads_alone_ ? kMostEntries : MostEntriesAtOnce(MostEntryBytes(message_bytes_));
  }

  /// Whether Take of `items` records, or ReadOutSome of so many, can be done now. If not, wait for segments.
  bool HasRoom(std::size_t items) const {
    return leads_alone_ || fragment_->HasRoom(2 * items, MostEntryBytes(message_bytes_));
  }

  /// Takes up to most_at_once() records of one slice into the state, or to their leaders; HasRoom for them. `updates`
  /// have no particular content afterwards. ResourceExhausted past the budget ends the run, and so does
  /// InvalidArgument of an update whose texts are too long for a message.
  absl::Status Take(SliceId slice, std::span<Update> updates) {
    if (updates.empty()) {
      return absl::OkStatus();
    }
    if (leads_alone_ && !kCombinesAlone) {
      return ApplyToPrimary(slice, std::span<const Update>(updates));
    }
    if constexpr (kFolds) {
      if (policy_.folds() && combiner_.slice() == slice && !combiner_.full()) {
        return Fold(slice, updates);
      }
    }
    if (!kFolds || !policy_.folds()) {
      policy_.OnAppended(updates.size());
    } else if (combiner_.slice() == slice) {
      policy_.OnRefused(updates.size());
    } else {
      policy_.OnSetAside(updates.size());
    }
    return HandOver(slice, std::span<const Update>(updates));
  }

  /// Whether records are held back in the combiner.
  bool holds_back() const { return kFolds && !combiner_.empty(); }
  /// The slice that they are of.
  SliceId held_back_slice() const { return combiner_.slice(); }
  /// Whether it is better read out now, so that more keys fit, or since folding does not pay.
  bool wants_read_out() const {
    return kFolds && !combiner_.empty() &&
           (!policy_.folds() || policy_.prefers_new_keys() || combiner_.wants_to_grow() || combiner_.has_long_texts());
  }
  /// Hands over what is held back, most_at_once() at most; HasRoom for so many. To be called until nothing is held
  /// back.
  absl::Status ReadOutSome() {
    if constexpr (kFolds) {
      const std::span<Form> some = std::span(forms_).first(std::min(forms_.size(), most_at_once()));
      const std::size_t count = combiner_.ReadOut(*memory_, some);
      if (count == 0) {
        policy_.OnReadOut();
      }
      return HandOver(combiner_.slice(), std::span<const Form>(some.first(count)));
    }
    return absl::OkStatus();
  }

  /// Whether this executor leads any key.
  bool leads() const { return own_place_ < leaders_.count(); }
  /// Null where state stays on its executor.
  Fragment* fragment() { return fragment_ ? &*fragment_ : nullptr; }
  const Fragment* fragment() const { return fragment_ ? &*fragment_ : nullptr; }

  // ---- deltas of others --------------------------------------------------------------------------------------------

  /// Whether the entries of a run that `reader` has checked may be merged: `open` are the slices that the sender may
  /// still change. DataLoss if not.
  absl::Status CheckRun(const DeltaReader& reader, const DeltaRun& run, SliceRange open) const {
    const SliceId first = std::max(open.first, primary_.first_open());
    if (run.slice > open.last) {
      return absl::DataLossError(absl::StrCat("executor ", Value(reader.sender()), " changes slice ", Value(run.slice),
                                              " in its epoch ", Value(reader.current()),
                                              ", past the end of event time (executor ", Value(self_),
                                              " expects at most ", Value(open.last), ")"));
    }
    if (run.slice < first) {
      return absl::DataLossError(absl::StrCat("I3: executor ", Value(reader.sender()), " changes slice ",
                                              Value(run.slice), " in its epoch ", Value(reader.current()),
                                              " after its watermark or the run's had passed it (executor ",
                                              Value(self_), " expects ", Value(first), " or later)"));
    }
    return absl::OkStatus();
  }

  /// Merges up to kMostEntries entries of a run that has passed CheckRun, from number `first` on. Returns how many.
  /// DataLoss when this executor does not lead one of their keys; ResourceExhausted past the budget.
  absl::StatusOr<std::size_t> MergeSome(DeltaReader& reader, const DeltaRun& run, std::size_t first) {
    if constexpr (kFolds) {
      if (run.kind == DeltaKind::kForm) {
        return MergeEntries<Form>(reader, run, first);
      }
    }
    return MergeEntries<Update>(reader, run, first);
  }

  Primary& primary() { return primary_; }
  const Primary& primary() const { return primary_; }
  /// Entries of other executors merged so far.
  std::uint64_t merged_entries() const { return merged_entries_; }
  /// Entries of its own records that it led itself.
  std::uint64_t own_entries() const { return own_entries_; }
  const FoldPolicy& fold_policy() const { return policy_; }

 private:
  static constexpr bool kHasCells = requires(const Table& table) { table.cells(); };
  /// Whether an executor that leads all keys has a combiner: where slices have no cells, and values are so small that
  /// merging a form costs no more than an update.
  static constexpr bool kCombinesAlone = kFolds && !kHasCells && kFitsCells<K, V>;
  /// Forms read out or entries merged at a time, so that a copy of them stays in the cache.
  template <typename E>
  static constexpr std::size_t kAtOnce = std::clamp<std::size_t>((std::size_t{32} << 10) / sizeof(E), 1, kMostEntries);
  static constexpr std::size_t kFormsAtOnce = [] {
    if constexpr (kFolds) {
      return kAtOnce<Form>;
    }
    return std::size_t{0};
  }();

  explicit PartitionedStore(const Context& context)
      : memory_(context.memory),
        self_(context.self),
        leaders_(context.leaders),
        own_place_(context.leaders.PlaceOf(context.self)),
        leads_alone_(context.leaders.count() == 1 && context.leaders.Leads(context.self)),
        message_bytes_(context.pool != nullptr ? context.pool->slot_bytes() : 0),
        names_(context.names),
        primary_(*context.memory),
        policy_(leads_alone_ ? context.fold.ForOwnKeys() : context.fold) {}

  AppendFolder<K, V> BeginAppending(SliceId slice) {
    fragment_->Begin(slice, DeltaKind::kUpdate);
    return AppendFolder<K, V>(*fragment_, leaders_, memory_->key_hash());
  }

  /// Folds records into the combiner, new keys as long as there are cells; hands over the rest.
  absl::Status Fold(SliceId slice, std::span<Update> updates) {
    const std::uint32_t keys = combiner_.size();
    std::size_t rest = 0;      // of the updates, in their place
    std::size_t replaced = 0;  // forms that gave up their cell to a new one of their key
    if (!combiner_.MakeRoomFor(*memory_, updates).ok()) {
      return HandOver(slice, std::span<const Update>(updates));  // no memory for the texts of new keys
    }
    absl::Status status;
    for (const Update& update : updates) {
      CompactForm<V>* const form = combiner_.FindOrInsert(update.key);
      if (form == nullptr) {
        updates[rest++] = update;
      } else if (!form->TryUpdate(update.input)) [[unlikely]] {
        forms_[replaced++] = {update.key, std::exchange(*form, CompactForm<V>())};
        if (!form->TryUpdate(update.input)) {
          updates[rest++] = update;
        }
        if (replaced == forms_.size()) {
          status.Update(HandOver(slice, std::span<const Form>(forms_)));
          replaced = 0;
        }
      }
    }
    const std::size_t new_keys = combiner_.size() - keys;
    policy_.OnFolded(updates.size() - rest, new_keys);
    policy_.OnRefused(rest);
    status.Update(HandOver(slice, std::span<const Form>(forms_).first(replaced)));
    status.Update(HandOver(slice, std::span<const Update>(updates).first(rest)));
    return status;
  }

  /// Brings entries to the leaders of their keys.
  template <typename E>
  absl::Status HandOver(SliceId slice, std::span<const E> entries) {
    if (entries.empty()) {
      return absl::OkStatus();
    }
    if (leads_alone_) {
      own_entries_ += entries.size();
      return ApplyToPrimary(slice, entries);
    }
    fragment_->Begin(slice, E::kKind);
    const KeyHash hash = memory_->key_hash();
    for (const E& entry : entries) {
      if constexpr (kHasText<E>) {
        if (TextBytes(entry) > MostTextBytes(message_bytes_)) [[unlikely]] {
          return TooLong(entry, names_, message_bytes_);
        }
      }
      fragment_->Append(leaders_.NumberOf(hash(entry.key)), entry);
    }
    const std::span<const E> own = fragment_->template own<E>();
    own_entries_ += own.size();
    return own.empty() ? absl::OkStatus() : ApplyToPrimary(slice, own);
  }

  template <typename E>
  absl::Status ApplyToPrimary(SliceId slice, std::span<const E> entries) {
    absl::StatusOr<Table*> table = primary_.Open(slice);
    return table.ok() ? (*table)->ApplyRun(*memory_, entries) : table.status();
  }

  template <typename E>
  absl::StatusOr<std::size_t> MergeEntries(DeltaReader& reader, const DeltaRun& run, std::size_t first) {
    const std::size_t count = std::min<std::size_t>(run.entry_count - first, kAtOnce<E>);
    merging_.resize(kAtOnce<E> * sizeof(E));
    // A copy: the sender could still write to the ring.
    std::memcpy(merging_.data(), run.entries.data() + first * sizeof(E), count * sizeof(E));
    const std::span<const E> entries(reinterpret_cast<const E*>(merging_.data()), count);
    if constexpr (kHasText<E>) {
      merging_texts_.Clear();
      for (E& entry : std::span(reinterpret_cast<E*>(merging_.data()), count)) {
        if (!reader.texts().Unpack(entry)) {
          return reader.RefuseTexts();
        }
        merging_texts_.Adopt(entry);
      }
    }
    absl::Status status = CheckLeader(reader, entries);
    if (status.ok()) {
      status = ApplyToPrimary(run.slice, entries);
    }
    if (!status.ok()) {
      return status;
    }
    merged_entries_ += count;
    return count;
  }

  /// DataLoss when this executor does not lead one of the keys that `reader` has brought.
  template <typename E>
  absl::Status CheckLeader(const DeltaReader& reader, std::span<const E> entries) const {
    if (leads_alone_) {
      return absl::OkStatus();
    }
    const KeyHash hash = memory_->key_hash();
    const auto leader_of = [&](const E& entry) { return leaders_.NumberOf(hash(entry.key)); };
    std::uint32_t difference = 0;  // no branch for each entry
    for (const E& entry : entries) {
      difference |= leader_of(entry) ^ own_place_;
    }
    if (difference == 0) [[likely]] {
      return absl::OkStatus();
    }
    const auto foreign = std::ranges::find_if(entries, [&](const E& entry) { return leader_of(entry) != own_place_; });
    return absl::DataLossError(absl::StrCat("executor ", Value(reader.sender()), " sent executor ", Value(self_),
                                            " a key that executor ", Value(leaders_.executor(leader_of(*foreign))),
                                            " leads, in its epoch ", Value(reader.current())));
  }

  StateMemory* memory_;
  ExecutorId self_;
  Leaders leaders_;
  std::uint32_t own_place_;  // among the leaders, or behind them
  bool leads_alone_;         // whether it leads all keys, so that its records stay here
  std::size_t message_bytes_;
  TextNames names_;
  Primary primary_;
  std::optional<Fragment> fragment_;
  Combiner<K, V> combiner_;  // of no use to an executor that leads all keys and has cells for them
  FoldPolicy policy_;
  std::vector<Form> forms_;         // on their way to leaders
  std::vector<std::byte> merging_;  // entries of a ring
  TextArena merging_texts_;         // of these entries
  std::uint64_t merged_entries_ = 0;
  std::uint64_t own_entries_ = 0;
};

}  // namespace glaive::state
