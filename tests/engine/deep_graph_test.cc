// Graphs with many operators in a row: as deep as a fiber's stack allows they run, and deeper ones are refused.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/graph/graph_query.h"
#include "engine/sink/collect.h"
#include "engine/sink/sink.h"
#include "tests/engine/cluster_shapes.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

using DeepGraphs = OnEachShape;
using Rows = std::vector<std::vector<std::uint64_t>>;

bool IsSmall(std::uint64_t number) { return number < 2; }
bool IsLarge(std::uint64_t number) { return number >= 2; }
bool IsAny(std::uint64_t /*number*/) { return true; }

/// Drops rows, and is ready one time in three: so its producer's other consumers get turns in the depth of a call.
struct HesitantSink {
  template <typename Row>
  class Hesitant final : public Sink<Row> {
   public:
    bool Ready() override { return ++asked_ % 3 == 0; }
    absl::Status Write(std::span<const Row> /*rows*/) override { return absl::OkStatus(); }
    bool WantsToPublish(std::int64_t /*now_ns*/) const override { return true; }

   private:
    std::uint64_t asked_ = 0;
  };
  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<Hesitant<Row>>();
    };
  }
};

/// The numbers 0, 1 and 2 behind so many operators, flat maps and unions by turns. Some unions have another consumer.
std::unique_ptr<GraphQuery> InARow(int operators, Rows& rows) {
  const auto none = Union(FromRange(0, 0), FromRange(0, 0));  // two operators
  auto stream = Union(FromRange(0, 3), FromRange(0, 0));
  std::vector<std::unique_ptr<GraphQuery>> queries;
  for (int i = 2; i < operators; i += 2) {
    if (i % 12 == 2) queries.push_back(Stream(stream).To(HesitantSink{}));
    stream = Union(Stream(stream).Filter(&IsAny), none);
  }
  queries.push_back(std::move(stream).To(Collect(rows)));
  std::vector<const GraphQuery*> all;
  for (const auto& query : queries) all.push_back(query.get());
  return GraphQuery::Unite(all);
}

/// The same numbers, split and united again so many times.
std::unique_ptr<GraphQuery> Split(int times, Rows& rows) {
  auto stream = Union(FromRange(0, 3), FromRange(0, 0));
  for (int i = 0; i < times; ++i) stream = Union(Stream(stream).Filter(&IsSmall), Stream(stream).Filter(&IsLarge));
  return std::move(stream).To(Collect(rows));
}

void ExpectEachNumberOnce(const Rows& rows) {
  std::map<std::uint64_t, int> counts;
  for (const auto& share : rows) {
    for (const std::uint64_t number : share) ++counts[number];
  }
  EXPECT_EQ(counts, (std::map<std::uint64_t, int>{{0, 1}, {1, 1}, {2, 1}}));
}

TEST_P(DeepGraphs, RunUpToTheBound) {
  Rows rows(executors());
  Run(*InARow(64, rows));
  ExpectEachNumberOnce(rows);
}

TEST_P(DeepGraphs, AreRefusedBeyondIt) {
  Rows rows(executors());
  std::vector<ExecutorMetrics> metrics;
  EXPECT_THAT(std::string(RunNodes(workload(), *InARow(66, rows), metrics).message()),
              HasSubstr("the query has more than 64 operators in a row"));
}

TEST_P(DeepGraphs, AreSplitUpToTheBound) {
  Rows rows(executors());
  Run(*Split(11, rows));
  ExpectEachNumberOnce(rows);
}

TEST_P(DeepGraphs, AreNotSplitBeyondIt) {
  Rows rows(executors());
  std::vector<ExecutorMetrics> metrics;
  EXPECT_THAT(std::string(RunNodes(workload(), *Split(12, rows), metrics).message()),
              HasSubstr("the query has more than 4096 ways from a source or a stage"));
}

GLAIVE_ON_EACH_SHAPE(DeepGraphs);

}  // namespace
}  // namespace glaive::engine
