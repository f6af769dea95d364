#include "queries/nexmark/suite/line_check.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "queries/common/result_row.h"

namespace glaive::queries::nexmark::suite {
namespace {

constexpr std::size_t kShownLines = 3;

Totals TotalsOf(const std::vector<std::string>& lines) {
  Totals totals;
  for (const std::string& line : lines) {
    totals.AddOf(/*window_hash=*/0, /*key=*/0, TextBits(line));
  }
  return totals;
}

/// The lines that are in `these` more often than in `those`; both are sorted.
std::vector<std::string> Beyond(const std::vector<std::string>& these, const std::vector<std::string>& those) {
  std::vector<std::string> beyond;
  std::ranges::set_difference(these, those, std::back_inserter(beyond));
  return beyond;
}

std::string InWords(const std::vector<std::string>& lines, const std::string& what) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(lines.size(), kShownLines));
  return lines.empty() ? ""
                       : absl::StrCat("; ", lines.size(), " ", what, ", the first: \"",
                                      absl::StrJoin(lines.begin(), lines.begin() + shown, "\", \""), "\"");
}

absl::Status WrongLines(const std::string& query, const std::vector<std::string>& wrong,
                        const std::vector<std::string>& missing) {
  return absl::DataLossError(absl::StrCat(
      query, " results are wrong", InWords(wrong, "wrong, unexpected or emitted again"), InWords(missing, "missing")));
}

}  // namespace

absl::Status CompareLines(const std::string& query, std::vector<std::string> emitted,
                          std::vector<std::string> expected) {
  std::ranges::sort(emitted);
  std::ranges::sort(expected);
  return emitted == expected ? absl::OkStatus()
                             : WrongLines(query, Beyond(emitted, expected), Beyond(expected, emitted));
}

Verdict ComparePartOfLines(const std::string& query, std::vector<std::string> emitted,
                           std::vector<std::string> expected) {
  std::ranges::sort(emitted);
  std::ranges::sort(expected);
  const std::vector<std::string> wrong = Beyond(emitted, expected);
  return {.status = wrong.empty() ? absl::OkStatus() : WrongLines(query, wrong, {}),
          .expected = TotalsOf(expected),
          .emitted = TotalsOf(emitted)};
}

}  // namespace glaive::queries::nexmark::suite
