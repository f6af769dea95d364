// FlowsOf: the sources of a simulated query: its flows in memory, or files of them, by event time or processing time.
//
//   From(parts.flows.Source(0))
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "engine/source/source.h"
#include "tests/sim/event.h"
#include "tests/sim/file_source.h"
#include "tests/sim/flow_source.h"
#include "tests/sim/sim_files.h"
#include "tests/sim/timed_source.h"

namespace glaive::sim {

struct FlowsOf {
  const Input* input;
  FlowTruth* truth;
  SourceListener* listener;
  const SimFiles* files = nullptr;  ///< null: the flows are in memory
  std::int64_t batch = 1;           ///< records of a file between two watermarks
  Input* noted = nullptr;           ///< what TimedSources have read

  auto Source(std::size_t source) const {
    const auto open =
        [*this,
         source](const engine::SourceContext& context) -> absl::StatusOr<std::unique_ptr<engine::Source<Event>>> {
      return std::make_unique<FlowSource>(input->sources[source][Value(context.executor)], *truth, *listener, source,
                                          context);
    };
    engine::SourceSpec<Event, decltype(kEventTime)> spec{.open = open, .event_time_ms = kEventTime};
    if (files != nullptr) spec.open = FileSourceFactory(*files, source, batch, *truth, *listener);
    return spec;
  }
  /// The same source, which notes its records with the times when they are read.
  auto TimedSourceOf(std::size_t source) const {
    auto spec = Source(source);
    spec.open = [open = spec.open, truth = truth, noted = noted, source](
                    const engine::SourceContext& context) -> absl::StatusOr<std::unique_ptr<engine::Source<Event>>> {
      auto opened = open(context);
      if (!opened.ok()) return opened.status();
      return std::make_unique<TimedSource>(*std::move(opened), noted->sources[source][Value(context.executor)],
                                           truth->OfReader(source, truth->ReaderOf(context)), *context.clock);
    };
    return spec;
  }
};

}  // namespace glaive::sim
