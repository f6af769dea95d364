// FoldPolicy: decides whether an executor folds records before it hands them to their leaders, or hands over each by
// itself.
//
// Folding pays where keys recur: if the combiner has a record's key, the record causes no work at the leader. Where
// keys hardly recur, probing for them costs more than it saves. In a trial of 65,536 records, the policy counts the
// records that became part of an entry that was there already. If their share is too small, records are appended
// without a lookup for a while. Then there is another trial, as inputs change.
//
// Many streams have keys that recur for some time only, as the auctions do that are open. A combiner that is full of
// old keys refuses the new ones. So the policy compares two shares of records that became part of an entry: of those
// that came while the combiner filled, and of those that come since it is full. If the latter is smaller, it is to be
// read out before the epoch's end, and takes newer keys. Where the frequent keys stay the same, a full combiner has
// most of them, so the latter is the larger one.
//
// Only counts decide and no times, so that a run can be replayed.
//
// A pure value. Owned by one executor, used by its thread alone.
//
//   if (policy.folds()) { ... policy.OnFolded(records, new_keys); } else { ... policy.OnAppended(records); }
#pragma once

#include <algorithm>
#include <cstdint>

namespace glaive::state {

struct FoldOptions {
  /// Whether records are ever folded before they are handed over; a re-partitioning engine folds at the leaders alone.
  bool folds = true;
  /// Records of one trial: enough for the keys that recur to come again.
  std::uint64_t trial_records = std::uint64_t{1} << 16;
  /// So many times as many records are appended before the next trial.
  std::uint64_t trials_between = 64;
  /// Folding goes on if it saves one record in so many. The dearer it is to hand over a record, the higher.
  std::uint64_t records_per_saved = 2;
  /// The most memory of a combiner: a few times a second-level cache. A record whose key has a cell outside that cache
  /// costs less than a record that is handed over, since a leader has to merge the latter.
  std::uint64_t combiner_bytes = std::uint64_t{4} << 20;

  /// For an executor that leads all keys. It hands over a record without a message.
  FoldOptions ForOwnKeys() const {
    FoldOptions options = *this;
    options.records_per_saved = std::min<std::uint64_t>(records_per_saved, 2);
    return options;
  }

  /// For records of which nothing is due before the end of the stream: what is in the combiner need not leave it soon,
  /// so that it holds more keys than an epoch of usual length has.
  FoldOptions ForResultsAtEnd() const {
    constexpr std::uint64_t kTimesTheBytes = 2;
    FoldOptions options = *this;
    options.combiner_bytes *= kTimesTheBytes;
    return options;
  }
};

class FoldPolicy {
 public:
  explicit FoldPolicy(const FoldOptions& options) : options_(options), folds_(options.folds) {}

  /// Whether records are folded now.
  bool folds() const { return folds_; }
  /// Whether the combiner is to be read out, since an empty one would save more records than its keys do.
  bool prefers_new_keys() const { return prefers_new_keys_; }

  /// Records were folded; of them, `new_keys` were the first of their keys.
  void OnFolded(std::uint64_t records, std::uint64_t new_keys) {
    folded_ += records;
    OnTried({.records = records, .entries = new_keys});
  }
  /// Records were to be folded, found no place, and were appended.
  void OnRefused(std::uint64_t records) {
    appended_ += records;
    is_full_ = is_full_ || records > 0;
    OnTried({.records = records, .entries = records});
  }
  /// The combiner has been read out, and is empty.
  void OnReadOut() {
    is_full_ = false;
    prefers_new_keys_ = false;
    while_filling_ = {};
    since_full_ = {};
  }
  /// Records have been appended while folding was off.
  void OnAppended(std::uint64_t records) {
    trial_.records += records;
    appended_ += records;
    if (trial_.records >= options_.trial_records * options_.trials_between) {
      Decide(options_.folds);
    }
  }
  /// Records of other slices than the combiner's were appended while folding was on: they say nothing of the keys.
  void OnSetAside(std::uint64_t records) { appended_ += records; }

  /// Records folded into entries of several, and records that are entries of their own.
  std::uint64_t folded_records() const { return folded_; }
  std::uint64_t appended_records() const { return appended_; }
  /// How often it went from one to the other.
  std::uint64_t switches() const { return switches_; }
  /// How often a full combiner had to be read out for newer keys.
  std::uint64_t renewals() const { return renewals_; }

 private:
  /// Records, and the entries that are handed over of them.
  struct Tally {
    Tally& operator+=(const Tally& other) {
      records += other.records;
      entries += other.entries;
      return *this;
    }
    std::uint64_t saved() const { return records - std::min(entries, records); }
    /// Whether it saves a smaller share of its records than `other` does.
    bool SavesLessThan(const Tally& other) const { return saved() * other.records < other.saved() * records; }

    std::uint64_t records = 0;
    std::uint64_t entries = 0;
  };

  /// A full combiner is judged so many times as often as there are trials: while it holds old keys, all records are
  /// handed over.
  static constexpr std::uint64_t kJudgedInTrial = 8;

  void OnTried(const Tally& tried) {
    trial_ += tried;
    (is_full_ ? since_full_ : while_filling_) += tried;
    if (is_full_ && since_full_.records * kJudgedInTrial >= options_.trial_records) {
      const bool prefers = Pays(while_filling_) && since_full_.SavesLessThan(while_filling_);
      renewals_ += prefers && !prefers_new_keys_ ? 1 : 0;
      prefers_new_keys_ = prefers_new_keys_ || prefers;
      since_full_ = {};
    }
    if (trial_.records >= options_.trial_records) {
      Decide(options_.folds && (prefers_new_keys_ || Pays(trial_)));
    }
  }

  bool Pays(const Tally& tally) const { return tally.saved() * options_.records_per_saved >= tally.records; }

  void Decide(bool folds) {
    switches_ += folds == folds_ ? 0 : 1;
    folds_ = folds;
    trial_ = {};
  }

  FoldOptions options_;
  bool folds_;
  bool is_full_ = false;  // it has refused records since it was read out
  bool prefers_new_keys_ = false;
  Tally trial_;  // since the last decision
  Tally while_filling_;
  Tally since_full_;  // since it was judged
  std::uint64_t folded_ = 0;
  std::uint64_t appended_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t renewals_ = 0;
};

}  // namespace glaive::state
