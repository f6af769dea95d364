// JoinOracle: computes what a join of two streams must emit, sequentially and with plain standard containers, and
// compares.
//
// Like Oracle (oracle.h) it shares the generators with the query and nothing else. Records of both sides with the same
// key in the same window make a row each pair, of what is kept of them; a left or a full join has rows for records
// without a partner, too. A session is one of both sides' records together. A record is late by the watermark of its
// own side's flow. Rows are a multiset: equal ones count.
//
// Holds what is kept of all records, and all rows: for streams that fit the memory. Costs: about 500 ns for each
// record, as much again for each further window it lies in, and 200 ns for each row.
//
//   JoinOracle oracle("nb8", JoinKind::kInner, {.size_ms = 1000, .slide_ms = 1000},
//                     JoinSide<Auction, std::uint64_t>{auctions, [](const Auction& a) { return a.seller; },
//                                                      [](const Auction& a) { return a.id; }},
//                     JoinSide<Seller, std::int64_t>{sellers, ...});
//   Verdict verdict = oracle.Check(emitted);
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "queries/common/flow_reader.h"
#include "queries/common/join_kind.h"
#include "queries/common/oracle.h"
#include "queries/common/row_check.h"
#include "rdma/base/check.h"
#include "rdma/base/watch.h"

namespace glaive::queries {

/// One side of a join: its records, their keys, and what the rows have of them.
template <typename R, typename K>
struct JoinSide {
  CheckedInput<R> input;
  std::function<std::uint64_t(const R&)> key_of;
  std::function<K(const R&)> keep;
};

/// The most that is held for a record.
inline constexpr std::uint64_t kHeldRecordBytes = 128;

template <typename L, typename KeptL, typename R, typename KeptR>
class JoinOracle {
 public:
  /// `windows` are regular, with a size, or sessions.
  JoinOracle(std::string query, JoinKind kind, CheckedWindows windows, JoinSide<L, KeptL> left,
             JoinSide<R, KeptR> right)
      : query_(std::move(query)), kind_(kind), windows_(windows), left_(std::move(left)), right_(std::move(right)) {
    GLAIVE_CHECK(windows.kind != CheckedWindows::Kind::kUnbounded && windows.size_ms > 0, "no windows of a join");
  }

  /// Checks rows in any order; for `leads` see RowCheck. `watch` may end the check.
  Verdict Check(std::span<const ResultRow> emitted, const RowCheck::Leads& leads = nullptr,
                const Watch& watch = GoOn) const {
    Records records;
    std::vector<ResultRow> rows;
    absl::Status status = Read(left_, &OfKey::left, watch, records);
    if (status.ok()) {
      status = Read(right_, &OfKey::right, watch, records);
    }
    std::uint64_t keys = 0;
    for (auto key = records.begin(); key != records.end() && status.ok(); ++key) {
      AppendRows(key->first, key->second, rows);
      status = Ask(watch, ++keys, kKeysBetweenWatches);
    }
    if (!status.ok()) {
      return {.status = std::move(status), .expected = {}, .emitted = {}};
    }
    RowCheck check(query_, ValueKind::kHash, emitted, leads);
    check.Windows(std::move(rows));
    return check.Finish();
  }

 private:
  static constexpr std::uint64_t kRecordsBetweenWatches = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kKeysBetweenWatches = std::uint64_t{1} << 10;

  template <typename Kept>
  struct Held {
    std::int64_t time_ms;
    std::int64_t watermark_ms;  // by which it is late
    Kept kept;
  };
  static_assert(2 * std::max(sizeof(Held<KeptL>), sizeof(Held<KeptR>)) + 64 <= kHeldRecordBytes, "as a vector grows");

  struct OfKey {
    std::vector<Held<KeptL>> left;
    std::vector<Held<KeptR>> right;
  };
  using Records = std::unordered_map<std::uint64_t, OfKey>;

  /// What a key has in a window.
  struct InWindow {
    std::int64_t end_ms = 0;
    std::vector<KeptL> left;
    std::vector<KeptR> right;
  };
  using WindowsOfKey = std::map<std::int64_t, InWindow>;  // by their starts

  static absl::Status Ask(const Watch& watch, std::uint64_t done, std::uint64_t every) {
    return done % every == 0 ? watch() : absl::OkStatus();
  }

  template <typename Record, typename Kept>
  static absl::Status Read(const JoinSide<Record, Kept>& side, std::vector<Held<Kept>> OfKey::* held,
                           const Watch& watch, Records& records) {
    std::uint64_t done = 0;
    for (std::uint32_t executor = 0; executor < side.input.record_counts.size(); ++executor) {
      for (FlowReader<Record> flow(side.input, executor); !flow.done(); flow.Advance()) {
        const Record& record = flow.record();
        (records[side.key_of(record)].*held)
            .push_back(
                {.time_ms = flow.event_time_ms(), .watermark_ms = flow.watermark_ms(), .kept = side.keep(record)});
        if (absl::Status status = Ask(watch, ++done, kRecordsBetweenWatches); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  void AppendRows(std::uint64_t key, const OfKey& records, std::vector<ResultRow>& rows) const {
    WindowsOfKey windows;
    if (windows_.kind == CheckedWindows::Kind::kSession) {
      OpenSessions(records, windows);
    }
    for (const Held<KeptL>& record : records.left) {
      Place(record, &InWindow::left, windows);
    }
    for (const Held<KeptR>& record : records.right) {
      Place(record, &InWindow::right, windows);
    }
    for (const auto& [start_ms, window] : windows) {
      Pair(ResultRow{.window_start_ms = start_ms, .window_end_ms = window.end_ms, .key = key}, window, rows);
    }
  }

  template <typename Kept>
  static bool IsLateForSessions(const Held<Kept>& record) {
    return record.time_ms < record.watermark_ms;
  }

  /// A session goes on while the next record of either side comes less than its size after one of it.
  void OpenSessions(const OfKey& records, WindowsOfKey& windows) const {
    std::set<std::int64_t> times_ms;
    const auto add = [&](const auto& record) {
      if (!IsLateForSessions(record)) {
        times_ms.insert(record.time_ms);
      }
    };
    std::ranges::for_each(records.left, add);
    std::ranges::for_each(records.right, add);
    for (const std::int64_t time_ms : times_ms) {
      if (windows.empty() || time_ms >= windows.rbegin()->second.end_ms) {
        windows[time_ms] = {};
      }
      windows.rbegin()->second.end_ms = time_ms + windows_.size_ms;
    }
  }

  /// Adds a record to the windows it lies in, but for those that it is late for.
  template <typename Kept>
  void Place(const Held<Kept>& record, std::vector<Kept> InWindow::* side, WindowsOfKey& windows) const {
    if (windows_.kind == CheckedWindows::Kind::kSession) {
      if (!IsLateForSessions(record)) {
        (std::prev(windows.upper_bound(record.time_ms))->second.*side).push_back(record.kept);
      }
      return;
    }
    const std::int64_t slide_ms = windows_.slide_ms;
    const std::int64_t into_slide_ms = (record.time_ms % slide_ms + slide_ms) % slide_ms;
    for (std::int64_t start_ms = record.time_ms - into_slide_ms;
         start_ms + windows_.size_ms > std::max(record.time_ms, record.watermark_ms); start_ms -= slide_ms) {
      InWindow& window = windows[start_ms];
      window.end_ms = start_ms + windows_.size_ms;
      (window.*side).push_back(record.kept);
    }
  }

  /// Appends the rows of a window; `row` has all of them but the value.
  void Pair(ResultRow row, const InWindow& window, std::vector<ResultRow>& rows) const {
    const auto append = [&](const std::optional<KeptL>& left, const std::optional<KeptR>& right) {
      row.value = ValueBits(std::tuple(left, right));
      rows.push_back(row);
    };
    for (const KeptL& left : window.left) {
      for (const KeptR& right : window.right) {
        append(left, right);
      }
      if (window.right.empty() && kind_ != JoinKind::kInner) {
        append(left, std::nullopt);
      }
    }
    if (window.left.empty() && kind_ == JoinKind::kFull) {
      for (const KeptR& right : window.right) {
        append(std::nullopt, right);
      }
    }
  }

  std::string query_;
  JoinKind kind_;
  CheckedWindows windows_;
  JoinSide<L, KeptL> left_;
  JoinSide<R, KeptR> right_;
};

}  // namespace glaive::queries
