// EventInput: the flags by which the suite's stream of events is described, and the source that they make.
//
//   EventInput input;
//   RegisterEventInput(flag_set, input);
//   auto generator = std::make_shared<const EventGenerator>(input.events, executor_count);
//   From(SourceOf(input, generator))...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "engine/files/whole_file.h"
#include "engine/flags/flag_set.h"
#include "queries/nexmark/events/event_generator.h"
#include "queries/nexmark/events/event_options.h"
#include "queries/nexmark/suite/query_definition.h"
#include "rdma/base/watch.h"

namespace glaive::queries::nexmark::suite {

enum class Generate : std::uint8_t { kMemory, kLive };

struct EventInput {
  events::EventOptions events;
  Generate generate = Generate::kMemory;
  std::uint64_t records = 1'000'000;                    // of an executor
  absl::Duration seconds = absl::ZeroDuration();        // how long to read; 0: until `records` are read
  double rate = 0;                                      // records a second of real time; 0: no limit
  std::optional<absl::Duration> allowed_lateness = {};  // absent: as long as a group of events out of order
  std::uint64_t watermark_every = 1024;                 // events of an executor between two watermarks, out of order
  std::string export_input = {};                        // CSV file, or empty

  absl::Duration lateness() const;
};

/// Adds the flags, with a check that they make sense. `input.events.texts` and the rules are others' to set.
void RegisterEventInput(engine::FlagSet& flags, EventInput& input);

/// How an executor gets the events.
Events SourceOf(const EventInput& input, const std::shared_ptr<const events::EventGenerator>& generator);

/// How many auctions and persons the events of a run on one executor name at most.
MostIds MostIdsOf(const EventInput& input);

/// Writes the events of all executors to a CSV file: executor, number in its flow, event time, kind, and a column for
/// each field of persons, auctions and bids, empty where the kind does not have it. `watch` may end it.
absl::Status ExportEvents(engine::WholeFile& file, const events::EventGenerator& generator, std::uint64_t records,
                          std::uint32_t executor_count, const Watch& watch);

}  // namespace glaive::queries::nexmark::suite
