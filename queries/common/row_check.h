// RowCheck: compares emitted rows with the true ones, window by window, and says what is wrong. A key has one row in a
// window, or several, as with a join, in any order: each has to be there as many times as it is true.
//
// One leader sees the rows of its own keys only. It can tell wrong, duplicate and unexpected rows, and, when told which
// keys it leads, missing ones. Rows missing altogether show in the totals over all leaders (CheckTotals).
//
//   RowCheck check("ysb", ValueKind::kInteger, emitted, leads);
//   check.Window(expected_rows_of_a_window);    // in ascending order of the windows
//   Verdict verdict = check.Finish();
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "queries/common/result_row.h"

namespace glaive::queries {

/// How a row's value reads.
enum class ValueKind : std::uint8_t { kInteger, kReal, kHash };

struct Verdict {
  /// OK, or DataLoss with the first few wrong rows, what was expected in their place, and how many there are; or what
  /// ended the check.
  absl::Status status;
  /// Of all keys, whoever leads them.
  Totals expected;
  /// Of the rows that were checked.
  Totals emitted;
};

class RowCheck {
 public:
  using Leads = std::function<bool(std::uint64_t key)>;
  using NameOf = std::function<std::string(std::uint64_t key)>;

  /// `emitted` in any order. With `leads`, a key for which it is true must have all its rows there, and a key for which
  /// it is false none; without it, missing rows only show in the totals.
  /// `name_of` says how a key reads; without it, as a number.
  RowCheck(std::string query, ValueKind kind, std::span<const ResultRow> emitted, Leads leads,
           NameOf name_of = nullptr);

  /// The true rows of a window, in ascending order. Windows come in ascending order.
  void Window(std::span<const ResultRow> expected);
  /// The true rows of all windows, in any order.
  void Windows(std::vector<ResultRow> expected);
  /// No window is left.
  Verdict Finish();

 private:
  using Rows = std::span<const ResultRow>;

  void Compare(Rows expected, Rows emitted);
  void CompareKey(Rows expected, Rows emitted);
  std::string WhatOf(std::uint64_t value, Rows expected) const;
  Rows TakeUntil(Rows::iterator end);
  void Find(const ResultRow& row, const std::string& what);
  std::string ValueText(std::uint64_t value) const;
  absl::Status ToStatus() const;

  std::string query_;
  ValueKind kind_;
  Leads leads_;
  NameOf name_of_;
  std::vector<ResultRow> emitted_;
  Rows rest_;  // of what was emitted
  Verdict verdict_;
  std::uint64_t findings_ = 0;
  std::vector<std::string> words_;  // the first findings
};

/// DataLoss with both totals unless they are equal.
absl::Status CheckTotals(const std::string& query, const Totals& expected, const Totals& emitted);

}  // namespace glaive::queries
