// Loops against sequential ones: replayed and fed-back records, states, exchanges and windows in their bodies, loops in
// loops.

#include "engine/api/loop.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/api/join.h"
#include "engine/api/together.h"
#include "engine/api/union.h"
#include "engine/sink/collect.h"
#include "engine/steps/aggregates.h"
#include "engine/steps/fold.h"
#include "tests/engine/cluster_shapes.h"
#include "tests/engine/text_words.h"
#include "tests/state/same_elements.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;

using LoopNumbers = std::vector<std::uint64_t>;

/// All that executors have collected.
LoopNumbers AllOf(const std::vector<LoopNumbers>& shares) {
  LoopNumbers all;
  for (const LoopNumbers& share : shares) all.insert(all.end(), share.begin(), share.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// Means of numbers on a line.
struct Means {
  std::array<std::uint64_t, 3> at{};
  std::uint64_t iterations = 0;

  std::size_t NearestTo(std::uint64_t number) const {
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < at.size(); ++i) {
      const auto distance = [&](std::size_t mean) { return number > at[mean] ? number - at[mean] : at[mean] - number; };
      nearest = distance(i) < distance(nearest) ? i : nearest;
    }
    return nearest;
  }

  friend bool operator==(const Means&, const Means&) = default;
};
struct MeanSums {
  std::array<std::uint64_t, 3> sums{};
  std::array<std::uint64_t, 3> counts{};

  friend bool operator==(const MeanSums&, const MeanSums&) = default;
};
struct NumberOfMean {
  std::uint64_t mean;
  std::uint64_t number;
};

void AddNumber(MeanSums& sums, const NumberOfMean& of_mean) {
  sums.sums[of_mean.mean] += of_mean.number;
  ++sums.counts[of_mean.mean];
}
void AddSums(MeanSums& sums, const MeanSums& others) {
  for (std::size_t i = 0; i < sums.sums.size(); ++i) {
    sums.sums[i] += others.sums[i];
    sums.counts[i] += others.counts[i];
  }
}
/// Whether they have moved.
bool MoveMeans(Means& means, const MeanSums& sums) {
  const Means before = means;
  for (std::size_t i = 0; i < means.at.size(); ++i) {
    if (sums.counts[i] > 0) means.at[i] = sums.sums[i] / sums.counts[i];
  }
  const bool moved = !(means == before);
  ++means.iterations;
  return moved;
}

std::uint64_t Scattered(std::uint64_t number) { return number * number % 10'007; }
constexpr Means kFirstMeans{.at = {1, 2, 3}};
constexpr std::uint64_t kLoopNumbers = 3'000;

class Loops : public OnEachShape {};

TEST_P(Loops, ReplayedRecordsAreTheSameInEachIteration) {
  std::vector<std::vector<Means>> shares(executors());
  const ClusterOutcome outcome =
      Run(*Replay(
               FromRange(0, kLoopNumbers).Map(&Scattered), {}, kFirstMeans,
               [](auto numbers, const LoopState<Means>& means) {
                 return means.Map(std::move(numbers), [](std::uint64_t number, const Means& now) {
                   return NumberOfMean{.mean = now.NearestTo(number), .number = number};
                 });
               },
               FoldAssoc(
                   MeanSums{}, [](MeanSums& sums, const NumberOfMean& number) { AddNumber(sums, number); },
                   [](MeanSums& sums, const MeanSums& others) { AddSums(sums, others); }),
               &MoveMeans)
               .To(Collect(shares)));
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::records_accepted), kLoopNumbers);
  Means expected = kFirstMeans;
  bool moves = true;
  while (moves) {
    MeanSums sums;
    for (std::uint64_t i = 0; i < kLoopNumbers; ++i) {
      AddNumber(sums, {.mean = expected.NearestTo(Scattered(i)), .number = Scattered(i)});
    }
    moves = MoveMeans(expected, sums);
  }
  EXPECT_GT(expected.iterations, 5U) << "or this tests little";
  EXPECT_THAT(shares[0], ElementsAre(expected));
  for (std::uint32_t i = 1; i < executors(); ++i) EXPECT_TRUE(shares[i].empty()) << "the state is there once";
}

std::uint64_t NextOfCollatz(std::uint64_t number) { return number % 2 == 0 ? number / 2 : 3 * number + 1; }

TEST_P(Loops, FedBackRecordsAreThoseOfTheNextIteration) {
  for (const std::uint64_t most_iterations : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1'000}}) {
    std::vector<LoopNumbers> states(executors());
    std::vector<LoopNumbers> last(executors());
    auto [state, records] = Iterate(
        FromRange(1, 500), {.most_iterations = most_iterations}, std::uint64_t{0},
        [](auto numbers, const LoopState<std::uint64_t>&) {
          return std::move(numbers).Map(&NextOfCollatz).Filter([](std::uint64_t number) { return number > 1; });
        },
        Count{},
        [](std::uint64_t& steps, std::uint64_t left) {
          steps += left;
          return left > 0;
        });
    Run(*Together(std::move(state).To(Collect(states)), std::move(records).To(Collect(last))));
    LoopNumbers expected;
    for (std::uint64_t i = 1; i < 500; ++i) expected.push_back(i);
    std::uint64_t steps = 0;
    for (std::uint64_t iteration = 0; iteration < most_iterations && !expected.empty(); ++iteration) {
      LoopNumbers next;
      for (const std::uint64_t number : expected) {
        if (NextOfCollatz(number) > 1) next.push_back(NextOfCollatz(number));
      }
      steps += next.size();
      expected = std::move(next);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(AllOf(last), expected);
    EXPECT_THAT(states[0], ElementsAre(steps));
  }
}

/// A vertex of a graph, its neighbour, and the least vertex that it knows to be connected with.
struct Reached {
  std::uint64_t vertex;
  std::uint64_t least;

  friend bool operator==(const Reached&, const Reached&) = default;
};

TEST_P(Loops, BodiesMoveRecordsAndHaveWindowsOfEachIteration) {
  constexpr std::uint64_t kVertices = 400;
  // Rings of 20 vertices each: a vertex tells the next one of the least that it knows.
  const auto next = [](std::uint64_t vertex) { return vertex % 20 == 19 ? vertex - 19 : vertex + 1; };
  std::vector<std::vector<Reached>> shares(executors());
  auto [iterations, reached] = Iterate(
      FromRange(0, kVertices).Map([](std::uint64_t vertex) { return Reached{.vertex = vertex, .least = vertex}; }), {},
      std::array<std::uint64_t, 2>{},
      [next](auto vertices, const LoopState<std::array<std::uint64_t, 2>>&) {
        return std::move(vertices)
            .FlatMap([next](const Reached& at) {
              return std::array{at, Reached{.vertex = next(at.vertex), .least = at.least}};
            })
            .Shuffle()
            .KeyBy(&Reached::vertex)
            .Window(EachIteration())
            .Aggregate(Min{&Reached::least})
            .Map([](const auto& row) { return Reached{.vertex = row.key, .least = row.value}; });
      },
      Sum{&Reached::least},
      [](std::array<std::uint64_t, 2>& state, const auto& sum) {
        const bool goes_on = state[0] == 0 || sum != state[1];
        state = {state[0] + 1, static_cast<std::uint64_t>(sum)};
        return goes_on;
      });
  std::vector<std::vector<std::array<std::uint64_t, 2>>> states(executors());
  Run(*Together(std::move(iterations).To(Collect(states)), std::move(reached).To(Collect(shares))));
  ASSERT_EQ(states[0].size(), 1U);
  EXPECT_EQ(states[0][0][0], 20U) << "19 steps around a ring, and one that changes nothing";
  std::map<std::uint64_t, std::uint64_t> least;
  for (const auto& share : shares) {
    for (const Reached& at : share) EXPECT_TRUE(least.emplace(at.vertex, at.least).second);
  }
  EXPECT_EQ(least.size(), kVertices);
  for (const auto& [vertex, its] : least) EXPECT_EQ(its, vertex / 20 * 20);
}

/// The inner loop runs three times in each of the four iterations of the outer one.
TEST_P(Loops, AnInnerLoopRunsToItsEndInEachIterationOfTheOuterOne) {
  std::vector<LoopNumbers> shares(executors());
  Run(*Replay(
           FromRange(0, 10), {.most_iterations = 4}, std::uint64_t{0},
           [](auto numbers, const LoopState<std::uint64_t>& outer) {
             auto inner = Replay(
                 std::move(numbers), {.most_iterations = 3}, std::uint64_t{0},
                 [](auto same, const LoopState<std::uint64_t>& state) {
                   return state.Map(std::move(same),
                                    [](std::uint64_t number, std::uint64_t so_far) { return number + so_far; });
                 },
                 Sum{[](std::uint64_t number) { return number; }},
                 [](std::uint64_t& state, const auto& sum) {
                   state = static_cast<std::uint64_t>(sum % 1'000);
                   return true;
                 });
             return outer.Map(std::move(inner),
                              [](std::uint64_t number, std::uint64_t so_far) { return number + 2 * so_far; });
           },
           Sum{[](std::uint64_t number) { return number; }},
           [](std::uint64_t& state, const auto& sum) {
             state = static_cast<std::uint64_t>(sum);
             return true;
           })
           .To(Collect(shares)));
  std::uint64_t inner = 0;
  for (int iteration = 0; iteration < 3; ++iteration) inner = (45 + 10 * inner) % 1'000;
  std::uint64_t outer = 0;
  for (int iteration = 0; iteration < 4; ++iteration) outer = inner + 2 * outer;
  EXPECT_THAT(shares[0], ElementsAre(outer));
}

/// A number, and the state that a step in front of an exchange has read.
struct Stamped {
  std::uint64_t number;
  std::uint64_t state;
};

/// An executor may get records of an iteration before the decision that began it.
TEST_P(Loops, StepsBehindAnExchangeReadTheStateOfTheirIteration) {
  constexpr std::uint64_t kIterations = 20;
  std::vector<LoopNumbers> shares(executors());
  Run(*Replay(
           FromRange(0, kLoopNumbers), {.most_iterations = kIterations}, std::uint64_t{1},
           [](auto numbers, const LoopState<std::uint64_t>& state) {
             auto stamped = state
                                .FlatMap(std::move(numbers),
                                         [](std::uint64_t number, std::uint64_t now) {
                                           return std::array{Stamped{.number = number, .state = now}};
                                         })
                                .Shuffle();
             return state.Filter(std::move(stamped),
                                 [](const Stamped& record, std::uint64_t now) { return record.state == now; });
           },
           Count{},
           [](std::uint64_t& state, std::uint64_t count) {
             state = state * 7 + count;
             return true;
           })
           .To(Collect(shares)));
  std::uint64_t expected = 1;
  for (std::uint64_t i = 0; i < kIterations; ++i) expected = expected * 7 + kLoopNumbers;
  EXPECT_THAT(shares[0], ElementsAre(expected));
}

TEST_P(Loops, IterationsWithoutRecordsHaveTheAggregateOfNone) {
  for (const std::uint64_t end : {std::uint64_t{0}, std::uint64_t{1'000}}) {
    std::vector<LoopNumbers> shares(executors());
    Run(*Replay(
             FromRange(0, end), {.most_iterations = 5}, std::uint64_t{0},
             [](auto numbers, const LoopState<std::uint64_t>& iterations) {
               return iterations.Filter(std::move(numbers),
                                        [](std::uint64_t, std::uint64_t iteration) { return iteration % 2 == 1; });
             },
             Count{},
             [](std::uint64_t& iteration, std::uint64_t count) {
               iteration += 1 + 100 * count;
               return true;
             })
             .To(Collect(shares)));
    // Iterations 1, 3 and 5 have none; what follows an iteration with records is even, too.
    std::uint64_t expected = 0;
    for (int iteration = 0; iteration < 5; ++iteration) expected += 1 + 100 * (expected % 2 == 1 ? end : 0);
    EXPECT_THAT(shares[0], ElementsAre(expected));
  }
}

TEST_P(Loops, StoreTheTextsOfTheirRecords) {
  CollectedTexts texts(executors());
  std::vector<std::vector<Word>> shares(executors());
  auto [state, words] = Iterate(
      Words(workload()), {.most_iterations = 3}, std::uint64_t{0},
      [](auto some, const LoopState<std::uint64_t>&) {
        return std::move(some).Filter([](const Word& word) { return word.time_ms % 3 != 0; }).Shuffle();
      },
      Count{}, [](std::uint64_t& count, std::uint64_t now) { return (count = now) > 0; });
  static_cast<void>(state);
  Run(*std::move(words).To(Collect(shares, texts)));
  std::multiset<std::string> found;
  std::multiset<std::string> expected;
  for (const auto& share : shares) {
    for (const Word& word : share) found.emplace(word.text.view());
  }
  for (const Word& word : AllWords(workload())) {
    if (word.time_ms % 3 != 0) expected.emplace(word.text.view());
  }
  EXPECT_GT(expected.size(), 100U) << "or this tests little";
  EXPECT_TRUE(SameElements(found, expected));
}

std::uint64_t SumOfKeys(const std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>>& shares) {
  std::uint64_t sum = 0;
  for (const auto& share : shares) {
    for (const auto& row : share) sum += row.key * row.value;
  }
  return sum;
}

/// A loop behind a stage and an exchange, in front of another loop, with loops that iterate and a join in its body.
TEST_P(Loops, StandBehindStagesAndExchangesAndEachOther) {
  const auto identity = [](std::uint64_t number) { return number; };
  const auto iterated = [](auto numbers) {
    return Iterate(
               std::move(numbers), {.most_iterations = 2}, std::uint64_t{0},
               [](auto some, const LoopState<std::uint64_t>&) {
                 return std::move(some).Map([](std::uint64_t number) { return number + 1; }).Shuffle();
               },
               Count{}, [](std::uint64_t&, std::uint64_t) { return true; })
        .records;
  };
  std::vector<LoopNumbers> shares(executors());
  auto counted = FromRange(0, 1'000)
                     .KeyBy([](std::uint64_t number) { return number % 100; })
                     .Aggregate(Count{})
                     .Map([](const auto& row) { return row.key; })
                     .Shuffle();
  auto twice = Iterate(
                   iterated(std::move(counted)), {.most_iterations = 3}, std::uint64_t{0},
                   [&](auto numbers, const LoopState<std::uint64_t>&) {
                     auto inner = iterated(Stream(numbers));
                     return Join(std::move(inner), std::move(numbers))
                         .On(identity, identity)
                         .Window(EachIteration())
                         .Keep(identity, identity)
                         .Map([](const auto& row) { return row.key; });
                   },
                   Count{}, [](std::uint64_t&, std::uint64_t) { return true; })
                   .records;
  Run(*std::move(twice).To(Collect(shares)));
  // 0 to 99 become 2 to 101. Of these, each iteration of the outer loop leaves those with a number two less among them.
  LoopNumbers expected;
  for (std::uint64_t number = 2 + 3 * 2; number <= 101; ++number) expected.push_back(number);
  EXPECT_EQ(AllOf(shares), expected);
}

/// The source is far beyond the lead that it may have before the loop has results.
TEST_P(Loops, ResultsMeetTheInputOfTheirLoop) {
  Workload workload = this->workload();
  workload.max_lead_ms = 100;
  std::vector<std::vector<WindowResult<std::uint64_t, std::uint64_t>>> shares(executors());
  const auto stream = From(TestSource(workload));
  auto last = Iterate(
                  Stream(stream), {.most_iterations = 2}, std::uint64_t{0},
                  [](auto records, const LoopState<std::uint64_t>&) {
                    return std::move(records).Filter([](const TestRecord& record) { return record.kind == 0; });
                  },
                  Count{}, [](std::uint64_t&, std::uint64_t) { return true; })
                  .records;
  ClusterOutcome outcome;
  outcome.status = RunNodes(workload,
                            *Union(Stream(stream), std::move(last))
                                 .KeyBy(&TestRecord::key)
                                 .Window(Tumbling{absl::Seconds(1)})
                                 .Aggregate(Count{})
                                 .To(Collect(shares)),
                            outcome.metrics);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  std::uint64_t expected = 0;
  ForEachTestRecord([&](const TestRecord& record) { expected += record.key * (record.kind == 0 ? 2 : 1); });
  EXPECT_EQ(SumOfKeys(shares), expected);
  EXPECT_EQ(Total(outcome, &ExecutorMetrics::late_records), 0U);
}

GLAIVE_ON_EACH_SHAPE(Loops);

}  // namespace
}  // namespace glaive::engine
