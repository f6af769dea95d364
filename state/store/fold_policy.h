// FoldPolicy: decides whether an executor folds records before it hands them to their leaders, or hands over each by
// itself.
//
// Folding pays where keys recur: if the combiner has a record's key, the record causes no work at the leader. Where
// keys hardly recur, probing for them costs more than it saves. In a trial of 65,536 records, the policy counts the
// records that became part of an entry that was there already. If their share is too small, records are appended
// without a lookup for a while. Then there is another trial, as inputs change. Only counts decide and no times, so that
// a run can be replayed.
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

  /// Records were folded; of them, `new_keys` were the first of their keys.
  void OnFolded(std::uint64_t records, std::uint64_t new_keys) {
    folded_ += records;
    OnTried(records, new_keys);
  }
  /// Records were to be folded, found no place, and were appended.
  void OnRefused(std::uint64_t records) {
    appended_ += records;
    OnTried(records, records);
  }
  /// Records have been appended while folding was off.
  void OnAppended(std::uint64_t records) {
    records_ += records;
    appended_ += records;
    if (records_ >= options_.trial_records * options_.trials_between) {
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

 private:
  /// Of `records`, so many `entries` will be handed over.
  void OnTried(std::uint64_t records, std::uint64_t entries) {
    records_ += records;
    entries_ += entries;
    if (records_ >= options_.trial_records) {
      const std::uint64_t saved = records_ - std::min(entries_, records_);
      Decide(options_.folds && saved * options_.records_per_saved >= records_);
    }
  }

  void Decide(bool folds) {
    switches_ += folds == folds_ ? 0 : 1;
    folds_ = folds;
    records_ = 0;
    entries_ = 0;
  }

  FoldOptions options_;
  bool folds_;
  std::uint64_t records_ = 0;  // since the last decision
  std::uint64_t entries_ = 0;
  std::uint64_t folded_ = 0;
  std::uint64_t appended_ = 0;
  std::uint64_t switches_ = 0;
};

}  // namespace glaive::state
