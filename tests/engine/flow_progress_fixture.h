// FlowProgressTest: a flow of an executor into a stage of tumbling windows of 10 ms, for tests of what it tells the
// stage.
//
//   OneFlow progress = Make(/*executors=*/2);
//   progress.PublishBatch(/*records=*/1, /*bytes=*/1, /*watermark_ms=*/20, /*read_ns=*/1);
#pragma once

#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "engine/progress/flow_progress.h"

namespace glaive::engine {

inline constexpr EpochPolicy kPolicy{.epoch_bytes = 1000, .epoch_min_bytes = 100, .epoch_interval_ns = 50};

/// The flow of an executor into a stage of one input.
class OneFlow : public StageProgress, public FlowProgress {
 public:
  OneFlow(
      std::uint32_t executors, const FlowProgressOptions& options,
      const std::function<void(FlowProgress&)>& begin = [](FlowProgress&) {})
      : StageProgress(TenMillis(), executors), FlowProgress(options, TenMillis(), *this) {
    Start(0);
    begin(*this);
  }
  OneFlow(const OneFlow&) = delete;
  OneFlow& operator=(const OneFlow&) = delete;

  // No combiner holds anything back: the stage is told at once.
  void PublishBatch(std::uint64_t records, std::uint64_t bytes, std::int64_t watermark_ms, std::int64_t read_ns) {
    OnBatch(records, bytes, watermark_ms, read_ns);
    Publish();
  }
  void PublishFollowing(std::int64_t now_ns) {
    Follow(now_ns);
    Publish();
  }
  void PublishEnd(std::int64_t now_ns) {
    OnEnd(now_ns);
    Publish();
  }

 private:
  static Windows TenMillis() { return Windows(Tumbling{absl::Milliseconds(10)}); }
};

class FlowProgressTest : public ::testing::Test {
 protected:
  static OneFlow Make(std::uint32_t executors, std::int64_t max_lead_ms = 100) {
    return OneFlow(executors, {.self = ExecutorId{0}, .policy = kPolicy, .max_lead_ms = max_lead_ms});
  }
  /// The flow of executor 0 of 4, idle since 110.
  static OneFlow MakeIdle() {
    return OneFlow(4, {.self = ExecutorId{0}, .policy = kPolicy, .max_lead_ms = 100}, [](FlowProgress& progress) {
      progress.OnBatch(1, 1, 5, 1);
      (void)progress.EndEpoch(2);
      progress.OnIdle(110);
    });
  }
  static state::EpochMarker IdleMarker(std::int64_t watermark_ms) {
    state::EpochMarker marker = Marker(watermark_ms);
    marker.idle = 1;
    return marker;
  }
  static state::EpochMarker Marker(std::int64_t watermark_ms, std::int64_t boundary_read_ns = 0) {
    state::EpochMarker marker{};
    marker.watermark_ms = watermark_ms;
    marker.boundary_read_ns = boundary_read_ns;
    return marker;
  }
};

}  // namespace glaive::engine
