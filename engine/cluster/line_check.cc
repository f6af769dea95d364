#include "engine/cluster/line_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <xxhash.h>

namespace glaive::engine {
namespace {

constexpr std::size_t kMostNamed = 3;  // wrong rows in a message

/// A summary of rows that does not depend on their order. Those of several nodes add up.
struct LineTotals {
  std::uint64_t rows = 0;
  std::uint64_t hashes = 0;  // modulo 2^64

  void Add(const LineTotals& other) {
    rows += other.rows;
    hashes += other.hashes;
  }
  std::string ToText() const { return absl::StrCat(rows, " ", hashes); }
};

LineTotals TotalsOf(std::span<const std::string> lines) {
  LineTotals totals;
  for (const std::string& line : lines) {
    totals.Add({.rows = 1, .hashes = XXH3_64bits(line.data(), line.size())});
  }
  return totals;
}

absl::StatusOr<LineTotals> ParseTotals(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, ' ');
  LineTotals totals;
  if (!absl::SimpleAtoi(parts.first, &totals.rows) || !absl::SimpleAtoi(parts.second, &totals.hashes)) {
    return absl::InternalError(absl::StrCat("'", text, "' is no node's finding"));
  }
  return totals;
}

/// The differences between sorted lines, in words.
class Differences {
 public:
  explicit Differences(bool all_are_here) : all_are_here_(all_are_here) {}

  void Compare(std::span<const std::string> expected, std::span<const std::string> lines) {
    auto wanted = expected.begin();
    auto line = lines.begin();
    while (wanted != expected.end() || line != lines.end()) {
      if (line == lines.end() || (wanted != expected.end() && *wanted < *line)) {
        if (all_are_here_) {
          Note(absl::StrCat("'", *wanted, "' is missing"));
        }
        ++wanted;
      } else if (wanted == expected.end() || *line < *wanted) {
        Note(
            absl::StrCat("'", *line, std::ranges::binary_search(expected, *line) ? "' comes too often" : "' is wrong"));
        ++line;
      } else {
        ++wanted;
        ++line;
      }
    }
  }

  absl::Status ToStatus() const {
    if (found_ == 0) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat("the row ", absl::StrJoin(named_, ", "),
                                            found_ > named_.size() ? absl::StrCat(" (", found_, " in all)") : ""));
  }

 private:
  void Note(const std::string& difference) {
    ++found_;
    if (named_.size() < kMostNamed) {
      named_.push_back(difference);
    }
  }

  bool all_are_here_;
  std::uint64_t found_ = 0;
  std::vector<std::string> named_;
};

}  // namespace

absl::Status CompareLines(std::vector<std::string>& expected, std::vector<std::string>& lines, bool all_are_here) {
  std::ranges::sort(expected);
  std::ranges::sort(lines);
  Differences differences(all_are_here);
  differences.Compare(expected, lines);
  return differences.ToStatus();
}

LineCheck::LineCheck(ExpectedLines expected, std::shared_ptr<const RetainedLines> lines)
    : expected_lines_(std::move(expected)), lines_(std::move(lines)) {}

std::uint64_t LineCheck::verify_memory_bytes(std::uint32_t /*reader_count*/) const {
  return std::uint64_t{2} * RetainedLines::kMostBytes;  // of the rows, and of the expected ones
}

absl::StatusOr<std::string> LineCheck::CheckNode(const RunFacts& facts, const Watch& watch) {
  std::vector<std::string> expected = expected_lines_(facts.roles.reader_count());
  if (absl::Status status = watch(); !status.ok()) {
    return status;
  }
  std::vector<std::string> lines;
  for (const ExecutorId executor : facts.executors) {
    const std::vector<std::string>& of_executor = lines_->by_executor[Value(executor)];
    lines.insert(lines.end(), of_executor.begin(), of_executor.end());
  }
  absl::Status status = CompareLines(expected, lines, facts.all_are_here());
  status.Update(watch());
  if (!status.ok()) {
    return status;
  }
  expected_totals_ = TotalsOf(expected).ToText();
  return TotalsOf(lines).ToText();
}

absl::Status LineCheck::CheckRun(std::span<const std::string> nodes) {
  LineTotals emitted;
  for (const std::string& node : nodes) {
    const absl::StatusOr<LineTotals> totals = ParseTotals(node);
    if (!totals.ok()) {
      return totals.status();
    }
    emitted.Add(*totals);
  }
  const absl::StatusOr<LineTotals> expected = ParseTotals(expected_totals_);
  if (!expected.ok()) {
    return expected.status();
  }
  if (emitted.rows != expected->rows) {
    return absl::DataLossError(
        absl::StrCat("all nodes together have ", emitted.rows, " rows, and ", expected->rows, " are true"));
  }
  if (emitted.hashes != expected->hashes) {
    return absl::DataLossError("a row comes at two nodes, and another one is missing");
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
