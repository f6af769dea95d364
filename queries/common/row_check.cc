#include "queries/common/row_check.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace glaive::queries {
namespace {

constexpr std::uint64_t kFindingsInWords = 5;

bool IsOfEarlierWindow(const ResultRow& a, const ResultRow& b) {
  return std::pair(a.window_start_ms, a.window_end_ms) < std::pair(b.window_start_ms, b.window_end_ms);
}

/// Splits a key's rows off the front.
std::span<const ResultRow> TakeKey(std::uint64_t key, std::span<const ResultRow>& rows) {
  const auto end = std::ranges::find_if(rows, [key](const ResultRow& row) { return row.key != key; });
  const auto taken = rows.first(static_cast<std::size_t>(end - rows.begin()));
  rows = rows.subspan(taken.size());
  return taken;
}

std::string ToString(const Totals& totals) {
  return absl::StrCat(totals.rows, " rows with the checksum ", absl::Hex(totals.checksum, absl::kZeroPad16));
}

}  // namespace

RowCheck::RowCheck(std::string query, ValueKind kind, std::span<const ResultRow> emitted, Leads leads, NameOf name_of)
    : query_(std::move(query)),
      kind_(kind),
      leads_(std::move(leads)),
      name_of_(std::move(name_of)),
      emitted_(emitted.begin(), emitted.end()) {
  std::ranges::sort(emitted_);
  rest_ = emitted_;
  for (const ResultRow& row : emitted_) {
    verdict_.emitted.Add(row);
  }
}

void RowCheck::Window(Rows expected) {
  if (expected.empty()) {
    return;
  }
  for (const ResultRow& row : expected) {
    verdict_.expected.Add(row);
  }
  const auto window = std::ranges::equal_range(rest_, expected.front(), IsOfEarlierWindow);
  for (const ResultRow& row : TakeUntil(window.begin())) {
    Find(row, "unexpected, no executor has a record in the window");
  }
  Compare(expected, TakeUntil(window.end()));
}

void RowCheck::Windows(std::vector<ResultRow> expected) {
  std::ranges::sort(expected);
  for (auto first = expected.begin(); first != expected.end();) {
    const auto end = std::upper_bound(first, expected.end(), *first, IsOfEarlierWindow);
    Window({first, end});
    first = end;
  }
}

Verdict RowCheck::Finish() {
  for (const ResultRow& row : rest_) {
    Find(row, "unexpected, no executor has a record in the window");
  }
  verdict_.status = ToStatus();
  return std::move(verdict_);
}

/// Compares the emitted rows of one window with the true ones.
void RowCheck::Compare(Rows expected, Rows emitted) {
  while (!expected.empty() || !emitted.empty()) {
    const bool is_emitted = expected.empty() || (!emitted.empty() && emitted.front().key < expected.front().key);
    const std::uint64_t key = (is_emitted ? emitted : expected).front().key;
    const Rows truth = TakeKey(key, expected);
    CompareKey(truth, TakeKey(key, emitted));
  }
}

/// Compares those of one key in one window.
void RowCheck::CompareKey(Rows expected, Rows emitted) {
  if (expected.size() == 1 && emitted.size() == 1 && expected.front().value != emitted.front().value) {
    Find(emitted.front(), absl::StrCat("wrong, the value should be ", ValueText(expected.front().value)));
    return;
  }
  const bool leads = !leads_ || leads_((expected.empty() ? emitted : expected).front().key);
  auto truth = expected.begin();
  const auto skip_to = [&](auto next) {
    for (; truth != next; ++truth) {
      if (leads_ && leads) {
        Find(*truth, "missing");
      }
    }
  };
  for (const ResultRow& row : emitted) {
    skip_to(std::ranges::lower_bound(truth, expected.end(), row.value, {}, &ResultRow::value));
    if (truth == expected.end() || truth->value != row.value) {
      Find(row, WhatOf(row.value, expected));
      continue;
    }
    if (!leads) {
      Find(row, "emitted by an executor that does not lead the key");
    }
    ++truth;
  }
  skip_to(expected.end());
}

/// What a row of this value is, that is none of a key's true ones or comes after all of them.
std::string RowCheck::WhatOf(std::uint64_t value, Rows expected) const {
  if (expected.empty()) {
    return "unexpected, the key has no record in the window";
  }
  if (std::ranges::binary_search(expected, value, {}, &ResultRow::value)) {
    return "emitted again";
  }
  return expected.size() == 1 ? absl::StrCat("unexpected, the value should be ", ValueText(expected.front().value))
                              : "unexpected, the key has no such row in the window";
}

/// Splits the rows up to `end` off.
RowCheck::Rows RowCheck::TakeUntil(Rows::iterator end) {
  const auto taken = static_cast<std::size_t>(end - rest_.begin());
  const Rows before = rest_.first(taken);
  rest_ = rest_.subspan(taken);
  return before;
}

void RowCheck::Find(const ResultRow& row, const std::string& what) {
  if (++findings_ <= kFindingsInWords) {
    words_.push_back(absl::StrCat("window ", row.window_start_ms, " to ", row.window_end_ms, " key ",
                                  name_of_ ? name_of_(row.key) : absl::StrCat(row.key), " value ", ValueText(row.value),
                                  ": ", what));
  }
}

std::string RowCheck::ValueText(std::uint64_t value) const {
  switch (kind_) {
    case ValueKind::kReal:
      return absl::StrFormat("%.17g", std::bit_cast<double>(value));
    case ValueKind::kHash:
      return absl::StrCat("#", absl::Hex(value, absl::kZeroPad16));
    case ValueKind::kInteger:
      break;
  }
  return absl::StrCat(static_cast<std::int64_t>(value));
}

absl::Status RowCheck::ToStatus() const {
  if (findings_ == 0) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(query_, " results are wrong in ", findings_,
                   findings_ == 1 ? " row: " : " rows; the first: ", absl::StrJoin(words_, "; ")));
}

absl::Status CheckTotals(const std::string& query, const Totals& expected, const Totals& emitted) {
  if (expected == emitted) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(query, " results of all executors together are wrong: ", ToString(emitted),
                                          " were emitted, ", ToString(expected), " are expected"));
}

}  // namespace glaive::queries
