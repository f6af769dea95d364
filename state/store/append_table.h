// AppendTable: an executor's primary state for one window slice of an append set: its tuples, in the order they came.
//
// Adding a tuple looks nothing up, so it costs a sequential write. What has grown beyond the cache is split by 8 bits
// of the keys' hashes into 256 logs, so that whoever puts equal keys together later, when a window fires, can do it a
// log at a time, in the cache (a radix join: Manegold, Boncz and Kersten, VLDB 2000).
//
// Owned by one executor, used by its thread alone.
//
//   1. All entries of a key are in one log, whose number follows from the key's hash and from whether the table is
//   split.
//
//   auto table = AppendTable<std::uint64_t, Appended<Offer>>::Create(memory, expected_entries);
//   status = table->Apply(memory, items, [](Appended<Offer>& value, const auto& item) { value.Update(item.input); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/index/hash_index.h"
#include "state/index/key_hash.h"
#include "state/log/entry_log.h"

namespace glaive::state {

template <StateKey K, typename V>
class AppendTable {
 public:
  struct Entry {
    K key;
    V value;
  };
  using Log = EntryLog<Entry>;

  /// Logs of a table that is split.
  static constexpr std::size_t kSplitLogs = 256;
  /// From here on a table is split: half of a usual second-level cache.
  static constexpr std::uint64_t kSplitBytes = std::uint64_t{1} << 20;

  /// An empty slice, split from the start if it will need it.
  static absl::StatusOr<AppendTable> Create(StateMemory& /*memory*/, std::uint64_t expected_entries) {
    return AppendTable(expected_entries * sizeof(Entry) > kSplitBytes ? kSplitLogs : 1);
  }

  /// Appends an entry for each item, which have `.hash` and `.key`, and calls `apply(value, item)` on its value.
  /// ResourceExhausted past the budget.
  template <typename Item, typename Applier>
  absl::Status Apply(StateMemory& memory, std::span<const Item> items, Applier&& apply) {
    for (const Item& item : items) {
      Log& log = logs_[LogOf(item.hash)];
      if (absl::Status status = log.MakeRoom(memory, 1); !status.ok()) [[unlikely]] {
        return status;
      }
      Entry entry{.key = item.key, .value = V{}};
      apply(entry.value, item);
      log.Append(entry);
    }
    size_ += items.size();
    return !split() && size_ * sizeof(Entry) > kSplitBytes ? Split(memory) : absl::OkStatus();
  }

  /// Splits the table if it isn't. ResourceExhausted past the budget.
  absl::Status Split(StateMemory& memory) {
    if (split()) {
      return absl::OkStatus();
    }
    std::vector<Log> parts(kSplitLogs);
    Log& all = logs_.front();
    for (std::uint32_t number = 0; number < all.size(); ++number) {
      const Entry& entry = all.At(number);
      Log& part = parts[PartOf(HashKey(entry.key))];
      if (absl::Status status = part.MakeRoom(memory, 1); !status.ok()) {
        return status;
      }
      part.Append(entry);
    }
    all.Release(memory);
    logs_ = std::move(parts);
    return absl::OkStatus();
  }

  bool split() const { return logs_.size() > 1; }
  /// One log, or kSplitLogs: log i of two split tables has the same keys.
  std::span<const Log> logs() const { return logs_; }

  /// Gives all memory back.
  void Release(StateMemory& memory) {
    for (Log& log : logs_) {
      log.Release(memory);
    }
    size_ = 0;
  }

  /// Entries.
  std::uint64_t size() const { return size_; }

  // There is no index to grow, and none to prefetch from.
  std::uint64_t index_growths() const { return 0; }
  const HashIndex* prefetch_index() const { return nullptr; }

 private:
  explicit AppendTable(std::size_t logs) : logs_(logs) {}

  /// The bits that no leader is chosen by (key_hash.h).
  static std::size_t PartOf(std::uint64_t hash) { return hash >> 56; }
  std::size_t LogOf(std::uint64_t hash) const { return split() ? PartOf(hash) : 0; }

  std::vector<Log> logs_;
  std::uint64_t size_ = 0;
};

}  // namespace glaive::state
