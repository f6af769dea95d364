// The verdict is against every way of ending wrong, and for every way of ending well.

#include "tests/sim/verdict.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::sim {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kStruckNs = 1'000'000;

NodeFacts EndedWith(absl::Status status, std::vector<std::string> rows = {}) {
  const std::size_t parts = rows.empty() ? 0 : 1;
  return {.ended = std::move(status),
          .ended_ns = kStruckNs + kPeerTimeoutNs,
          .published = {.rows = std::move(rows), .late = {}},
          .parts = parts};
}
NodeFacts Killed() {
  NodeFacts facts;
  facts.was_killed = true;
  return facts;
}

absl::Status Lost(int node) { return absl::UnavailableError(absl::StrCat("node ", node, " is gone")); }

/// Node 1 is killed while node 2 merges.
Scenario Killing() {
  Scenario scenario;
  scenario.nodes = 3;
  scenario.fault = static_cast<std::int64_t>(FaultKind::kKill);
  scenario.step = static_cast<std::int64_t>(Step::kMerging);
  scenario.victim = 1;
  return scenario;
}

std::string ProblemOf(const Scenario& scenario, std::vector<NodeFacts> nodes) {
  RunFacts facts{.faults = {}, .nodes = std::move(nodes)};
  for (std::size_t i = 0; i < kMostFaults; ++i) {
    facts.faults[i] = {.has_struck = scenario.faults()[i].kind != FaultKind::kNone, .struck_ns = kStruckNs};
  }
  return Judge(scenario, facts, {.rows = {"a", "b"}, .late = {}}).problem;
}

TEST(Verdict, RowsAreThoseOfAllNodesInAnyOrder) {
  EXPECT_EQ(ProblemOf(Scenario{}, {EndedWith(absl::OkStatus(), {"b"}), EndedWith(absl::OkStatus(), {"a"})}), "");
  EXPECT_THAT(ProblemOf(Scenario{}, {EndedWith(absl::OkStatus(), {"b"})}), HasSubstr("missing 1, first: a"));
  EXPECT_THAT(ProblemOf(Scenario{}, {EndedWith(absl::OkStatus(), {"a", "b", "b"})}), HasSubstr("wrong 1, first: b"));
}

TEST(Verdict, NobodyFailsWithoutACause) {
  EXPECT_THAT(ProblemOf(Scenario{}, {EndedWith(Lost(1))}), HasSubstr("node 0 failed without a cause"));
}

TEST(Verdict, SurvivorsSayWhoWasLost) {
  EXPECT_EQ(ProblemOf(Killing(), {EndedWith(Lost(1)), Killed(), EndedWith(Lost(1))}), "");
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(Lost(1)), Killed(), EndedWith(Lost(0))}),
              HasSubstr("expected the lost node's name"));
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(Lost(12)), Killed(), EndedWith(Lost(1))}),
              HasSubstr("expected the lost node's name"));
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(absl::InternalError("node 1")), Killed(), EndedWith(Lost(1))}),
              HasSubstr("expected UNAVAILABLE"));
}

TEST(Verdict, ALostConnectionMayBeTheOnlySignOfAFaultThatAnotherOneKeepsUntold) {
  Scenario scenario = Killing();  // of node 1
  scenario.second_fault = static_cast<std::int64_t>(FaultKind::kSourceFails);
  scenario.second_victim = 2;
  const NodeFacts source_failed = EndedWith(absl::InternalError("node 2: simulated"));
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(Lost(2)), Killed(), source_failed}), "");
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(Lost(0)), Killed(), source_failed}), HasSubstr("expected"));
}

TEST(Verdict, SurvivorsEndInTime) {
  NodeFacts slow = EndedWith(Lost(1));
  slow.ended_ns += 2'001'000'000;
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(Lost(1)), Killed(), slow}), HasSubstr("node 2 ended 1 ms too late"));
}

TEST(Verdict, AFaultThatStrikesUnnoticedGivesOtherFaultsNoMoreTime) {
  const absl::Status cut = absl::FailedPreconditionError("node 0: /f/in-0-003.txt: it was written to");
  const absl::Status used_up = absl::ResourceExhaustedError("node 0: --memory-limit");
  for (const auto& [kind, ended] : {std::pair(FaultKind::kInputCut, cut), std::pair(FaultKind::kNoState, used_up)}) {
    Scenario scenario = Killing();
    scenario.second_fault = static_cast<std::int64_t>(kind);
    NodeFacts slow = EndedWith(Lost(1));
    slow.ended_ns += 2'001'000'000;
    EXPECT_THAT(ProblemOf(scenario, {EndedWith(Lost(1)), Killed(), slow}), HasSubstr("node 2 ended 1 ms too late"));
    slow.ended = ended;
    EXPECT_EQ(ProblemOf(scenario, {EndedWith(ended), Killed(), slow}), "");
  }
}

TEST(Verdict, AStalledNodeMayEndLaterWhateverEndsTheOthers) {
  Scenario scenario = Killing();
  scenario.fault = static_cast<std::int64_t>(FaultKind::kLongStall);
  scenario.second_fault = static_cast<std::int64_t>(FaultKind::kSinkFails);
  scenario.second_victim = 2;
  const absl::Status failed = absl::InternalError("node 2 ended the run: simulated: sink-fails");
  NodeFacts stalled = EndedWith(failed);
  stalled.ended_ns += 2'000'000'000 + 4 * kPeerTimeoutNs;
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(failed), stalled, EndedWith(failed)}), "");
  EXPECT_THAT(ProblemOf(scenario, {stalled, EndedWith(failed), EndedWith(failed)}),
              HasSubstr("node 0 ended 2000 ms too late"));
}

TEST(Verdict, NobodyPublishesWhatOthersHaveTakenBack) {
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(Lost(1), {"a"}), Killed(), EndedWith(Lost(1))}),
              HasSubstr("node 0 failed, and left 1 parts published"));
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(absl::OkStatus(), {"a"}), Killed(), EndedWith(Lost(1))}),
              HasSubstr("node 0 ended well, node 2 failed"));
}

TEST(Verdict, WhoGivesResultsUpLeavesNonePublished) {
  Scenario scenario = Killing();
  scenario.fault = static_cast<std::int64_t>(FaultKind::kEndsAtOnce);
  const absl::Status told = absl::InternalError("node 1 ended the run: simulated: ends-at-once");
  NodeFacts gone = Killed();
  gone.gave_up = true;
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(told), gone, EndedWith(told)}), "");
  gone.parts = 1;
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(told), gone, EndedWith(told)}),
              HasSubstr("node 1 gave its results up, and left 1 parts published"));
}

TEST(Verdict, ARunThatEndsWellDespiteAFaultIsWhole) {
  EXPECT_THAT(ProblemOf(Killing(), {EndedWith(absl::OkStatus(), {"a"}), Killed(), EndedWith(absl::OkStatus())}),
              HasSubstr("missing 1, first: b"));
}

TEST(Verdict, AfterTwoFaultsAnErrorNamesEither) {
  Scenario scenario = Killing();
  scenario.second_fault = static_cast<std::int64_t>(FaultKind::kSinkFails);
  scenario.second_victim = 2;
  const absl::Status failed = absl::InternalError("node 2 ended the run: simulated: sink-fails");
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(failed), Killed(), EndedWith(Lost(1))}), "");
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(absl::InternalError("node 2")), Killed(), EndedWith(Lost(1))}),
              HasSubstr("expected UNAVAILABLE; or node 0 ended with 'INTERNAL: node 2'"));
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(failed, {"a"}), Killed(), EndedWith(Lost(1))}),
              HasSubstr("node 0 failed, and left 1 parts published"));
}

TEST(Verdict, TwoHarmlessFaultsAreNoCause) {
  Scenario scenario = Killing();
  scenario.fault = static_cast<std::int64_t>(FaultKind::kShortStall);
  scenario.second_fault = static_cast<std::int64_t>(FaultKind::kShortPartition);
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(Lost(1)), EndedWith(absl::OkStatus()), EndedWith(absl::OkStatus())}),
              HasSubstr("node 0 failed without a cause"));
}

TEST(Verdict, AFaultOfFilesIsNamedWithItsFileAndItsNode) {
  Scenario scenario = Killing();
  scenario.nodes = 2;
  scenario.fault = static_cast<std::int64_t>(FaultKind::kInputCut);
  const absl::Status right = absl::FailedPreconditionError("node 1 ended the run: /f/in-0-003.txt: it was written to");
  const absl::Status other = absl::FailedPreconditionError("node 1 ended the run: cannot write /f/out-0.csv");
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(right), EndedWith(right)}), "");
  const absl::Status flag = absl::FailedPreconditionError("node 1: --join-output");
  for (const absl::Status& wrong : {other, flag}) {
    EXPECT_THAT(ProblemOf(scenario, {EndedWith(wrong), EndedWith(right)}), HasSubstr("expected the file and the node"));
  }
  scenario.fault = static_cast<std::int64_t>(FaultKind::kOutputFull);
  const absl::Status temporary = absl::FailedPreconditionError("node 1: /f/.out-0.csv.part-001-of-002.7-0.tmp: full");
  for (const absl::Status& named : {other, temporary}) {
    EXPECT_EQ(ProblemOf(scenario, {EndedWith(named), EndedWith(named)}), "");
  }
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(right), EndedWith(other)}), HasSubstr("expected the file and the node"));
}

TEST(Verdict, ARefusalNamesItsCauseAndItsNode) {
  Scenario scenario = Killing();
  scenario.fault = static_cast<std::int64_t>(FaultKind::kNoRings);
  const absl::Status right = absl::ResourceExhaustedError("node 1: simulated: no memory for rings");
  const absl::Status nameless = absl::ResourceExhaustedError("simulated: no memory for rings");
  EXPECT_EQ(ProblemOf(scenario, {EndedWith(right), EndedWith(nameless)}), "");
  EXPECT_THAT(ProblemOf(scenario, {EndedWith(nameless), EndedWith(nameless)}), HasSubstr("node 0 ended with"));
}

}  // namespace
}  // namespace glaive::sim
