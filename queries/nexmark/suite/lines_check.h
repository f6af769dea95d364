// CheckLines: holds the lines that a node's executors have emitted against those that follow from the events.
//
//   Verdict verdict = CheckLines(query, flows, options, facts, lines.by_executor);   // DataLoss says what is wrong
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/query_program.h"
#include "queries/common/row_check.h"
#include "queries/nexmark/suite/event_flows.h"
#include "queries/nexmark/suite/query_definition.h"

namespace glaive::queries::nexmark::suite {

/// Where readers emit rows (Emitter), each executor's lines follow from its own flow alone. Where leaders do, the lines
/// of all nodes together follow from all flows: totals tell then whether a line is missing. `emitted` has the lines by
/// executor, and is left unspecified.
Verdict CheckLines(const QueryDefinition& query, const EventFlows& flows, const SuiteOptions& options,
                   const engine::RunFacts& facts, std::vector<std::vector<std::string>>& emitted);

}  // namespace glaive::queries::nexmark::suite
