// LiveProgress: how far an executor has come, for whoever watches while it runs.
//
// One writer, the executor's thread, once a batch; any thread may read. The numbers are independent of each other and
// order nothing, so all accesses are relaxed.
//
//   progress.records.store(metrics.records, std::memory_order_relaxed);
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/event_time.h"

namespace glaive::engine {

struct LiveProgress {
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint64_t> epochs{0};
  std::atomic<std::int64_t> watermark_ms{kMinEventTimeMs};
  std::atomic<bool> idle{false};
};

}  // namespace glaive::engine
