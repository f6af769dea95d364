// A flow's progress through epochs and windows, with plain integers.

#include <gtest/gtest.h>

#include "engine/progress/flow_progress.h"
#include "tests/engine/flow_progress_fixture.h"

namespace glaive::engine {
namespace {

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

TEST_F(FlowProgressTest, BytesThatTheSourcesReadEndAnEpochToo) {
  OneFlow progress = Make(1);
  progress.PublishBatch(1, 1, 5, 1);
  progress.PublishBatch(1, 1, 10, 1);
  EXPECT_FALSE(progress.ShouldEndEpoch(2, kPolicy.epoch_min_bytes - 1));
  EXPECT_TRUE(progress.ShouldEndEpoch(2, kPolicy.epoch_min_bytes));
  (void)progress.EndEpoch(3);
  progress.PublishBatch(1, 1, 11, 4);
  EXPECT_FALSE(progress.ShouldEndEpoch(5, kPolicy.epoch_bytes - 1)) << "no window's end was passed";
  EXPECT_TRUE(progress.ShouldEndEpoch(5, kPolicy.epoch_bytes));
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

TEST_F(FlowProgressTest, TheEndOfAFlowThatReadNothingPassesEveryWindow) {
  OneFlow progress = Make(1);
  progress.PublishEnd(8);
  EXPECT_EQ(progress.PassedReadNanos(0), 8);
  EXPECT_EQ(progress.PassedReadNanos(kMaxEventTimeMs), 8);
}

}  // namespace
}  // namespace glaive::engine
