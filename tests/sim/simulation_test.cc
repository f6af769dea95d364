// Simulations of fixed seeds, of seeds that once failed, and what scenarios and their shrinking do.

#include "tests/sim/simulation.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/catalogue.h"
#include "tests/sim/shrink.h"

namespace glaive::sim {
namespace {

using ::testing::HasSubstr;

Scenario Quiet(std::int64_t query) {
  Scenario scenario;
  scenario.seed = 5;
  scenario.query = query;
  scenario.nodes = 3;
  scenario.executors = 2;
  scenario.disorder_ms = 1'500;
  scenario.bound_ms = 200;
  return scenario;
}

/// Each query, on a quiet cluster with these settings.
void ExpectAllRight(std::string_view set) {
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  EXPECT_GE(catalogue.size(), 70U);
  for (std::size_t query = 0; query < catalogue.size(); ++query) {
    SCOPED_TRACE(catalogue[query].name);
    Scenario scenario = Quiet(static_cast<std::int64_t>(query));
    ASSERT_EQ(scenario.Set(set), absl::OkStatus());
    const Outcome outcome = Simulate(scenario, catalogue, nullptr);
    EXPECT_EQ(outcome.problem, "");
    EXPECT_FALSE(outcome.has_failed);
    EXPECT_GE(outcome.rows, catalogue[query].has_few_rows ? 1U : 10U) << "or this tests little";
  }
}

TEST(Catalogue, EveryQueryIsRightOnAQuietCluster) { ExpectAllRight(""); }

/// Each query reads and writes files as it reads and writes memory.
TEST(Catalogue, EveryQueryIsRightOverFiles) { ExpectAllRight("file-sources=1,file-sinks=1"); }

TEST(Catalogue, AnExpectationThatIsWrongIsNoticed) {
  std::vector<CatalogueEntry> catalogue = Catalogue();
  catalogue[0].expect = [right = catalogue[0].expect](const Input& input) {
    Expected expected = right(input);
    expected.rows.back() += '0';
    return expected;
  };
  EXPECT_THAT(Simulate(Quiet(0), catalogue, nullptr).problem, HasSubstr("missing 1"));
}

TEST(Simulation, AFlowThatSkipsInputForLongerThanTheIdleTimeoutIsNotIdle) {
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  for (std::size_t query = 0; query < catalogue.size(); ++query) {
    if (!catalogue[query].reads_flows) continue;
    Scenario scenario = Quiet(static_cast<std::int64_t>(query));
    ASSERT_EQ(scenario.Set("nodes=1,executors=1,records=40,skips=5,silent=1"), absl::OkStatus());
    const Outcome outcome = Simulate(scenario, catalogue, nullptr);
    EXPECT_EQ(outcome.problem, "") << catalogue[query].name;
    EXPECT_EQ(outcome.idle_periods, 0U) << catalogue[query].name;
    EXPECT_GT(outcome.virtual_ns, 2 * scenario.idle_timeout_ns()) << catalogue[query].name;
  }
}

/// What simulations have found; docs/testing.md says what each was. All that matters is set, so that what seeds draw
/// may change.
struct Regression {
  std::uint64_t seed;
  std::string_view query;
  std::string_view set;
};

class Regressions : public ::testing::TestWithParam<Regression> {};

TEST_P(Regressions, StayRight) {
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  Scenario scenario;
  scenario.seed = GetParam().seed;
  ASSERT_EQ(scenario.Set(GetParam().set), absl::OkStatus());
  const auto entry = std::ranges::find(catalogue, GetParam().query, &CatalogueEntry::name);
  ASSERT_NE(entry, catalogue.end());
  scenario.query = entry - catalogue.begin();
  const Outcome outcome = Simulate(scenario, catalogue, nullptr);
  EXPECT_EQ(outcome.problem, "");
  EXPECT_EQ(outcome.has_struck[0], scenario.fault != 0);
  EXPECT_EQ(outcome.has_struck[1], scenario.second_fault != 0);
  EXPECT_EQ(outcome.idle_periods > 0, scenario.silent == 1);
}

INSTANTIATE_TEST_SUITE_P(
    Found, Regressions,
    ::testing::Values(
        Regression{2, "sliding count",
                   "fault=5,nodes=2,executors=2,records=102,keys=1,batch=100,one-host=0,full-queue-percent=30,"
                   "free-signals=1,latency-us=1000,completion-us=5,piece-bytes=8,delivery-percent=30,slot-bytes=512,"
                   "credits=3,fragment-bytes=8192,epoch-bytes=1048576,epoch-min-bytes=10000,epoch-interval-us=1,"
                   "span-ms=40000,occurrence=3,step=7,other-victim=1"},
        Regression{80, "as-of min",
                   "fault=5,nodes=2,records=13,keys=1,disorder-ms=1,bound-ms=1,lateness-ms=1845,batch=37,"
                   "free-signals=1,jitter-us=3000,latency-us=1,completion-us=0,epoch-bytes=1048576,"
                   "epoch-min-bytes=10000,span-ms=40000,step=13,victim=1"},
        Regression{1344, "sliding, the slide no divisor, top",
                   "fault=3,nodes=3,executors=2,records=20,keys=2,batch=3,free-signals=1,jitter-us=3000,latency-us=5,"
                   "completion-us=100,piece-bytes=8,delivery-percent=5,step=2,victim=1"},
        Regression{2246, "a stream split, counted, and joined",
                   "executors=2,records=35,keys=1,silent=1,batch=5,free-signals=1,latency-us=0,jitter-us=0,"
                   "completion-us=0,piece-bytes=1048576"},
        Regression{4972, "sliding counts, the greatest of all keys",
                   "nodes=2,records=15,keys=2,silent=1,batch=1,free-signals=1,latency-us=0,jitter-us=0,"
                   "completion-us=0,piece-bytes=1048576,epoch-interval-us=1000"},
        Regression{1967176497, "session full join",
                   "fault=6,nodes=3,records=1,keys=1,batch=1,late-reads=1,free-signals=1,jitter-us=0,latency-us=0,"
                   "completion-us=0,piece-bytes=1048576,step=10,victim=2,other-victim=1"}),
    [](const auto& test) { return absl::StrCat("Seed", test.param.seed); });

TEST(Simulation, ASeedsRunIsTheSameEachTime) {
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Scenario scenario = DrawScenario(seed, catalogue);
    if (seed % 2 == 0) {
      ASSERT_EQ(scenario.Set("file-sources=1,file-sinks=1"), absl::OkStatus());
    }
    const Outcome first = Simulate(scenario, catalogue, nullptr);
    const Outcome second = Simulate(scenario, catalogue, nullptr);
    EXPECT_EQ(first.fingerprint, second.fingerprint) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps);
  }
}

TEST(ScenarioTest, SettingsOverrideWhatTheSeedDraws) {
  Scenario scenario = DrawScenario(1, Catalogue());
  const Scenario drawn = scenario;
  ASSERT_EQ(scenario.Set("nodes=4,records=7"), absl::OkStatus());
  EXPECT_EQ(scenario.nodes, 4);
  EXPECT_EQ(scenario.records, 7);
  EXPECT_EQ(scenario.DifferenceTo(drawn), "nodes=4,records=7");
  EXPECT_THAT(scenario.Set("knots=4").message(), HasSubstr("there is no 'knots'"));
  EXPECT_THAT(scenario.Set("nodes=0").message(), HasSubstr("nodes=<1 to 16>"));
  EXPECT_THAT(scenario.Set("nodes=many").message(), HasSubstr("nodes=<1 to 16>"));
}

TEST(Simulation, AFaultOfFilesEndsTheRun) {
  const std::vector<CatalogueEntry> catalogue = Catalogue();
  for (auto fault = static_cast<std::size_t>(FaultKind::kInputCut); fault < kFaultKinds; ++fault) {
    SCOPED_TRACE(kFaultNames[fault]);
    Scenario scenario = Quiet(0);
    ASSERT_EQ(scenario.Set(absl::StrCat("file-sources=1,file-sinks=1,victim=1,fault=", fault)), absl::OkStatus());
    const Outcome outcome = Simulate(scenario, catalogue, nullptr);
    EXPECT_EQ(outcome.problem, "");
    EXPECT_TRUE(outcome.has_struck[0]);
    EXPECT_TRUE(outcome.has_failed);
  }
}

TEST(ScenarioTest, ASecondFaultThatIsLeftAloneBecomesTheFirst) {
  Scenario scenario;
  ASSERT_EQ(scenario.Set("nodes=3,second-fault=3,second-step=7,second-occurrence=9,second-victim=2"), absl::OkStatus());
  EXPECT_EQ(scenario.DifferenceTo({}), "fault=3,nodes=3,occurrence=9,step=7,victim=2");
}

TEST(ScenarioTest, FaultsOfFilesNeedFiles) {
  Scenario scenario;
  ASSERT_EQ(scenario.Set("file-sources=1,fault=20,second-fault=17"), absl::OkStatus());
  EXPECT_EQ(scenario.faults()[0].kind, FaultKind::kInputCut);
  EXPECT_EQ(scenario.faults()[1].kind, FaultKind::kNone);
}

TEST(ShrinkTest, DropsTheSecondFault) {
  Scenario scenario = DrawScenario(3, Catalogue());
  ASSERT_EQ(scenario.Set("nodes=4,fault=3,victim=2,second-fault=4,second-victim=1"), absl::OkStatus());
  const Scenario smallest = Shrink(scenario, [](const Scenario& tried) { return tried.has_fault(FaultKind::kKill); });
  EXPECT_EQ(smallest.faults()[0].kind, FaultKind::kKill);
  EXPECT_EQ(smallest.faults()[1].kind, FaultKind::kNone);
}

TEST(ShrinkTest, FindsTheSmallestScenarioThatStillFails) {
  Scenario scenario = DrawScenario(3, Catalogue());
  ASSERT_EQ(scenario.Set("nodes=4,records=500,keys=300,fault=3,victim=2"), absl::OkStatus());
  const Scenario smallest =
      Shrink(scenario, [](const Scenario& tried) { return tried.nodes >= 2 && tried.records >= 100; });
  EXPECT_EQ(smallest.nodes, 2);
  EXPECT_GE(smallest.records, 100);
  EXPECT_LE(smallest.records, 110);
  EXPECT_EQ(smallest.keys, 1);
  EXPECT_EQ(smallest.fault, 0);
}

}  // namespace
}  // namespace glaive::sim
