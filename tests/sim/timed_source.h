// TimedSource: a simulated source of a query by processing time. It notes each batch with the time when it was read.
//
// Virtual time stands still while a batch is read, so the engine's ProcessingTime, which reads the node's clock behind
// this source, reads the same time. The noted flows are the input of the oracle: their records are in order, and none
// is late.
//
//   From(ProcessingTime(parts.flows.TimedSourceOf(0)))
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "engine/source/source.h"
#include "tests/sim/event.h"
#include "tests/sim/flow_source.h"

namespace glaive::sim {

/// As many flows as `input` has, for TimedSources to fill.
inline Input WithoutBatches(Input input) {
  for (std::vector<Flow>& flows : input.sources) flows.assign(flows.size(), Flow());
  return input;
}

class TimedSource final : public engine::Source<Event> {
 public:
  /// `noted`, `position`, which `source` updates, and `clock` outlive the source.
  TimedSource(std::unique_ptr<engine::Source<Event>> source, Flow& noted, FlowPosition& position, const Clock& clock)
      : source_(std::move(source)), noted_(&noted), position_(&position), clock_(&clock) {}

  engine::SourceBatch<Event> Poll() override {
    const engine::SourceBatch<Event> batch = source_->Poll();
    const std::int64_t read_ms = clock_->WallMillis();
    Batch noted{.events = {batch.records.begin(), batch.records.end()}, .watermark_ms = read_ms};
    for (Event& event : noted.events) event.time_ms = read_ms;
    noted_->push_back(std::move(noted));
    position_->first_watermark_ms = noted_->front().watermark_ms;
    const bool ends_well = batch.ended && source_->status().ok();
    (ends_well ? position_->last_watermark_ms : position_->watermark_ms) = read_ms;
    position_->idle_from_ns = kNever;  // its time goes on without records
    return batch;
  }
  bool Ready() override { return source_->Ready(); }
  absl::Status status() const override { return source_->status(); }

 private:
  std::unique_ptr<engine::Source<Event>> source_;
  Flow* noted_;
  FlowPosition* position_;
  const Clock* clock_;
};

}  // namespace glaive::sim
