// CompareLines: compares emitted rows with the true ones, both as lines of CSV and in any order: each has to be there
// as many times as it is true.
//
//   absl::Status status = CompareLines("q1", emitted, expected);
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "queries/common/row_check.h"

namespace glaive::queries::nexmark::suite {

/// DataLoss with the first few wrong rows and how many there are.
absl::Status CompareLines(const std::string& query, std::vector<std::string> emitted,
                          std::vector<std::string> expected);

/// The same of the rows that one node has emitted of those of all nodes: others may have emitted those that are missing
/// here. The totals, which hash each line, tell whether all together have emitted each row once.
Verdict ComparePartOfLines(const std::string& query, std::vector<std::string> emitted,
                           std::vector<std::string> expected);

}  // namespace glaive::queries::nexmark::suite
