// FlowsOf: the sources of a simulated query: its flows in memory, or files of them.
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

namespace glaive::sim {

struct FlowsOf {
  const Input* input;
  FlowTruth* truth;
  SourceListener* listener;
  const SimFiles* files = nullptr;  ///< null: the flows are in memory
  std::int64_t batch = 1;           ///< records of a file between two watermarks

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
};

}  // namespace glaive::sim
