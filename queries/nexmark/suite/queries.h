// The queries of the suite: what each file of this folder defines, and AllQueries, which lists them.
//
//   const QueryDefinition& query = AllQueries()[1];    // q1
#pragma once

#include <memory>
#include <span>

#include "absl/status/status.h"

#include "engine/executor/query.h"
#include "engine/sink/results.h"
#include "queries/nexmark/suite/event_flows.h"
#include "queries/nexmark/suite/query_definition.h"

namespace glaive::queries::nexmark::suite {

std::unique_ptr<engine::Query> BuildQ0(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ1(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ2(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ5(const Events& events, const SuiteOptions& options,
                                       const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ11(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ14(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ17(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ21(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results);
std::unique_ptr<engine::Query> BuildQ22(const Events& events, const SuiteOptions& options,
                                        const engine::Results& results);

absl::Status RecomputeQ0(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ1(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ2(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ5(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ11(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ14(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ17(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ21(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
absl::Status RecomputeQ22(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);

/// In the order of their numbers.
std::span<const QueryDefinition> AllQueries();

}  // namespace glaive::queries::nexmark::suite
