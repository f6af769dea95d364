// The ledger notices each way in which chunks can go wrong.

#include "tests/sim/delta_ledger.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::sim {
namespace {

using ::testing::HasSubstr;

constexpr ExecutorId kHelper{0};
constexpr ExecutorId kLeader{1};

state::DeltaTag Tag(std::uint64_t epoch, std::uint32_t runs_bytes, bool has_marker = true) {
  return {.epoch = epoch, .runs_bytes = runs_bytes, .has_marker = has_marker ? 1U : 0U, .input = 0, .text_bytes = 0};
}

state::DeltaChunk Chunk(const state::DeltaTag& tag, std::string_view runs = "",
                        const std::optional<state::EpochMarker>& marker = std::nullopt, std::string_view texts = "") {
  return {
      .tag = tag, .runs = std::as_bytes(std::span(runs)), .marker = marker, .texts = std::as_bytes(std::span(texts))};
}

class DeltaLedgerTest : public ::testing::Test {
 protected:
  void ReadUntil(std::int64_t watermark_ms) { truth_.Of(0, kHelper).watermark_ms = watermark_ms; }
  void Queue(const state::DeltaTag& tag, std::string_view runs = "runs") {
    ledger_.OnQueued(kHelper, kLeader, Chunk(tag, runs));
  }
  void Merge(const state::DeltaTag& tag, std::string_view runs = "runs") {
    ledger_.OnMerged(kHelper, kLeader, Chunk(tag, runs));
  }
  void MergeMarker(const state::DeltaTag& tag, std::int64_t watermark_ms) {
    ledger_.OnMerged(kHelper, kLeader, Chunk(tag, "runs", state::EpochMarker{.watermark_ms = watermark_ms}));
  }
  std::string Broken() const { return ledger_.broken().value_or(""); }
  std::string AtRow(std::int64_t window_end_ms) const { return ledger_.AtRow(kLeader, window_end_ms).value_or(""); }

  VirtualTime time_;
  FlowTruth truth_{1, engine::Roles(3), time_, Scenario().idle_timeout_ns(), /*one_is_silent=*/true};
  DeltaLedger ledger_{{.executors = 2, .inputs_are_sources = true, .lateness_ms = 10}, truth_};
};

TEST_F(DeltaLedgerTest, ChunksInTheirOrderAreRight) {
  Queue(Tag(1, 56, false));
  Queue(Tag(1, 40));
  Merge(Tag(1, 56, false));
  Merge(Tag(1, 40));
  EXPECT_EQ(Broken(), "");
  EXPECT_EQ(ledger_.AtEnd(), std::nullopt);
}

TEST_F(DeltaLedgerTest, OtherTextsThanWereQueuedAreNoticed) {
  ledger_.OnQueued(kHelper, kLeader, Chunk(Tag(1, 0), "runs", std::nullopt, "a text"));
  ledger_.OnMerged(kHelper, kLeader, Chunk(Tag(1, 0), "runs", std::nullopt, "a text"));
  EXPECT_EQ(Broken(), "");
  ledger_.OnQueued(kHelper, kLeader, Chunk(Tag(2, 0), "runs", std::nullopt, "a text"));
  ledger_.OnMerged(kHelper, kLeader, Chunk(Tag(2, 0), "runs", std::nullopt, "a test"));
  EXPECT_THAT(Broken(), HasSubstr("but other entries than were queued"));
}

TEST_F(DeltaLedgerTest, AMarkerThatIsAheadOfItsFlowIsNoticed) {
  ReadUntil(100);
  Queue(Tag(1, 56));
  MergeMarker(Tag(1, 56), 90);  // held back by the lateness
  EXPECT_EQ(Broken(), "");
  Queue(Tag(2, 56));
  ReadUntil(200);
  MergeMarker(Tag(2, 56), 91);
  EXPECT_THAT(Broken(), HasSubstr("I3: executor 0 tells of 91 ms in 56 bytes of entries and the marker of epoch 2 of "
                                  "input 0, and its flow is at 90 ms"));
}

TEST_F(DeltaLedgerTest, AMarkerOfAnIdleFlowThatIsAheadOfTheSlowestOtherIsNoticed) {
  ReadUntil(100);
  truth_.Of(0, kHelper).idle_from_ns = 0;
  truth_.Of(0, kLeader).watermark_ms = 5'000;
  truth_.Of(0, ExecutorId{2}).watermark_ms = 1'000;
  Queue(Tag(1, 56));
  MergeMarker(Tag(1, 56), 990);
  EXPECT_EQ(Broken(), "");
  Queue(Tag(2, 56));
  MergeMarker(Tag(2, 56), 991);
  EXPECT_THAT(Broken(), HasSubstr("I3: executor 0 tells of 991 ms"));
}

TEST_F(DeltaLedgerTest, AnIdleFlowMayHaveFollowedTheLastThatHasEnded) {
  ReadUntil(100);
  truth_.Of(0, kHelper).idle_from_ns = 0;
  truth_.Of(0, kLeader) = {.watermark_ms = kEndMs, .last_watermark_ms = 5'000};
  truth_.Of(0, ExecutorId{2}) = {.watermark_ms = kEndMs, .last_watermark_ms = 1'000};
  Queue(Tag(1, 56));
  MergeMarker(Tag(1, 56), 4'990);
  EXPECT_EQ(Broken(), "");
}

TEST_F(DeltaLedgerTest, AChunkMergedTwiceIsNoticed) {
  Queue(Tag(1, 56));
  Merge(Tag(1, 56));
  Merge(Tag(1, 56));
  EXPECT_THAT(
      Broken(),
      HasSubstr("I2: executor 1 has merged 56 bytes of entries and the marker of epoch 1 of input 0 of executor "
                "0; due was nothing"));
}

TEST_F(DeltaLedgerTest, AChunkLeftOutIsNoticed) {
  Queue(Tag(1, 56));
  Queue(Tag(2, 48));
  Merge(Tag(2, 48));
  EXPECT_THAT(Broken(), HasSubstr("due was 56 bytes of entries and the marker of epoch 1"));
}

TEST_F(DeltaLedgerTest, AChunkCutShortIsNoticed) {
  Queue(Tag(1, 56));
  Merge(Tag(1, 48));
  EXPECT_THAT(Broken(), HasSubstr("due was 56 bytes of entries"));
}

TEST_F(DeltaLedgerTest, ChunksOfTheSameSizeThatChangePlacesAreNoticed) {
  Queue(Tag(1, 56, false), "first");
  Queue(Tag(1, 56, false), "other");
  Merge(Tag(1, 56, false), "other");
  EXPECT_THAT(Broken(), HasSubstr("other entries than were queued"));
}

TEST_F(DeltaLedgerTest, AChunkThatNobodyMergedIsNoticedAtTheEnd) {
  Queue(Tag(1, 56));
  EXPECT_THAT(ledger_.AtEnd().value_or(""), HasSubstr("I2: 1 chunks of executor 0 for executor 1"));
}

TEST_F(DeltaLedgerTest, ARowWaitsForTheMarkerThatCoversItsWindow) {
  ReadUntil(1'010);
  Queue(Tag(1, 56, false));
  Queue(Tag(1, 0));
  Merge(Tag(1, 56, false));
  EXPECT_THAT(AtRow(1'000), HasSubstr("I3: executor 1 has a row of a window that ends at 1000 ms"));
  Merge(Tag(1, 0));
  EXPECT_EQ(AtRow(1'000), "");
  ReadUntil(5'000);  // what was queued before does not cover it
  EXPECT_THAT(AtRow(1'001), HasSubstr("it has merged what comes before 1000"));
}

TEST_F(DeltaLedgerTest, AFlowThatIsIdleHoldsNoRowBack) {
  ReadUntil(100);
  truth_.Of(0, kHelper).idle_from_ns = time_.now_ns();
  truth_.Of(0, kLeader).watermark_ms = 2'000;
  truth_.Of(0, ExecutorId{2}).watermark_ms = 1'010;
  Queue(Tag(1, 0));
  Merge(Tag(1, 0));
  EXPECT_EQ(AtRow(1'000), "");
}

TEST_F(DeltaLedgerTest, WhereSeveralFlowsFallSilentAnIdleOneMayHaveFollowedAnyOther) {
  FlowTruth truth(1, engine::Roles(2), time_, Scenario().idle_timeout_ns(), /*one_is_silent=*/false);
  DeltaLedger ledger({.executors = 2, .inputs_are_sources = true, .lateness_ms = 10}, truth);
  truth.Of(0, kHelper) = {.watermark_ms = 100, .idle_from_ns = time_.now_ns()};
  ledger.OnQueued(kHelper, kLeader, Chunk(Tag(1, 0)));
  ledger.OnMerged(kHelper, kLeader, Chunk(Tag(1, 0), "", state::EpochMarker{.watermark_ms = 5'000}));
  EXPECT_EQ(ledger.broken(), std::nullopt);
  EXPECT_EQ(ledger.AtRow(kLeader, 1'000), std::nullopt);
}

TEST_F(DeltaLedgerTest, AnEndedFlowHoldsNoRowBack) {
  ReadUntil(kEndMs);
  Queue(Tag(1, 0));
  Merge(Tag(1, 0));
  EXPECT_EQ(AtRow(1'000'000), "");
}

TEST(DeltaLedger, EachInputGoesByItsOwnSource) {
  VirtualTime time;
  FlowTruth truth(2, engine::Roles(2), time, Scenario().idle_timeout_ns(), /*one_is_silent=*/true);
  truth.Of(0, kHelper).watermark_ms = 500;
  truth.Of(1, kHelper).watermark_ms = 900;
  for (const bool inputs_are_sources : {true, false}) {
    DeltaLedger ledger({.executors = 2, .inputs_are_sources = inputs_are_sources, .lateness_ms = 0}, truth);
    for (const std::uint32_t input : {0U, 1U}) {
      state::DeltaTag tag = Tag(1, 0);
      tag.input = input;
      ledger.OnQueued(kHelper, kLeader, Chunk(tag));
      ledger.OnMerged(kHelper, kLeader, Chunk(tag));
    }
    EXPECT_EQ(ledger.AtRow(kLeader, 500), std::nullopt);
    EXPECT_EQ(ledger.AtRow(kLeader, 501).has_value(), inputs_are_sources);
    EXPECT_NE(ledger.AtRow(kLeader, 901), std::nullopt);
  }
}

TEST(DeltaLedger, AnInputOfUnitedSourcesMayTellOfAnyOfThem) {
  VirtualTime time;
  FlowTruth truth(2, engine::Roles(2), time, Scenario().idle_timeout_ns(), /*one_is_silent=*/true);
  truth.Of(0, kHelper).watermark_ms = 500;
  truth.Of(1, kHelper).watermark_ms = 900;
  DeltaLedger ledger({.executors = 2, .inputs_are_sources = true, .unites_sources = true, .lateness_ms = 0}, truth);
  ledger.OnQueued(kHelper, kLeader, Chunk(Tag(1, 0)));
  ledger.OnMerged(kHelper, kLeader, Chunk(Tag(1, 0), "", state::EpochMarker{.watermark_ms = 900}));
  EXPECT_EQ(ledger.broken(), std::nullopt);
  ledger.OnQueued(kHelper, kLeader, Chunk(Tag(2, 0)));
  ledger.OnMerged(kHelper, kLeader, Chunk(Tag(2, 0), "", state::EpochMarker{.watermark_ms = 901}));
  EXPECT_NE(ledger.broken(), std::nullopt);
}

}  // namespace
}  // namespace glaive::sim
