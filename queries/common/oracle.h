// Oracle: computes what a query must emit, sequentially and with plain standard containers, and compares.
//
// It shares the generator with the query and nothing else: no code of the engine, the state or the network. It reads
// the flows side by side, the one that is furthest behind first, so it holds the windows that flows disagree about,
// however long the run was. Costs: about 100 ns for each record and window, and one copy of the rows it checks.
//
//   struct Highest {                                                     // of one key in one window
//     void Add(const Bid& bid) { price = std::max(price, bid.price); }
//     std::uint64_t value() const { return price; }
//     std::uint64_t price = 0;
//   };
//   Oracle<Bid> oracle("nb7", input, {.size_ms = 60'000, .slide_ms = 60'000});
//   Verdict verdict = oracle.Check<Highest>([](const Bid& bid) { return std::optional(bid.auction); }, emitted);
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "queries/common/flow_reader.h"
#include "queries/common/row_check.h"
#include "rdma/base/watch.h"

namespace glaive::queries {

/// The windows of a query.
struct CheckedWindows {
  enum class Kind : std::uint8_t {
    kRegular,    // a new one every `slide_ms`, each of `size_ms`; of 0: one over everything
    kSession,    // of each key's own, that end `size_ms` behind their last record
    kUnbounded,  // everything before each multiple of `size_ms`, where it differs from the one before
  };

  std::int64_t size_ms = 0;
  std::int64_t slide_ms = 0;
  Kind kind = Kind::kRegular;
};

template <typename R>
class Oracle {
 public:
  /// The key that a record counts for; none if the query drops it.
  using KeyOf = std::function<std::optional<std::uint64_t>(const R&)>;

  Oracle(std::string query, CheckedInput<R> input, CheckedWindows windows)
      : query_(std::move(query)), input_(std::move(input)), windows_(windows) {}

  /// Checks rows in any order; for `leads` see RowCheck. `Account` is what a key has in a window: Add(record), and
  /// value(), which may be an optional: an empty one is no row. Or rows(): pairs of a row's key and value. `watch` may
  /// end the check.
  template <typename Account>
  Verdict Check(const KeyOf& key_of, std::span<const ResultRow> emitted, const RowCheck::Leads& leads = nullptr,
                const Watch& watch = GoOn) const {
    RowCheck check(query_, kIsReal<Account> ? ValueKind::kReal : ValueKind::kInteger, emitted, leads);
    switch (windows_.kind) {
      case CheckedWindows::Kind::kSession:
        return Finish(CheckSessions<Account>(key_of, watch, check), check);
      case CheckedWindows::Kind::kUnbounded:
        return Finish(CheckUnbounded<Account>(key_of, watch, check), check);
      case CheckedWindows::Kind::kRegular:
        break;
    }
    std::vector<FlowReader<R>> flows = OpenFlows();
    std::map<std::int64_t, Accounts<Account>> open;  // by the windows' starts
    for (std::uint64_t turn = 0; !open.empty() || std::ranges::any_of(flows, IsBusy); ++turn) {
      FlowReader<R>& last = *std::ranges::min_element(flows, {}, [](const auto& flow) { return flow.watermark_ms(); });
      while (!open.empty() && EndMs(open.begin()->first) <= last.watermark_ms()) {
        check.Window(Rows(open.begin()->first, open.begin()->second));
        open.erase(open.begin());
      }
      Read<Account>(key_of, last, open);
      if (absl::Status status = turn % kTurnsBetweenWatches == 0 ? watch() : absl::OkStatus(); !status.ok()) {
        return Finish(std::move(status), check);
      }
    }
    return check.Finish();
  }

 private:
  template <typename Account>
  using Accounts = std::unordered_map<std::uint64_t, Account>;

  static constexpr std::uint64_t kTurnsBetweenWatches = 64;
  static constexpr std::uint64_t kRecordsBetweenWatches = std::uint64_t{1} << 16;
  static constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

  static bool IsBusy(const FlowReader<R>& flow) { return !flow.done(); }

  /// The verdict, or what ended the check.
  static Verdict Finish(absl::Status status, RowCheck& check) {
    return status.ok() ? check.Finish() : Verdict{.status = std::move(status), .expected = {}, .emitted = {}};
  }

  /// Calls `visit(key, flow)` for each record that the query selects, until the watch ends it.
  template <typename Visit>
  absl::Status ForEachRecord(const KeyOf& key_of, const Watch& watch, const Visit& visit) const {
    std::uint64_t records = 0;
    for (FlowReader<R>& flow : OpenFlows()) {
      for (; !flow.done(); flow.Advance()) {
        if (const std::optional<std::uint64_t> key = key_of(flow.record())) {
          visit(*key, flow);
        }
        if (absl::Status status = ++records % kRecordsBetweenWatches == 0 ? watch() : absl::OkStatus(); !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  std::vector<FlowReader<R>> OpenFlows() const {
    std::vector<FlowReader<R>> flows;
    for (std::uint32_t executor = 0; executor < input_.record_counts.size(); ++executor) {
      flows.emplace_back(input_, executor);
    }
    return flows;
  }

  /// Holds all records: for streams that fit the memory.
  template <typename Account>
  absl::Status CheckSessions(const KeyOf& key_of, const Watch& watch, RowCheck& check) const {
    std::map<std::uint64_t, std::multimap<std::int64_t, R>> records;  // by key and time
    const absl::Status read = ForEachRecord(key_of, watch, [&](std::uint64_t key, const FlowReader<R>& flow) {
      if (flow.event_time_ms() >= flow.watermark_ms()) {
        records[key].emplace(flow.event_time_ms(), flow.record());
      }
    });
    std::vector<ResultRow> rows;
    for (const auto& [key, of_key] : records) {
      for (auto record = of_key.begin(); record != of_key.end();) {
        const std::int64_t start_ms = record->first;
        std::int64_t end_ms = start_ms + windows_.size_ms;
        Account account;
        for (; record != of_key.end() && record->first < end_ms; ++record) {
          account.Add(record->second);
          end_ms = record->first + windows_.size_ms;
        }
        AppendRowsOf({.window_start_ms = start_ms, .window_end_ms = end_ms, .key = key}, account, rows);
      }
    }
    check.Windows(std::move(rows));
    return read;
  }

  /// Holds all records, too.
  template <typename Account>
  absl::Status CheckUnbounded(const KeyOf& key_of, const Watch& watch, RowCheck& check) const {
    std::map<std::int64_t, std::vector<std::pair<std::uint64_t, R>>> records;  // by the first result that has them
    const absl::Status read = ForEachRecord(key_of, watch, [&](std::uint64_t key, const FlowReader<R>& flow) {
      const std::int64_t time_ms = std::max(flow.event_time_ms(), flow.watermark_ms());
      records[(time_ms / windows_.size_ms + 1) * windows_.size_ms].emplace_back(key, flow.record());
    });
    Accounts<Account> accounts;
    std::vector<ResultRow> rows;
    for (const auto& [end_ms, added] : records) {
      std::set<std::uint64_t> changed;
      for (const auto& [key, record] : added) {
        accounts[key].Add(record);
        changed.insert(key);
      }
      for (const std::uint64_t key : changed) {
        AppendRowsOf({.window_start_ms = kMin, .window_end_ms = end_ms, .key = key}, accounts[key], rows);
      }
    }
    check.Windows(std::move(rows));
    return read;
  }

  template <typename Account>
  static constexpr bool kIsReal = requires(const Account& account) {
    requires std::floating_point<decltype(account.value())> ||
                 std::same_as<decltype(account.value()), std::optional<double>>;
  };

  /// The row of an account, or the rows of one that has several.
  template <typename Account>
  static void AppendRowsOf(ResultRow row, const Account& account, std::vector<ResultRow>& rows) {
    if constexpr (requires { account.rows(); }) {
      for (const auto& [key, value] : account.rows()) {
        row.key = ValueBits(key);
        AppendRow(row, value, rows);
      }
    } else {
      AppendRow(row, account.value(), rows);
    }
  }

  /// `row` with its value, unless that is empty.
  template <typename Value>
  static void AppendRow(ResultRow row, const Value& value, std::vector<ResultRow>& rows) {
    if constexpr (requires { value.has_value(); }) {
      if (!value.has_value()) {
        return;
      }
    }
    row.value = ValueBits(value);
    rows.push_back(row);
  }

  std::int64_t EndMs(std::int64_t start_ms) const { return windows_.size_ms == 0 ? kMax : start_ms + windows_.size_ms; }

  /// Reads records of one watermark, up to some hundred.
  template <typename Account>
  void Read(const KeyOf& key_of, FlowReader<R>& flow, std::map<std::int64_t, Accounts<Account>>& open) const {
    const std::int64_t watermark_ms = flow.watermark_ms();
    for (int i = 0; i < 1024 && !flow.done() && flow.watermark_ms() == watermark_ms; flow.Advance(), ++i) {
      const std::optional<std::uint64_t> key = key_of(flow.record());
      if (!key) {
        continue;
      }
      if (windows_.size_ms == 0) {
        open[kMin][*key].Add(flow.record());
        continue;
      }
      const std::int64_t time_ms = flow.event_time_ms();
      const std::int64_t into_slide_ms = (time_ms % windows_.slide_ms + windows_.slide_ms) % windows_.slide_ms;
      for (std::int64_t start_ms = time_ms - into_slide_ms; EndMs(start_ms) > time_ms && EndMs(start_ms) > watermark_ms;
           start_ms -= windows_.slide_ms) {
        open[start_ms][*key].Add(flow.record());
      }
    }
  }

  template <typename Account>
  std::vector<ResultRow> Rows(std::int64_t start_ms, const Accounts<Account>& accounts) const {
    std::vector<ResultRow> rows;
    rows.reserve(accounts.size());
    for (const auto& [key, account] : accounts) {
      AppendRowsOf({.window_start_ms = start_ms, .window_end_ms = EndMs(start_ms), .key = key}, account, rows);
    }
    std::ranges::sort(rows);
    return rows;
  }

  std::string query_;
  CheckedInput<R> input_;
  CheckedWindows windows_;
};

/// How many records of a key.
template <typename R>
struct CountAccount {
  void Add(const R& /*record*/) { ++count; }
  std::uint64_t value() const { return count; }

  std::uint64_t count = 0;
};

}  // namespace glaive::queries
