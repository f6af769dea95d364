// Flows that are idle, and follow others, with plain integers.

#include <gtest/gtest.h>

#include "engine/progress/flow_progress.h"
#include "tests/engine/flow_progress_fixture.h"

namespace glaive::engine {
namespace {

class IdleFlowTest : public FlowProgressTest {};

/// It may have followed a flow that is idle now as well. Only what it brings makes it active, and lets others go on.
TEST_F(IdleFlowTest, AnIdleFlowNeverWaits) {
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
TEST_F(IdleFlowTest, AFlowThatHasFollowedOthersWaitsByItsOwnProducer) {
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

TEST_F(IdleFlowTest, AFlowSaysThatItIsIdleAndThatItIsActiveAgain) {
  OneFlow progress = MakeIdle();
  EXPECT_FALSE(progress.ShouldFollow(111)) << "there is nobody to follow yet";
  EXPECT_TRUE(progress.has_news()) << "the others have to know";
  EXPECT_EQ(progress.EndEpoch(120).idle, 1U);
  progress.OnActive();
  EXPECT_TRUE(progress.has_news()) << "the others have to know this, too";
  EXPECT_EQ(progress.EndEpoch(160).idle, 0U);
}

TEST_F(IdleFlowTest, AnIdleFlowFollowsTheSlowestOfThoseThatAreNotIdleAndNeverGoesBack) {
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

TEST_F(IdleFlowTest, TimeStandsStillWhenNobodyElseReads) {
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

TEST_F(IdleFlowTest, AnActiveFlowDoesNotFollow) {
  OneFlow progress = Make(2);
  progress.PublishBatch(1, 1, 5, 1);
  progress.OnMarker(ExecutorId{1}, Marker(50));
  EXPECT_FALSE(progress.ShouldFollow(std::int64_t{1} << 60));
  progress.PublishFollowing(std::int64_t{1} << 60);
  EXPECT_EQ(progress.watermark_ms(), 5);
}

TEST_F(IdleFlowTest, AStageIsIdleWhenAllItsFlowsAreAndItsResultsFollowOthersThen) {
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

TEST_F(IdleFlowTest, ResultsDoNotFollowResultsOfTheSameStage) {
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

TEST_F(IdleFlowTest, AnIdleFlowHasPatienceAfterTimeStoodStill) {
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

TEST_F(IdleFlowTest, ResultsArePatientWhenTheyBecomeIdleAndSourcesAreNot) {
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

TEST_F(IdleFlowTest, AnIdleInputFollowsTheOtherOne) {
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

}  // namespace
}  // namespace glaive::engine
