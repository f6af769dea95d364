// A flow's progress through epochs and windows, with plain integers.

#include <functional>

#include <gtest/gtest.h>

#include "engine/progress/flow_progress.h"

namespace glaive::engine {
namespace {

constexpr EpochPolicy kPolicy{.epoch_bytes = 1000, .epoch_min_bytes = 100, .epoch_interval_ns = 50};

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

TEST_F(FlowProgressTest, AMarkerCarriesTheFlowsStateAndEpochsAreNumberedFromOne) {
  OneFlow progress = Make(2);
  progress.PublishBatch(7, 70, 5, 1);
  state::EpochMarker marker = progress.EndEpoch(2);
  EXPECT_EQ(marker.epoch, 1U);
  EXPECT_EQ(marker.watermark_ms, 5);
  EXPECT_EQ(marker.records_read, 7U);
  EXPECT_EQ(marker.boundary_read_ns, 1) << "the first watermark passes the ends of all windows before it";
  progress.PublishBatch(0, 0, 6, 3);
  EXPECT_EQ(progress.EndEpoch(4).boundary_read_ns, 0) << "no window's end was passed";
  progress.PublishBatch(3, 30, 25, 9);
  progress.PublishBatch(3, 30, 35, 11);
  marker = progress.EndEpoch(12);
  EXPECT_EQ(marker.epoch, 3U);
  EXPECT_EQ(marker.records_read, 13U);
  EXPECT_EQ(marker.boundary_read_ns, 9) << "the first batch that passed a window's end counts";
}

TEST_F(FlowProgressTest, TheStageIsToldOfAWatermarkOnceNothingIsHeldBack) {
  OneFlow progress = Make(1);
  FlowProgress& held_back = progress;
  held_back.OnBatch(1, 1, 12, 7);
  held_back.OnBatch(1, 1, 25, 9);
  EXPECT_EQ(progress.watermark_ms(), 25);
  EXPECT_EQ(progress.min_ms(), kMinEventTimeMs);
  EXPECT_FALSE(progress.has_passed_windows());
  (void)progress.EndEpoch(10);
  EXPECT_EQ(progress.min_ms(), 25);
  EXPECT_EQ(progress.PassedReadNanos(10), 7) << "the first batch that passed a window's end counts";
  held_back.OnBatch(1, 1, 31, 11);
  held_back.Publish();
  EXPECT_EQ(progress.min_ms(), 31);
  EXPECT_EQ(progress.PassedReadNanos(30), 11);
}

TEST_F(FlowProgressTest, AWindowsEndIsPassedWhetherOrNotTheWindowHeldRecords) {
  OneFlow progress = Make(1);
  progress.PublishBatch(1, 100, 5, 1);
  EXPECT_FALSE(progress.ShouldEndEpoch(2));
  progress.PublishBatch(0, 0, 10, 3);
  EXPECT_TRUE(progress.ShouldEndEpoch(4));
}

TEST_F(FlowProgressTest, TheEndOfTheFlowIsPlusInfinityAndHoldsNobodyBack) {
  OneFlow progress = Make(2);
  progress.PublishEnd(3);
  EXPECT_EQ(progress.EndEpoch(4).watermark_ms, kMaxEventTimeMs);
  EXPECT_EQ(progress.min_ms(), kMinEventTimeMs);
  progress.OnMarker(ExecutorId{1}, Marker(20));
  EXPECT_EQ(progress.min_ms(), 20);
}

TEST_F(FlowProgressTest, AFlowWaitsWhenItLeadsByMoreThanAllowedAndGoesOnWhenTheSlowestCatchesUp) {
  OneFlow progress = Make(2, /*max_lead_ms=*/100);
  progress.PublishBatch(1, 1, 1000, 1);
  EXPECT_FALSE(progress.LeadsTooFar()) << "the lead is measured from where the flow began, until all have reported";
  progress.PublishBatch(1, 1, 1101, 2);
  EXPECT_TRUE(progress.LeadsTooFar());
  EXPECT_FALSE(progress.LeadsTooFar(-1)) << "a source that is behind the flow";
  EXPECT_FALSE(progress.LeadsTooFar(-kMaxEventTimeMs / 2));
  progress.OnMarker(ExecutorId{1}, Marker(1000));
  EXPECT_TRUE(progress.LeadsTooFar());
  progress.OnMarker(ExecutorId{1}, Marker(1001));
  EXPECT_TRUE(progress.LeadsTooFar()) << "windows up to 1000 have not fired";
  progress.ForgetPassedUntil(progress.min_ms());
  EXPECT_FALSE(progress.LeadsTooFar());
}

/// It may have followed a flow that is idle now as well. Only what it brings makes it active, and lets others go on.
TEST_F(FlowProgressTest, AnIdleFlowNeverWaits) {
  OneFlow progress = Make(2, /*max_lead_ms=*/100);
  progress.PublishBatch(1, 1, 1000, 1);
  progress.PublishBatch(1, 1, 1101, 2);
  EXPECT_TRUE(progress.LeadsTooFar());
  progress.OnIdle(3);
  EXPECT_FALSE(progress.LeadsTooFar());
  progress.OnActive();
  EXPECT_TRUE(progress.LeadsTooFar());
}

/// The flow that is behind may lack the very records that this source reads next.
TEST_F(FlowProgressTest, AFlowThatHasFollowedOthersWaitsByItsOwnProducer) {
  OneFlow progress = Make(3, /*max_lead_ms=*/100);
  progress.PublishBatch(1, 1, 1000, 1);
  progress.OnMarker(ExecutorId{1}, Marker(1300));
  progress.OnMarker(ExecutorId{2}, IdleMarker(1000));
  progress.OnIdle(3);
  progress.PublishFollowing(3);
  progress.OnActive();
  ASSERT_EQ(progress.watermark_ms(), 1300);
  progress.ForgetPassedUntil(progress.min_ms());
  EXPECT_FALSE(progress.LeadsTooFar()) << "the flow leads executor 2 by 300, its source by nothing";
  EXPECT_FALSE(progress.LeadsTooFar(100));
  EXPECT_TRUE(progress.LeadsTooFar(101));
  progress.PublishBatch(1, 1, 1100, 4);
  EXPECT_EQ(progress.watermark_ms(), 1300) << "a watermark never goes back";
  EXPECT_FALSE(progress.LeadsTooFar());
  progress.PublishBatch(1, 1, 1101, 5);
  EXPECT_TRUE(progress.LeadsTooFar());
}

TEST_F(FlowProgressTest, TheSlowestFlowNeverWaits) {
  OneFlow progress = Make(2, /*max_lead_ms=*/0);
  progress.PublishBatch(1, 1, 1000, 1);
  progress.OnMarker(ExecutorId{1}, Marker(5000));
  EXPECT_FALSE(progress.LeadsTooFar());
}

TEST_F(FlowProgressTest, LatencyIsMeasuredFromTheBatchOfWhoeverWasLast) {
  OneFlow progress = Make(2);
  progress.PublishBatch(1, 1, 25, 7);
  EXPECT_FALSE(progress.has_passed_windows());
  progress.OnMarker(ExecutorId{1}, Marker(30, /*boundary_read_ns=*/42));
  EXPECT_EQ(progress.PassedReadNanos(20), 42);
  progress.ForgetPassedUntil(progress.min_ms());
  progress.OnMarker(ExecutorId{1}, Marker(60, /*boundary_read_ns=*/50));
  EXPECT_FALSE(progress.has_passed_windows()) << "it was not the last any more";
  progress.PublishBatch(1, 1, 55, 99);
  EXPECT_EQ(progress.PassedReadNanos(50), 99);
}

TEST_F(FlowProgressTest, WindowsThatWaitToBeFiredKeepTheBatchThatCompletedEach) {
  OneFlow progress = Make(1);
  progress.PublishBatch(1, 1, 5, 1);
  progress.PublishBatch(1, 1, 12, 2);  // completes the window that ends at 10
  progress.PublishBatch(1, 1, 19, 3);
  progress.PublishBatch(1, 1, 35, 4);  // completes those that end at 20 and 30, before the first was fired
  progress.PublishBatch(1, 1, 39, 5);
  EXPECT_EQ(progress.PassedReadNanos(10), 2);
  EXPECT_EQ(progress.PassedReadNanos(20), 4);
  EXPECT_EQ(progress.PassedReadNanos(30), 4);
  progress.ForgetPassedUntil(progress.min_ms());
  progress.PublishEnd(6);
  EXPECT_EQ(progress.PassedReadNanos(40), 6);
  EXPECT_EQ(progress.PassedReadNanos(1000), 6);
}

TEST_F(FlowProgressTest, AFlowSaysThatItIsIdleAndThatItIsActiveAgain) {
  OneFlow progress = MakeIdle();
  EXPECT_FALSE(progress.ShouldFollow(111)) << "there is nobody to follow yet";
  EXPECT_TRUE(progress.has_news()) << "the others have to know";
  EXPECT_EQ(progress.EndEpoch(120).idle, 1U);
  progress.OnActive();
  EXPECT_TRUE(progress.has_news()) << "the others have to know this, too";
  EXPECT_EQ(progress.EndEpoch(160).idle, 0U);
}

TEST_F(FlowProgressTest, AnIdleFlowFollowsTheSlowestOfThoseThatAreNotIdleAndNeverGoesBack) {
  OneFlow progress = MakeIdle();
  progress.OnMarker(ExecutorId{1}, Marker(70));
  progress.OnMarker(ExecutorId{2}, Marker(90));
  progress.OnMarker(ExecutorId{3}, IdleMarker(20));
  progress.PublishFollowing(110);
  EXPECT_EQ(progress.watermark_ms(), 70);
  EXPECT_EQ(progress.min_ms(), 20) << "the other idle flow has to follow by itself";
  EXPECT_TRUE(progress.ShouldEndEpoch(1000));
  progress.OnMarker(ExecutorId{1}, Marker(kMaxEventTimeMs));
  EXPECT_TRUE(progress.ShouldFollow(111));
  progress.PublishFollowing(111);
  EXPECT_EQ(progress.watermark_ms(), 90) << "a flow that has ended is not followed";
  progress.OnMarker(ExecutorId{3}, Marker(40));
  EXPECT_FALSE(progress.ShouldFollow(112)) << "a flow that has come back is slower";
  progress.OnActive();
  progress.PublishBatch(1, 1, 8, 120);
  EXPECT_EQ(progress.watermark_ms(), 90) << "what it reads now is late";
  EXPECT_EQ(progress.min_ms(), 40);
}

TEST_F(FlowProgressTest, TimeStandsStillWhenNobodyElseReads) {
  OneFlow progress = MakeIdle();
  progress.OnMarker(ExecutorId{1}, IdleMarker(70));
  progress.OnMarker(ExecutorId{2}, IdleMarker(90));
  progress.OnMarker(ExecutorId{3}, Marker(kMaxEventTimeMs));
  progress.PublishFollowing(1000);
  progress.PublishFollowing(2000);
  EXPECT_EQ(progress.watermark_ms(), 5);
  progress.OnMarker(ExecutorId{2}, Marker(95));
  progress.PublishFollowing(3000);
  EXPECT_EQ(progress.watermark_ms(), 95);
}

TEST_F(FlowProgressTest, AnActiveFlowDoesNotFollow) {
  OneFlow progress = Make(2);
  progress.PublishBatch(1, 1, 5, 1);
  progress.OnMarker(ExecutorId{1}, Marker(50));
  EXPECT_FALSE(progress.ShouldFollow(std::int64_t{1} << 60));
  progress.PublishFollowing(std::int64_t{1} << 60);
  EXPECT_EQ(progress.watermark_ms(), 5);
}

TEST_F(FlowProgressTest, AJoinWaitsForBothItsInputs) {
  StageProgress stage(Windows(Tumbling{absl::Milliseconds(10)}), 2, {0, 0});
  FlowProgress left({.self = ExecutorId{0}, .input = 0, .max_lead_ms = 100}, Windows(Tumbling{absl::Milliseconds(10)}),
                    stage);
  FlowProgress right({.self = ExecutorId{0}, .input = 1, .max_lead_ms = 100}, Windows(Tumbling{absl::Milliseconds(10)}),
                     stage);
  left.OnMarker(ExecutorId{1}, Marker(50));
  right.OnMarker(ExecutorId{1}, Marker(60));
  left.OnBatch(1, 1, 200, 1);
  left.Publish();
  EXPECT_EQ(stage.min_ms(), kMinEventTimeMs) << "the right one has not begun";
  right.OnBatch(1, 1, 20, 2);
  right.Publish();
  EXPECT_EQ(stage.min_ms(), 20);
  EXPECT_TRUE(left.LeadsTooFar());
  EXPECT_FALSE(right.LeadsTooFar());
  right.OnBatch(1, 1, 155, 3);
  right.Publish();
  EXPECT_EQ(stage.min_ms(), 50);
  stage.ForgetPassedUntil(50);
  FlowProgress by_clock({.self = ExecutorId{0}, .input = 1, .goes_by_clock = true, .max_lead_ms = 100},
                        Windows(Tumbling{absl::Milliseconds(10)}), stage);
  by_clock.OnBatch(1, 1, 160, 4);
  EXPECT_FALSE(by_clock.LeadsTooFar());
  by_clock.OnBatch(1, 1, 1'000'000, 5);
  EXPECT_FALSE(by_clock.LeadsTooFar()) << "a clock is never ahead of other flows, nor of another clock";
}

TEST_F(FlowProgressTest, InputsOfOneSourceAreNotCompared) {
  const Windows windows(Tumbling{absl::Milliseconds(10)});
  StageProgress stage(windows, 2, {0, 0}, /*compares_inputs=*/false);
  FlowProgress earlier({.self = ExecutorId{0}, .input = 0, .max_lead_ms = 100}, windows, stage);
  FlowProgress later({.self = ExecutorId{0}, .input = 1, .max_lead_ms = 100}, windows, stage);
  earlier.OnMarker(ExecutorId{1}, Marker(50));
  later.OnMarker(ExecutorId{1}, Marker(1'050));
  earlier.OnBatch(1, 1, 60, 1);
  earlier.Publish();
  later.OnBatch(1, 1, 1'060, 1);
  later.Publish();
  EXPECT_FALSE(later.LeadsTooFar());
  later.OnBatch(1, 1, 1'151, 2);
  later.Publish();
  EXPECT_TRUE(later.LeadsTooFar()) << "of the flow of executor 1 into the same input";
  later.OnMarker(ExecutorId{1}, Marker(1'151));
  EXPECT_FALSE(later.LeadsTooFar());
  EXPECT_FALSE(earlier.LeadsTooFar());
  // Windows that have not fired hold up both: the first one ends at 50.
  earlier.OnMarker(ExecutorId{1}, Marker(400));
  earlier.OnBatch(1, 1, 400, 3);
  earlier.Publish();
  EXPECT_TRUE(earlier.LeadsTooFar());
  EXPECT_TRUE(later.LeadsTooFar());
  stage.ForgetPassedUntil(stage.min_ms());
  EXPECT_FALSE(earlier.LeadsTooFar());
  EXPECT_FALSE(later.LeadsTooFar());
}

TEST_F(FlowProgressTest, ASourceWaitsForResultsOnlyWhereTheyAreLaterThanTheirDelay) {
  StageProgress stage(Windows(Tumbling{absl::Milliseconds(10)}), 1, {0, 1000});
  FlowProgress source({.self = ExecutorId{0}, .input = 0, .max_lead_ms = 100},
                      Windows(Tumbling{absl::Milliseconds(10)}), stage);
  source.OnBatch(1, 1, 10, 1);
  source.Publish();
  source.OnBatch(1, 1, 1110, 1);
  source.Publish();
  EXPECT_FALSE(source.LeadsTooFar()) << "the results begin where the source did";
  source.OnBatch(1, 1, 1111, 1);
  source.Publish();
  EXPECT_TRUE(source.LeadsTooFar());
  stage.Advance(stage.FlowOf(1, ExecutorId{0}), 500, 1);
  source.OnBatch(1, 1, 1600, 1);
  source.Publish();
  stage.ForgetPassedUntil(stage.min_ms());
  EXPECT_FALSE(source.LeadsTooFar());
  source.OnBatch(1, 1, 1601, 1);
  source.Publish();
  EXPECT_TRUE(source.LeadsTooFar());
  stage.Advance(stage.FlowOf(1, ExecutorId{0}), kMaxEventTimeMs, 1);
  stage.ForgetPassedUntil(stage.min_ms());
  EXPECT_FALSE(source.LeadsTooFar());
}

TEST_F(FlowProgressTest, AStageIsIdleWhenAllItsFlowsAreAndItsResultsFollowOthersThen) {
  StageProgress stage(Windows(Tumbling{absl::Milliseconds(10)}), 3);
  EXPECT_FALSE(stage.all_idle());
  stage.SetIdle(0, true);
  stage.SetIdle(0, true);
  stage.Advance(1, kMaxEventTimeMs, 1);
  EXPECT_FALSE(stage.all_idle());
  stage.SetIdle(2, true);
  EXPECT_TRUE(stage.all_idle());
  stage.SetIdle(2, false);
  EXPECT_FALSE(stage.all_idle());
  stage.Advance(2, kMaxEventTimeMs, 1);
  EXPECT_TRUE(stage.all_idle());
  stage.Advance(0, kMaxEventTimeMs, 1);
  EXPECT_FALSE(stage.all_idle()) << "it has ended";

  StageProgress next(Windows(Tumbling{absl::Milliseconds(10)}), 1, {0, 20});
  FlowProgress source({.self = ExecutorId{0}, .input = 0}, Windows(Tumbling{absl::Milliseconds(10)}), next);
  FlowProgress results({.self = ExecutorId{0}, .input = 1, .of_results = true},
                       Windows(Tumbling{absl::Milliseconds(10)}), next);
  source.OnBatch(1, 1, 70, 1);
  source.Publish();
  EXPECT_FALSE(results.ShouldFollow(5));
  results.OnIdle(5);
  EXPECT_TRUE(results.ShouldFollow(5));
  results.Follow(6);
  results.Publish();
  EXPECT_EQ(next.min_ms(), 70);
  results.OnActive();
  EXPECT_TRUE(results.has_news()) << "the others have to wait for it again";
  source.OnBatch(1, 1, 90, 8);
  source.Publish();
  EXPECT_FALSE(results.ShouldFollow(9));
}

TEST_F(FlowProgressTest, ResultsDoNotFollowResultsOfTheSameStage) {
  const Windows windows(Tumbling{absl::Milliseconds(10)});
  StageProgress stage(windows, 2, {0, 20});
  FlowProgress results({.self = ExecutorId{0}, .input = 1, .of_results = true}, windows, stage);
  results.OnIdle(5);
  results.OnMarker(ExecutorId{1}, Marker(90));
  results.Follow(6);
  EXPECT_EQ(results.watermark_ms(), kMinEventTimeMs) << "its own are as far as those of the other leader";
  stage.Advance(stage.FlowOf(0, ExecutorId{0}), 60, 7);
  stage.Advance(stage.FlowOf(0, ExecutorId{1}), 70, 7);
  results.Follow(8);
  EXPECT_EQ(results.watermark_ms(), 60);
}

TEST_F(FlowProgressTest, AnIdleFlowHasPatienceAfterTimeStoodStill) {
  OneFlow progress(2, {.self = ExecutorId{0}, .policy = kPolicy, .patience_ns = 25},
                   [](FlowProgress& flow) { flow.OnBatch(1, 1, 5, 1); });
  progress.OnMarker(ExecutorId{1}, IdleMarker(6));
  progress.OnIdle(110);
  progress.PublishFollowing(110);
  EXPECT_FALSE(progress.ShouldFollow(111)) << "time stands still";
  progress.OnMarker(ExecutorId{1}, Marker(70));
  EXPECT_TRUE(progress.ShouldFollow(200)) << "that has to be noted";
  progress.PublishFollowing(200);
  EXPECT_EQ(progress.watermark_ms(), 5);
  EXPECT_FALSE(progress.ShouldFollow(224));
  EXPECT_TRUE(progress.ShouldFollow(225));
  progress.PublishFollowing(225);
  EXPECT_EQ(progress.watermark_ms(), 70);
  progress.OnMarker(ExecutorId{1}, Marker(80));
  EXPECT_TRUE(progress.ShouldFollow(226)) << "time goes on";
}

TEST_F(FlowProgressTest, ResultsArePatientWhenTheyBecomeIdleAndSourcesAreNot) {
  const Windows windows(Tumbling{absl::Milliseconds(10)});
  for (const bool of_results : {false, true}) {
    StageProgress stage(windows, 1, {0, 0});
    FlowProgress flow({.self = ExecutorId{0}, .input = 1, .of_results = of_results, .patience_ns = 25}, windows, stage);
    stage.Advance(stage.FlowOf(0, ExecutorId{0}), 60, 1);
    flow.OnIdle(5);
    EXPECT_EQ(flow.ShouldFollow(29), !of_results);
    EXPECT_TRUE(flow.ShouldFollow(30));
  }
}

TEST_F(FlowProgressTest, AnIdleInputFollowsTheOtherOne) {
  StageProgress stage(Windows(Tumbling{absl::Milliseconds(10)}), 1, {0, 0});
  FlowProgress left({.self = ExecutorId{0}, .input = 0}, Windows(Tumbling{absl::Milliseconds(10)}), stage);
  FlowProgress right({.self = ExecutorId{0}, .input = 1}, Windows(Tumbling{absl::Milliseconds(10)}), stage);
  left.OnBatch(1, 1, 70, 20);
  left.Publish();
  EXPECT_FALSE(right.ShouldFollow(20));
  right.OnIdle(110);
  right.Follow(110);
  right.Publish();
  EXPECT_EQ(right.watermark_ms(), 70);
  left.OnBatch(1, 1, 90, 120);
  left.Publish();
  EXPECT_TRUE(right.ShouldFollow(120));
  right.Follow(120);
  right.Publish();
  EXPECT_EQ(stage.min_ms(), 90);
}

TEST_F(FlowProgressTest, TheEndOfAFlowThatReadNothingPassesEveryWindow) {
  OneFlow progress = Make(1);
  progress.PublishEnd(8);
  EXPECT_EQ(progress.PassedReadNanos(0), 8);
  EXPECT_EQ(progress.PassedReadNanos(kMaxEventTimeMs), 8);
}

}  // namespace
}  // namespace glaive::engine
