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

std::string ToString(const Totals& totals) {
  return absl::StrCat(totals.rows, " rows with the checksum ", absl::Hex(totals.checksum, absl::kZeroPad16));
}

}  // namespace

RowCheck::RowCheck(std::string query, ValueKind kind, std::span<const ResultRow> emitted, Leads leads)
    : query_(std::move(query)), kind_(kind), leads_(std::move(leads)), emitted_(emitted.begin(), emitted.end()) {
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

Verdict RowCheck::Finish() {
  for (const ResultRow& row : rest_) {
    Find(row, "unexpected, no executor has a record in the window");
  }
  verdict_.status = ToStatus();
  return std::move(verdict_);
}

/// Compares the emitted rows of one window with the true ones.
void RowCheck::Compare(Rows expected, Rows emitted) {
  auto truth = expected.begin();
  const auto skip_to = [&](std::uint64_t key, bool all) {
    for (; truth != expected.end() && (all || truth->key < key); ++truth) {
      if (leads_ && leads_(truth->key)) {
        Find(*truth, "missing");
      }
    }
  };
  for (std::size_t i = 0; i < emitted.size(); ++i) {
    const ResultRow& row = emitted[i];
    if (i > 0 && emitted[i - 1].key == row.key) {
      Find(row, absl::StrCat("emitted again, after a value of ", ValueText(emitted[i - 1].value)));
      continue;
    }
    skip_to(row.key, /*all=*/false);
    if (truth == expected.end() || truth->key != row.key) {
      Find(row, "unexpected, the key has no record in the window");
      continue;
    }
    if (truth->value != row.value) {
      Find(row, absl::StrCat("wrong, the value should be ", ValueText(truth->value)));
    } else if (leads_ && !leads_(row.key)) {
      Find(row, "emitted by an executor that does not lead the key");
    }
    ++truth;
  }
  skip_to(0, /*all=*/true);
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
    words_.push_back(absl::StrCat("window ", row.window_start_ms, " to ", row.window_end_ms, " key ", row.key,
                                  " value ", ValueText(row.value), ": ", what));
  }
}

std::string RowCheck::ValueText(std::uint64_t value) const {
  return kind_ == ValueKind::kInteger ? absl::StrCat(static_cast<std::int64_t>(value))
                                      : absl::StrFormat("%.17g", std::bit_cast<double>(value));
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
