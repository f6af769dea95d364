// LiveSource: an executor's events, made while the run reads them (--generate=live). Nothing is stored, so a stream may
// be as long as one likes; what is measured has the generator in it.
//
// Owned by its executor. A batch takes about 64 KiB and the texts of its events.
//
//   LiveSource source(generator, executor, {.total_records = 1'000'000}, clock);
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "engine/source/schedule.h"
#include "engine/source/source.h"
#include "queries/nexmark/events/event.h"
#include "queries/nexmark/events/event_generator.h"
#include "queries/nexmark/events/event_texts.h"
#include "rdma/base/clock.h"

namespace glaive::queries::nexmark::events {

struct LiveSourceOptions {
  std::uint64_t total_records = std::numeric_limits<std::uint64_t>::max();  // until the stream ends
  std::int64_t duration_ns = std::numeric_limits<std::int64_t>::max();      // from the first Poll to the end
  double records_per_second = 0;                                            // 0: as fast as the engine reads
  std::uint64_t watermark_every = 0;  // records between two watermarks, as in engine/source/block_source.h; 0: in order
};

class LiveSource final : public engine::Source<Event> {
 public:
  /// `clock` outlives the source.
  LiveSource(std::shared_ptr<const EventGenerator> generator, std::uint32_t executor, const LiveSourceOptions& options,
             const Clock& clock);

  engine::SourceBatch<Event> Poll() override;
  bool Ready() override { return Allowed() > read_ || ended_; }

 private:
  /// How many events may have been read by now.
  std::uint64_t Allowed();

  std::shared_ptr<const EventGenerator> generator_;
  std::uint32_t executor_;
  LiveSourceOptions options_;
  engine::Schedule schedule_;
  const Clock* clock_;
  EventTexts texts_;
  std::vector<Event> batch_;
  std::uint64_t read_ = 0;
  std::int64_t latest_ms_ = engine::kMinEventTimeMs;
  std::int64_t watermark_ms_ = engine::kMinEventTimeMs;
  std::int64_t started_ns_ = -1;
  bool ended_ = false;
};

}  // namespace glaive::queries::nexmark::events
