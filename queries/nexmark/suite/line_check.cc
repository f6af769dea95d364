#include "queries/nexmark/suite/line_check.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace glaive::queries::nexmark::suite {
namespace {

constexpr std::size_t kShownLines = 3;

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

}  // namespace

absl::Status CompareLines(const std::string& query, std::vector<std::string> emitted,
                          std::vector<std::string> expected) {
  std::ranges::sort(emitted);
  std::ranges::sort(expected);
  if (emitted == expected) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(query, " results are wrong",
                                          InWords(Beyond(emitted, expected), "wrong, unexpected or emitted again"),
                                          InWords(Beyond(expected, emitted), "missing")));
}

}  // namespace glaive::queries::nexmark::suite
