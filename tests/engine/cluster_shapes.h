// OnEachShape: a fixture for tests of operators, which run on one executor, on two of one node, and on two and three
// nodes.
//
//   using FlatMaps = OnEachShape;
//   TEST_P(FlatMaps, ...) { Run(*From(TestSource(workload())).FlatMap(...).To(Collect(rows))); }
//   GLAIVE_ON_EACH_SHAPE(FlatMaps);
#pragma once

#include <cstdint>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "tests/engine/cluster_harness.h"

namespace glaive::engine {

/// Its parameter: the numbers of nodes, and of executors of each.
class OnEachShape : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {
 protected:
  virtual Workload workload() const {
    return {.nodes = std::get<0>(GetParam()), .executors = std::get<1>(GetParam()), .records = 20'000};
  }
  std::uint32_t executors() const { return workload().executor_count(); }

  /// Runs a query that succeeds.
  ClusterOutcome Run(const Query& query) const {
    ClusterOutcome outcome;
    outcome.status = RunNodes(workload(), query, outcome.metrics);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome;
  }

  /// Calls `use(record)` with all records of TestSource(workload()), an executor's after those of another.
  template <typename UseFn>
  void ForEachTestRecord(const UseFn& use) const {
    for (std::uint32_t executor = 0; executor < executors(); ++executor) {
      for (std::uint64_t number = 0; number < workload().records; ++number) {
        use(MakeRecord(workload(), executor, number));
      }
    }
  }
};

}  // namespace glaive::engine

/// Instantiates the tests of a fixture that is OnEachShape, or derived from it.
#define GLAIVE_ON_EACH_SHAPE(fixture)                                                                             \
  INSTANTIATE_TEST_SUITE_P(                                                                                       \
      Shapes, fixture, ::testing::Values(std::tuple(1, 1), std::tuple(1, 2), std::tuple(2, 1), std::tuple(3, 1)), \
      [](const auto& shape) { return absl::StrCat(std::get<0>(shape.param), "x", std::get<1>(shape.param)); })
