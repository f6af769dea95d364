// CheckLeaders: holds what some leaders of a run emitted against the oracle, each against the keys that it leads.
//
// The oracle knows what is true; which executor has to say it is the engine's choice, so this is where both meet.
//
//   Oracle::Verdict verdict = CheckLeaders(oracle, rows_by_executor, {ExecutorId{2}, ExecutorId{3}});
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "queries/ysb/oracle.h"
#include "queries/ysb/ysb_query.h"
#include "rdma/base/ids.h"

namespace glaive::queries::ysb {

/// Checks the rows of `leaders`. `rows_by_executor` has a place for every executor of the run; the others' are not
/// looked at. A leader has to have emitted all rows of its keys, and none of another's. For `watch` see Oracle::Check.
Oracle::Verdict CheckLeaders(const Oracle& oracle, std::span<const std::vector<YsbRow>> rows_by_executor,
                             std::span<const ExecutorId> leaders, const std::function<absl::Status()>& watch = nullptr);

}  // namespace glaive::queries::ysb
