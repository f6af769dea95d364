#include "queries/ysb/oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "queries/ysb/campaigns.h"
#include "rdma/base/check.h"

namespace glaive::queries::ysb {
namespace {

using Campaigns = std::unordered_map<std::uint64_t, std::uint64_t>;  // by ad id; empty: no join
using Leads = std::function<bool(std::uint64_t key)>;
using Watch = std::function<absl::Status()>;
using Rows = std::span<const ResultRow>;  // in ascending order

/// Counts the keys of one window by sorting them, a million or more at a time.
class WindowCounts {
 public:
  explicit WindowCounts(std::int64_t window_start_ms) : window_start_ms_(window_start_ms) {}

  void Add(std::uint64_t key) {
    keys_.push_back(key);
    // As many at a time as there are rows to merge them with, so that merging costs no more than sorting.
    if (keys_.size() >= std::max(kKeysAtOnce, rows_.size())) {
      Fold();
    }
  }

  /// One row a key, in ascending order.
  Rows Sorted() {
    Fold();
    return rows_;
  }

 private:
  static constexpr std::size_t kKeysAtOnce = std::size_t{1} << 20;

  void Fold() {
    std::ranges::sort(keys_);
    std::vector<ResultRow> folded;
    auto row = rows_.begin();
    for (auto key = keys_.begin(); key != keys_.end();) {
      const auto next_key = std::find_if(key, keys_.end(), [&](std::uint64_t other) { return other != *key; });
      for (; row != rows_.end() && row->key < *key; ++row) {
        folded.push_back(*row);
      }
      const std::uint64_t before = row != rows_.end() && row->key == *key ? (row++)->count : 0;
      folded.push_back({.window_start_ms = window_start_ms_,
                        .key = *key,
                        .count = before + static_cast<std::uint64_t>(next_key - key)});
      key = next_key;
    }
    folded.insert(folded.end(), row, rows_.end());
    rows_ = std::move(folded);
    keys_.clear();
  }

  std::int64_t window_start_ms_;
  std::vector<std::uint64_t> keys_;  // not yet folded
  std::vector<ResultRow> rows_;
};

/// Reads one executor's records in order, generating some at a time.
class Reader {
 public:
  Reader(const Generator& generator, const OracleOptions& options, std::uint32_t executor)
      : generator_(generator),
        executor_(executor),
        records_(options.record_counts[executor]),
        block_records_(options.block_records != 0 ? options.block_records : std::max<std::uint64_t>(records_, 1)),
        block_span_ms_(options.block_span_ms),
        buffer_(kBufferRecords) {
    Refill();
  }

  bool done() const { return next_ == records_; }
  /// The next record; not when done.
  const YsbEvent& event() const { return buffer_[next_ - buffer_first_]; }
  /// Its event time, moved on by the repetitions before it.
  std::int64_t event_time_ms() const { return event().event_time_ms + moved_on_ms_; }

  void Advance() {
    ++next_;
    if (next_ == buffer_first_ + buffered_) {
      Refill();
    }
  }

 private:
  static constexpr std::uint64_t kBufferRecords = 512;

  void Refill() {
    const std::uint64_t in_block = next_ % block_records_;
    buffer_first_ = next_;
    buffered_ = std::min({kBufferRecords, records_ - next_, block_records_ - in_block});
    moved_on_ms_ = static_cast<std::int64_t>(next_ / block_records_) * block_span_ms_;
    generator_.Fill(executor_, in_block, std::span(buffer_).first(buffered_));
  }

  const Generator& generator_;
  std::uint32_t executor_;
  std::uint64_t records_;
  std::uint64_t block_records_;
  std::int64_t block_span_ms_;
  std::vector<YsbEvent> buffer_;  // of one repetition only
  std::uint64_t buffer_first_ = 0;
  std::uint64_t buffered_ = 0;
  std::int64_t moved_on_ms_ = 0;
  std::uint64_t next_ = 0;
};

/// What is wrong: the first few in words, all of them counted.
class Findings {
 public:
  void Add(const ResultRow& row, const std::string& what) {
    if (++count_ <= kInWords) {
      words_.push_back(
          absl::StrCat("window ", row.window_start_ms, " key ", row.key, " count ", row.count, ": ", what));
    }
  }

  absl::Status ToStatus() const {
    if (count_ == 0) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        absl::StrCat("ysb results are wrong in ", count_,
                     count_ == 1 ? " row: " : " rows; the first: ", absl::StrJoin(words_, "; ")));
  }

 private:
  static constexpr std::uint64_t kInWords = 5;

  std::uint64_t count_ = 0;
  std::vector<std::string> words_;
};

/// Compares the emitted rows of one window with the true ones.
void CheckWindow(Rows expected, Rows emitted, const Leads& leads, Findings& findings) {
  auto truth = expected.begin();
  const auto skip_to = [&](std::uint64_t key) {
    for (; truth != expected.end() && truth->key < key; ++truth) {
      if (leads && leads(truth->key)) {
        findings.Add(*truth, "missing");
      }
    }
  };
  for (std::size_t i = 0; i < emitted.size(); ++i) {
    const ResultRow& row = emitted[i];
    if (i > 0 && emitted[i - 1].key == row.key) {
      findings.Add(row, absl::StrCat("emitted again, after a count of ", emitted[i - 1].count));
      continue;
    }
    skip_to(row.key);
    if (truth == expected.end() || truth->key != row.key) {
      findings.Add(row, "unexpected, the key has no view in the window");
      continue;
    }
    if (truth->count != row.count) {
      findings.Add(row, absl::StrCat("wrong, the count should be ", truth->count));
    } else if (leads && !leads(row.key)) {
      findings.Add(row, "emitted by an executor that does not lead the key");
    }
    ++truth;
  }
  skip_to(std::numeric_limits<std::uint64_t>::max());
}

std::optional<std::int64_t> EarliestTime(const std::vector<Reader>& readers) {
  std::optional<std::int64_t> earliest_ms;
  for (const Reader& reader : readers) {
    if (!reader.done()) {
      earliest_ms = std::min(earliest_ms.value_or(reader.event_time_ms()), reader.event_time_ms());
    }
  }
  return earliest_ms;
}

/// Asks the watch whether to go on, not at every step: each costs it system calls.
class Patience {
 public:
  explicit Patience(const Watch& watch) : watch_(watch) {}

  /// A step has been made. Not OK: end now.
  absl::Status Step() { return ++steps_ % kStepsBetween == 0 && watch_ ? watch_() : absl::OkStatus(); }

 private:
  static constexpr std::uint64_t kStepsBetween = std::uint64_t{1} << 16;

  const Watch& watch_;
  std::uint64_t steps_ = 0;
};

/// Runs the query over one executor's records before `end_ms`.
absl::Status CountUntil(std::int64_t end_ms, const Campaigns& campaigns, Reader& reader, WindowCounts& counts,
                        Patience& patience) {
  for (; !reader.done() && reader.event_time_ms() < end_ms; reader.Advance()) {
    if (absl::Status status = patience.Step(); !status.ok()) {
      return status;
    }
    const YsbEvent& event = reader.event();
    if (event.event_type != EventType::kView) {
      continue;
    }
    if (campaigns.empty()) {
      counts.Add(event.ad_id);
    } else if (const auto campaign = campaigns.find(event.ad_id); campaign != campaigns.end()) {
      counts.Add(campaign->second);
    }
  }
  return absl::OkStatus();
}

/// Splits the rows before `window_start_ms` off.
Rows TakeRowsBefore(std::int64_t window_start_ms, Rows& rows) {
  const auto end = std::ranges::lower_bound(rows, window_start_ms, {}, &ResultRow::window_start_ms);
  const auto taken = static_cast<std::size_t>(end - rows.begin());
  const Rows before = rows.first(taken);
  rows = rows.subspan(taken);
  return before;
}

std::string ToString(const Totals& totals) {
  return absl::StrCat(totals.rows, " rows with a sum of counts of ", totals.count_sum, " and checksum ",
                      absl::Hex(totals.checksum, absl::kZeroPad16));
}

}  // namespace

absl::Status Validate(const OracleOptions& options) {
  if (absl::Status status = Validate(options.generator); !status.ok()) {
    return status;
  }
  if (options.block_records == 0) {
    return absl::OkStatus();
  }
  const Generator generator(options.generator);
  const std::int64_t least_ms = generator.EventTimeMs(options.block_records - 1) - generator.start_time_ms() + 1;
  if (options.block_span_ms < least_ms || options.block_span_ms % options.generator.window_ms != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ysb oracle: a repeated block moves event time on by ", options.block_span_ms, " ms; it must be a multiple of ",
        options.generator.window_ms, " ms (the window) and at least ", least_ms, " ms (what the block spans)"));
  }
  return absl::OkStatus();
}

Oracle::Oracle(OracleOptions options) : options_(std::move(options)) {
  const absl::Status valid = Validate(options_);
  GLAIVE_CHECK(valid.ok(), valid.ToString());
}

Oracle::Verdict Oracle::Check(std::span<const ResultRow> emitted, const Leads& leads, const Watch& watch) const {
  Verdict verdict;
  std::vector<ResultRow> sorted(emitted.begin(), emitted.end());
  std::ranges::sort(sorted);
  for (const ResultRow& row : sorted) {
    verdict.emitted.Add(row);
  }

  const Generator generator(options_.generator);
  Campaigns campaigns;
  if (options_.generator.profile == Profile::kYahoo) {
    for (const Ad& ad : AllAds()) {
      campaigns.emplace(ad.id, ad.campaign);
    }
  }
  std::vector<Reader> readers;
  for (std::uint32_t executor = 0; executor < options_.record_counts.size(); ++executor) {
    readers.emplace_back(generator, options_, executor);
  }

  Findings findings;
  Patience patience(watch);
  Rows rows = sorted;
  while (const std::optional<std::int64_t> time_ms = EarliestTime(readers)) {
    const std::int64_t window_ms = options_.generator.window_ms;
    const std::int64_t window_start_ms = *time_ms - *time_ms % window_ms;
    for (const ResultRow& row : TakeRowsBefore(window_start_ms, rows)) {
      findings.Add(row, "unexpected, no executor has a record in the window");
    }
    WindowCounts counts(window_start_ms);
    for (Reader& reader : readers) {
      verdict.status = CountUntil(window_start_ms + window_ms, campaigns, reader, counts, patience);
      if (!verdict.status.ok()) {
        return verdict;
      }
    }
    const Rows expected = counts.Sorted();
    for (const ResultRow& row : expected) {
      verdict.expected.Add(row);
    }
    CheckWindow(expected, TakeRowsBefore(window_start_ms + window_ms, rows), leads, findings);
  }
  for (const ResultRow& row : rows) {
    findings.Add(row, "unexpected, no executor has a record in the window");
  }
  verdict.status = findings.ToStatus();
  return verdict;
}

absl::Status CheckTotals(const Totals& expected, const Totals& emitted) {
  if (expected == emitted) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("ysb results of all executors together are wrong: ", ToString(emitted),
                                          " were emitted, ", ToString(expected), " are expected"));
}

}  // namespace glaive::queries::ysb
