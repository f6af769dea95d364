#include "queries/ysb/leader_check.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "queries/ysb/result_row.h"
#include "state/index/key_hash.h"

namespace glaive::queries::ysb {

Oracle::Verdict CheckLeaders(const Oracle& oracle, std::span<const std::vector<YsbRow>> rows_by_executor,
                             std::span<const ExecutorId> leaders, const std::function<absl::Status()>& watch) {
  const auto executor_count = static_cast<std::uint32_t>(rows_by_executor.size());
  const auto leader_of = [&](std::uint64_t key) { return state::LeaderOf(state::HashKey(key), executor_count); };
  std::vector<ResultRow> rows;
  for (const ExecutorId leader : leaders) {
    for (const YsbRow& row : rows_by_executor[Value(leader)]) {
      if (leader_of(row.key) != leader) {
        Oracle::Verdict verdict;
        verdict.status = absl::DataLossError(absl::StrCat(
            "ysb results are wrong: executor ", Value(leader), " emitted window ", row.window_start_ms, " key ",
            row.key, " count ", row.value, ", and executor ", Value(leader_of(row.key)), " leads that key"));
        return verdict;
      }
      rows.push_back({.window_start_ms = row.window_start_ms, .key = row.key, .count = row.value});
    }
  }
  const auto leads = [&](std::uint64_t key) { return std::ranges::find(leaders, leader_of(key)) != leaders.end(); };
  return oracle.Check(rows, leads, watch);
}

}  // namespace glaive::queries::ysb
