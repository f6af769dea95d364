// Oracle: computes what the query must emit, sequentially and with plain standard containers, and compares.
//
// It shares the generator with the query and nothing else: no code of the engine, the state or the network. It walks
// the input window by window, so it holds one window's counts at a time, however long the run was. Costs: about
// 50 ns a record of the whole run, and one copy of the rows it checks.
//
// One leader sees the rows of its own keys only. It can tell wrong, duplicate and unexpected rows, and, when told which
// keys it leads, missing ones. Rows missing altogether show in the totals over all leaders.
//
//   Oracle oracle({.generator = options, .record_counts = {n, n}, .block_records = block});
//   Oracle::Verdict verdict = oracle.Check(rows);                  // at each leader
//   absl::Status whole = CheckTotals(verdict.expected, sum_of_all_leaders_emitted);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "queries/ysb/generator.h"
#include "queries/ysb/result_row.h"

namespace glaive::queries::ysb {

/// The run whose results are checked.
struct OracleOptions {
  GeneratorOptions generator = {};
  /// How many records each executor consumed, by executor id.
  std::vector<std::uint64_t> record_counts = {};
  /// Record n of an executor is record n % block_records of its generated input, with event time moved on by
  /// (n / block_records) * block_span_ms. 0: nothing is repeated.
  std::uint64_t block_records = 0;
  /// A multiple of the window, and at least the event time that a block spans.
  std::int64_t block_span_ms = 0;
};

/// InvalidArgument naming the option and its bounds.
absl::Status Validate(const OracleOptions& options);

/// See the head of this file. Immutable; Check may be called from several threads.
class Oracle {
 public:
  struct Verdict {
    /// OK, or DataLoss with the first few wrong rows, what was expected in their place, and how many there are; or what
    /// ended the check.
    absl::Status status;
    /// Of all keys, whoever leads them.
    Totals expected;
    /// Of the rows that were checked.
    Totals emitted;
  };

  /// `options` must be valid.
  explicit Oracle(OracleOptions options);

  /// Checks rows in any order. With `leads`, a key for which it is true must have all its rows here, and a key for
  /// which it is false none; without it, missing rows only show in the totals. `watch` is asked every few milliseconds;
  /// if what it returns is not OK, the check ends with that.
  Verdict Check(std::span<const ResultRow> emitted, const std::function<bool(std::uint64_t key)>& leads = nullptr,
                const std::function<absl::Status()>& watch = nullptr) const;

 private:
  OracleOptions options_;
};

/// DataLoss with both totals unless they are equal.
absl::Status CheckTotals(const Totals& expected, const Totals& emitted);

}  // namespace glaive::queries::ysb
