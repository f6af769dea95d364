#include "queries/nexmark/suite/lines_check.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/cluster/line_check.h"
#include "queries/common/result_row.h"

namespace glaive::queries::nexmark::suite {
namespace {

using Lines = std::vector<std::string>;

Totals TotalsOf(const Lines& lines) {
  Totals totals;
  for (const std::string& line : lines) {
    totals.AddOf(/*window_hash=*/0, /*key=*/0, TextBits(line));
  }
  return totals;
}

absl::StatusOr<Lines> Recompute(const QueryDefinition& query, const EventFlows& flows, const SuiteOptions& options) {
  Lines lines;
  absl::Status status =
      query.recompute(flows, options, [&lines](std::string line) { lines.push_back(std::move(line)); });
  return status.ok() ? absl::StatusOr<Lines>(std::move(lines)) : status;
}

/// DataLoss with the query's name if lines are wrong; see engine::CompareLines.
absl::Status Compare(const QueryDefinition& query, Lines& expected, Lines& emitted, bool all_are_here) {
  const absl::Status status = engine::CompareLines(expected, emitted, all_are_here);
  return status.ok() ? status
                     : absl::DataLossError(absl::StrCat(std::string(query.name),
                                                        " results are wrong: ", std::string(status.message())));
}

absl::Status CheckReader(const QueryDefinition& query, const EventFlows& flows, const SuiteOptions& options,
                         std::optional<std::uint32_t> flow, Lines& emitted) {
  absl::StatusOr<Lines> expected = flow ? Recompute(query, flows.Of(*flow), options) : absl::StatusOr<Lines>(Lines());
  return expected.ok() ? Compare(query, *expected, emitted, /*all_are_here=*/true) : expected.status();
}

}  // namespace

Verdict CheckLines(const QueryDefinition& query, const EventFlows& flows, const SuiteOptions& options,
                   const engine::RunFacts& facts, std::vector<Lines>& emitted) {
  Verdict verdict;
  if (query.emitter == Emitter::kReader) {
    for (const ExecutorId executor : facts.executors) {
      verdict.status.Update(CheckReader(query, flows, options, facts.roles.FlowOf(executor), emitted[Value(executor)]));
    }
    return verdict;
  }
  absl::StatusOr<Lines> expected = Recompute(query, flows, options);
  if (!expected.ok()) {
    verdict.status = expected.status();
    return verdict;
  }
  Lines together;
  for (const ExecutorId executor : facts.executors) {
    std::ranges::move(emitted[Value(executor)], std::back_inserter(together));
  }
  verdict.status = Compare(query, *expected, together, facts.all_are_here());
  verdict.expected = TotalsOf(*expected);
  verdict.emitted = TotalsOf(together);
  return verdict;
}

}  // namespace glaive::queries::nexmark::suite
