// QueryDefinition: what a query of the suite is: how it is built, how --verify recomputes it, and which texts of events
// it reads. A query has a file of its own, and a line in queries.cc:
//
//   suite/q1.cc               BuildQ1: the query in the engine's API, with its SQL above it
//   suite/q5_loop.cc          LoopQ5: the same as a hand-written loop, which some queries have; bid_loops.cc: q1 and q2
//   suite/bids_oracle.cc      RecomputeQ1: the same in standard containers; it shares no code with the engine
//   suite/windows_oracle.cc   likewise of queries with windows; joins_oracle.cc, groups_oracle.cc: of the others
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
#include "queries/nexmark/suite/read_times.h"
#include "queries/nexmark/suite/side_input.h"

namespace glaive::queries::nexmark::suite {

using Events = engine::SourceSpec<events::Event, events::EventTime>;

/// Takes a row that the query has to emit, as a line of CSV.
using EmitLine = std::function<void(std::string line)>;

/// What queries ask for beside the events.
struct SuiteOptions {
  absl::Duration hot_items_window = absl::Seconds(10);    // of q5
  absl::Duration hot_items_slide = absl::Seconds(2);      // of q5; a part of the window
  bool one_hot_item = false;                              // of q5: one of several items that tie, that of the least id
  absl::Duration highest_bid_window = absl::Seconds(10);  // of q7
  absl::Duration new_users_window = absl::Seconds(10);    // of q8
  bool any_price_until_the_end_wins = false;              // of q4, q6 and q9: as the suite for Flink has it
  absl::Duration session_gap = absl::Seconds(10);         // of q11
  absl::Duration processing_time_window = absl::Seconds(10);  // of q12
  absl::Duration allowed_lateness = absl::ZeroDuration();
  std::shared_ptr<const SideInput> side_input = nullptr;  // of q13; null: AllSideKeys()
  std::string partitions = {};                            // of q10: folder of the bids, or empty
  std::size_t most_partitions = 256;                      // of q10: of an executor
  std::string read_times_file = {};                       // of q12: CSV file of when each bid was read, or empty
  std::shared_ptr<ReadTimes> read_times = nullptr;        // of q12: the same for the check; null without
};

/// Which executor emits a row.
enum class Emitter : std::uint8_t {
  kReader,  ///< the one that reads the event
  kLeader,  ///< any
};

/// The query in the engine's API.
using BuildFunction = std::unique_ptr<engine::Query>(const Events& events, const SuiteOptions& options,
                                                     const engine::Results& results);

/// How many different auctions and persons the events name at most.
struct MostIds {
  std::uint64_t auctions = 0;
  std::uint64_t persons = 0;
};

/// The query as a hand-written loop (queries/loops), over events of one executor in the order of their times.
using LoopFunction = std::unique_ptr<engine::Query>(const Events& events, const SuiteOptions& options,
                                                    const MostIds& ids, const engine::Results& results);
/// Calls `emit` with the rows that follow from these flows.
using RecomputeFunction = absl::Status(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit);

struct QueryDefinition {
  std::string_view name;
  std::string_view question;  // for --help
  std::uint32_t texts;        // that it reads, a set of events::Texts
  Emitter emitter;
  BuildFunction* build;
  RecomputeFunction* recompute;
  LoopFunction* loop = nullptr;  // null: it has none
};

}  // namespace glaive::queries::nexmark::suite
