// EventFlows: the events that the executors of a run have read, made a second time for a check: it shares the generator
// with the query, and no code of the engine.
//
//   absl::Status status = flows.Of(executor).ForEach([&](const Event& event) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"

#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_generator.h"
#include "rdma/base/watch.h"

namespace glaive::queries::nexmark::suite {

struct EventFlows {
  const events::EventGenerator* generator = nullptr;
  std::vector<std::uint64_t> records_read;  // by executor
  Watch watch = GoOn;                       // may end a pass over the events

  /// The flow of one executor alone.
  EventFlows Of(std::uint32_t executor) const;
  /// Calls `use` with every event, an executor's after another's, in the order in which they were read. An event's
  /// texts are valid during the call.
  absl::Status ForEach(const std::function<void(const events::Event& event)>& use) const;
};

}  // namespace glaive::queries::nexmark::suite
