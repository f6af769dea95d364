// LeaderRows: the rows that some leaders of a run emitted, and which keys they lead.
//
// A check knows what is true; which executor has to say it is the engine's choice, so this is where both meet. The
// totals of the nodes travel as text (RunCheck::CheckNode and CheckRun).
//
//   absl::StatusOr<LeaderRows> rows = RowsOfLeaders("ysb", rows_by_executor, facts);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/cluster/query_program.h"
#include "queries/common/row_check.h"

namespace glaive::queries {

struct LeaderRows {
  std::vector<ResultRow> rows;
  RowCheck::Leads leads;  // null where rows have no key
};

/// Whether rows have a key, which says who leads them.
enum class Keys : std::uint8_t { kLed, kNone };

/// Gathers the rows of this node's executors. `rows_by_executor` has a place for every executor of the run; the others'
/// are not read. DataLoss if an executor has emitted a row of a key that it does not lead.
absl::StatusOr<LeaderRows> RowsOfLeaders(const std::string& query,
                                         std::span<const std::vector<ResultRow>> rows_by_executor,
                                         const engine::RunFacts& facts, Keys keys = Keys::kLed);

/// A node's totals as text, and the check of all nodes' together: DataLoss if they are not what is expected.
std::string EncodeTotals(const Verdict& verdict);
absl::Status CheckAllTotals(const std::string& query, std::span<const std::string> nodes);

}  // namespace glaive::queries
