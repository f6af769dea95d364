// EventFlows: the events that the executors of a run have read, made a second time for a check: it shares the generator
// with the query, and no code of the engine.
//
// A flow's watermark stands still for `watermark_every` events; then it is the latest event time so far, held back by
// the allowed lateness.
//
//   absl::Status status = flows.Of(executor).ForEach([&](const Event& event, std::int64_t watermark_ms) { ... });
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
  std::uint64_t watermark_every = 1;
  std::int64_t allowed_lateness_ms = 0;
  Watch watch = GoOn;  // may end a pass over the events

  /// The flow of one executor alone.
  EventFlows Of(std::uint32_t executor) const;
  /// Calls `use` with every event, an executor's after another's, in the order in which they were read. An event's
  /// texts are valid during the call. `watermark_ms` is the flow's before the event.
  absl::Status ForEach(const std::function<void(const events::Event& event, std::int64_t watermark_ms)>& use) const;
};

}  // namespace glaive::queries::nexmark::suite
