// QueryDefinition: what a query of the suite is: how it is built, how --verify recomputes it, and which texts of events
// it reads. A query has a file of its own, and a line in queries.cc:
//
//   suite/q1.cc               BuildQ1: the query in the engine's API, with its SQL above it
//   suite/bids_oracle.cc      RecomputeQ1: the same in standard containers; it shares no code with the engine
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "engine/executor/query.h"
#include "engine/source/source.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/suite/event_flows.h"
#include "queries/nexmark/suite/row_sinks.h"

namespace glaive::queries::nexmark::suite {

using Events = engine::SourceSpec<events::Event, events::EventTime>;

/// Takes a row that the query has to emit, as a line of CSV.
using EmitLine = std::function<void(std::string line)>;

struct QueryDefinition {
  std::string_view name;
  std::string_view question;  // for --help
  std::uint32_t texts;        // that it reads, a set of events::Texts
  std::unique_ptr<engine::Query> (*build)(const Events& events, const RowSinks& sinks);
  /// The rows of the executors whose flows these are.
  absl::Status (*recompute)(const EventFlows& flows, const EmitLine& emit);
};

}  // namespace glaive::queries::nexmark::suite
