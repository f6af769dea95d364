// AppendTable: an executor's primary state for one window slice of an append set: its tuples, in the order of their
// arrival.
//
// Adding a tuple needs no lookup, so it costs a sequential write. A table that has outgrown the cache is split by some
// bits of the keys' hashes into as many logs (StateThresholds). When a window fires, a join puts equal keys together a
// log at a time, in the cache (a radix join: Manegold, Boncz and Kersten, VLDB 2000).
//
// Owned by one executor, used by its thread alone.
//
//   1. All entries of a key are in one log. Its number follows from the key's hash and from whether the table is split.
//   2. The texts of keys and tuples are in memory of the table's own.
//
//   auto table = AppendTable<std::uint64_t, Appended<Offer>>::Create(memory, expected_entries);
//   status = table->ApplyRun(memory, updates);   // of keys and tuples, see delta_entry.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/index/hash_index.h"
#include "state/index/key_hash.h"
#include "state/log/append_log.h"
#include "state/log/state_memory.h"
#include "state/log/text_log.h"
#include "state/record/record.h"
#include "state/store/table_counts.h"

namespace glaive::state {

/// The number of the log, in a table that is split, for a key with a given hash. It follows from bits of the hash that
/// do not choose the leader (key_hash.h).
class SplitLogOf {
 public:
  explicit SplitLogOf(const StateMemory& memory) : shift_(64 - memory.thresholds().split_bits) {}
  std::size_t operator()(std::uint64_t hash) const { return hash >> shift_; }

 private:
  std::uint32_t shift_;
};

template <StateKey K, typename V>
class AppendTable {
 public:
  struct Entry {
    using Members = std::tuple<K, V>;
    template <typename Self, typename Visit>
    static void VisitMembers(Self& self, const Visit& visit) {
      visit("key", self.key);
      visit("", self.value);
    }

    K key;
    V value;
  };
  using Log = AppendLog<Entry>;
  using Forecast = std::uint64_t;  // not used: a table splits when it has become large
  static Forecast Both(Forecast /*a*/, Forecast /*b*/) { return 0; }
  static bool IsOfMany(const StateThresholds& /*thresholds*/, Forecast /*forecast*/) { return false; }

  /// An empty table. It is one log, whatever it is expected to hold: ApplyRun splits it once it exceeds
  /// StateThresholds::split_bytes, and copies no more than that.
  static absl::StatusOr<AppendTable> Create(StateMemory& /*memory*/, std::uint64_t /*expected_entries*/) {
    return AppendTable();
  }

  /// Appends the tuples of updates (delta_entry.h); splits what has grown too large. ResourceExhausted past the budget.
  template <typename E>
  absl::Status ApplyRun(StateMemory& memory, std::span<const E> run) {
    if constexpr (kHasText<E>) {
      std::size_t bytes = 0;
      for (const E& update : run) {
        bytes += TextBytes(update);
      }
      if (absl::Status status = texts_.MakeRoom(memory, bytes); !status.ok()) {
        return status;
      }
    }
    const KeyHash hash = memory.key_hash();
    const SplitLogOf log_of(memory);
    for (const E& update : run) {
      Log& log = logs_[split() ? log_of(hash(update.key)) : 0];
      if (!log.has_room()) [[unlikely]] {
        if (absl::Status status = log.MakeRoom(memory); !status.ok()) {
          return status;
        }
      }
      log.Append(texts_.Own({.key = update.key, .value = {update.input}}));
    }
    size_ += run.size();
    return !split() && size_ * sizeof(Entry) > memory.thresholds().split_bytes ? Split(memory) : absl::OkStatus();
  }

  bool split() const { return logs_.size() > 1; }
  /// Splits a table that is not, whatever its size. ResourceExhausted past the budget.
  absl::Status Split(StateMemory& memory) {
    const SplitLogOf log_of(memory);
    std::vector<Log> parts(memory.thresholds().split_logs());
    Log& all = logs_.front();
    for (std::size_t run = 0; run < all.run_count(); ++run) {
      for (const Entry& entry : all.Run(run)) {
        Log& part = parts[log_of(memory.key_hash()(entry.key))];
        if (absl::Status status = part.MakeRoom(memory); !status.ok()) {
          return status;
        }
        part.Append(entry);
      }
    }
    all.Release(memory);
    logs_ = std::move(parts);
    return absl::OkStatus();
  }

  /// One log, or those of StateThresholds::split_logs().
  std::span<const Log> logs() const { return logs_; }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    for (Log& log : logs_) {
      log.Release(memory);
    }
    texts_.Release(memory);
    size_ = 0;
  }

  /// Entries.
  std::uint64_t size() const { return size_; }

  // There is no index to grow or to prefetch from, and nothing to plan.
  TableCounts counts() const { return {.split_slices = split() ? std::uint64_t{1} : 0}; }
  Forecast forecast() const { return 0; }

 private:
  AppendTable() : logs_(1) {}

  std::vector<Log> logs_;
  [[no_unique_address]] TextLog<Entry> texts_;  // of all logs
  std::uint64_t size_ = 0;
};

}  // namespace glaive::state
