// Coverage counts a query only if its rows were compared with the oracle's.

#include "tests/sim/coverage.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::sim {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> OfTheQuery() {
  return {"query 'counts'", "tumbling", "tumbling count", "tumbling inner join", "8 bytes", "one stage"};
}

std::vector<CatalogueEntry> OneQuery() {
  return {{.name = "counts",
           .window = "tumbling",
           .aggregates = {"count"},
           .join = "inner",
           .build = nullptr,
           .expect = nullptr}};
}

std::vector<std::string> MissingAfter(const Outcome& outcome) {
  const std::vector<CatalogueEntry> catalogue = OneQuery();
  Coverage coverage(catalogue);
  coverage.Add(Scenario{}, outcome);
  return coverage.Missing();
}

TEST(CoverageTest, ARunWithRowsMeetsItsQuery) {
  Outcome outcome;
  outcome.rows = outcome.late_rows = 1;
  const std::vector<std::string> missing = MissingAfter(outcome);
  for (const std::string& each : OfTheQuery()) EXPECT_THAT(missing, Not(Contains(each)));
  EXPECT_THAT(missing, Not(Contains("late records")));
  EXPECT_THAT(missing, Contains("sliding"));
}

TEST(CoverageTest, ARunThatFailsMeetsNothingOfItsQuery) {
  Outcome outcome;
  outcome.has_failed = true;
  outcome.rows = outcome.late_rows = 1;  // the oracle's
  EXPECT_THAT(MissingAfter(outcome), IsSupersetOf(OfTheQuery()));
  EXPECT_THAT(MissingAfter(outcome), Contains("late records"));
}

TEST(CoverageTest, ARunWithoutRowsMeetsNothingOfItsQuery) {
  EXPECT_THAT(MissingAfter(Outcome{}), IsSupersetOf(OfTheQuery()));
}

}  // namespace
}  // namespace glaive::sim
