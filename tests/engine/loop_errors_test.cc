// Loops that end with an error: bodies and states that do not fit, and too little memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/interval_join.h"
#include "engine/api/join.h"
#include "engine/api/loop.h"
#include "engine/api/union.h"
#include "engine/api/zip.h"
#include "engine/sink/discard.h"
#include "tests/engine/cluster_harness.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

/// The status of a run of one executor.
absl::Status StatusOf(const Query& query) {
  ClusterOutcome outcome;
  return RunNodes(Workload{}, query, outcome.metrics);
}

bool OneMore(std::uint64_t& iterations, std::uint64_t /*count*/) { return ++iterations < 3; }

TEST(Loop, StreamsFromOutsideAreRefusedInABody) {
  const auto outside = FromRange(0, 9);
  const auto query =
      Replay(
          FromRange(0, 9), {}, std::uint64_t{0},
          [outside](auto numbers, const LoopState<std::uint64_t>&) {
            return Union(std::move(numbers), Stream(outside).WithEventTime([](std::uint64_t) { return 0; }));
          },
          Count{}, &OneMore)
          .To(Discard{});
  EXPECT_THAT(StatusOf(*query).ToString(), HasSubstr("one from outside of it"));
}

/// The error of a loop with a body.
template <typename Body>
std::string ErrorOfBody(const Body& body) {
  return StatusOf(*Replay(FromRange(0, 9), {}, std::uint64_t{0}, body, Count{}, &OneMore).To(Discard{})).ToString();
}

TEST(Loop, StepsThatSpanIterationsAreRefusedInABody) {
  using State = LoopState<std::uint64_t>;
  const auto time = [](std::uint64_t number) { return static_cast<std::int64_t>(70 + number); };
  const auto key = [](std::uint64_t number) { return number; };
  EXPECT_THAT(ErrorOfBody([=](auto numbers, const State&) { return std::move(numbers).WithEventTime(time); }),
              HasSubstr("WithEventTime() changes them"));
  EXPECT_THAT(
      ErrorOfBody([=](auto numbers, const State&) {
        return std::move(numbers).KeyBy(key).Fold(std::uint64_t{0}, std::plus<>()).WithEventTime([](const auto&) {
          return 0;
        });
      }),
      HasSubstr("Fold() and Reduce()"));
  EXPECT_THAT(ErrorOfBody([=](auto numbers, const State&) {
                return std::move(numbers).KeyBy(key).Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{});
              }),
              HasSubstr("a window that is not EachIteration()"));
  EXPECT_THAT(ErrorOfBody([=](auto numbers, const State&) {
                return std::move(numbers).KeyBy(key).Window(CountWindow{2, 2}).Aggregate(Count{});
              }),
              HasSubstr("by the order of records"));
  EXPECT_THAT(ErrorOfBody([=](const auto& numbers, const State&) { return Zip(Stream(numbers), Stream(numbers)); }),
              HasSubstr("Zip()"));
  EXPECT_THAT(ErrorOfBody([=](const auto& numbers, const State&) {
                return Join(Stream(numbers), Stream(numbers))
                    .Within(absl::ZeroDuration(), absl::Milliseconds(1))
                    .Map([](const auto& row) { return std::get<0>(row.value); });
              }),
              HasSubstr("Within()"));
}

TEST(Loop, ABodyMakesItsStreamOfTheOneThatItIsGiven) {
  const auto outside = FromRange(0, 9).WithEventTime([](std::uint64_t) { return 0; });
  EXPECT_THAT(ErrorOfBody([outside](const auto&, const LoopState<std::uint64_t>&) { return Stream(outside); }),
              HasSubstr("not made of the one that it is given"));
}

TEST(Loop, AStateIsReadInItsBodyAlone) {
  std::optional<LoopState<std::uint64_t>> leaked;
  const auto first = Replay(
                         FromRange(0, 9), {}, std::uint64_t{0},
                         [&](auto numbers, const LoopState<std::uint64_t>& state) {
                           leaked = state;
                           return numbers;
                         },
                         Count{}, &OneMore)
                         .To(Discard{});
  const auto second = leaked->Filter(FromRange(0, 9), [](std::uint64_t, std::uint64_t) { return true; }).To(Discard{});
  EXPECT_THAT(StatusOf(*second).ToString(), HasSubstr("outside of the loop's body"));
}

TEST(Loop, ABodyWithoutResultsIsRefused) {
  std::unique_ptr<GraphQuery> side;
  const auto loop = Replay(
                        FromRange(0, 9), {}, std::uint64_t{0},
                        [&](auto numbers, const LoopState<std::uint64_t>&) {
                          side = Stream(numbers).To(Discard{});
                          return numbers;
                        },
                        Count{}, &OneMore)
                        .To(Discard{});
  EXPECT_THAT(StatusOf(*side).ToString(), HasSubstr("no result of the loop"));
  EXPECT_TRUE(StatusOf(*loop).ok());
}

TEST(Loop, AStateBeyondItsBudgetEndsTheRunWithItsSize) {
  Workload workload{.state_limit_bytes = 4 << 20};
  const auto query = Replay(
                         FromRange(0, 1'000'000), {}, std::uint64_t{0},
                         [](auto numbers, const LoopState<std::uint64_t>&) { return numbers; }, Count{}, &OneMore)
                         .To(Discard{});
  ClusterOutcome outcome;
  EXPECT_THAT(RunNodes(workload, *query, outcome.metrics).ToString(), HasSubstr("a loop stores "));
}

TEST(LoopDeathTest, NoIterationEndsTheProcess) {
  EXPECT_DEATH(static_cast<void>(Replay(
                   FromRange(0, 9), {.most_iterations = 0}, std::uint64_t{0},
                   [](auto numbers, const LoopState<std::uint64_t>&) { return numbers; }, Count{}, &OneMore)),
               "one iteration at least");
}

}  // namespace
}  // namespace glaive::engine
