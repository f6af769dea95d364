// QueryDefinition: what a query of the suite is: how it is built, how --verify recomputes it, and which texts of events
// it reads. A query has a file of its own, and a line in queries.cc:
//
//   suite/q1.cc               BuildQ1: the query in the engine's API, with its SQL above it
//   suite/bids_oracle.cc      RecomputeQ1: the same in standard containers; it shares no code with the engine
//   suite/windows_oracle.cc   likewise of queries with windows
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "engine/executor/query.h"
#include "engine/sink/results.h"
#include "engine/source/source.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/suite/event_flows.h"

namespace glaive::queries::nexmark::suite {

using Events = engine::SourceSpec<events::Event, events::EventTime>;

/// Takes a row that the query has to emit, as a line of CSV.
using EmitLine = std::function<void(std::string line)>;

/// What queries with windows ask for.
struct SuiteOptions {
  absl::Duration hot_items_window = absl::Seconds(10);  // of q5
  absl::Duration hot_items_slide = absl::Seconds(2);    // of q5; a part of the window
  bool one_hot_item = false;                            // of q5: one of several items that tie, that of the least id
  absl::Duration session_gap = absl::Seconds(10);       // of q11
  absl::Duration allowed_lateness = absl::ZeroDuration();
};

/// Which executor emits a row.
enum class Emitter : std::uint8_t {
  kReader,  ///< the one that reads the event
  kLeader,  ///< any
};

struct QueryDefinition {
  std::string_view name;
  std::string_view question;  // for --help
  std::uint32_t texts;        // that it reads, a set of events::Texts
  Emitter emitter;
  std::unique_ptr<engine::Query> (*build)(const Events& events, const SuiteOptions& options,
                                          const engine::Results& results);
  /// The rows that follow from these flows.
  absl::Status (*recompute)(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);
};

}  // namespace glaive::queries::nexmark::suite
