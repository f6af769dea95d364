// A join of two generated inputs on a whole cluster in one process, and what --verify makes of its results: what
// query_cluster.h is for queries over one input.
//
//   const auto run = RunJoin<Auction, AuctionTime, Seller, SellerTime>(cluster, flags, window_ms, make_auctions,
//                                                                      make_sellers, build);
//   EXPECT_EQ(VerifyJoin(run, JoinOracle(...)), absl::OkStatus());
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "queries/common/generated_source.h"
#include "queries/common/input_sides.h"
#include "queries/common/join_oracle.h"
#include "queries/common/result_sinks.h"
#include "tests/engine/cluster_harness.h"
#include "tests/queries/query_cluster.h"

namespace glaive::queries {

/// A run: what was read, and what each leader emitted.
template <typename L, typename R>
struct JoinRun {
  engine::Workload cluster;
  std::shared_ptr<const Generator<L>> lefts;
  std::shared_ptr<const Generator<R>> rights;
  CheckedInput<L> left;
  CheckedInput<R> right;
  absl::Status status;
  std::vector<std::vector<ResultRow>> rows = {};  // by leader
  std::vector<engine::ExecutorMetrics> metrics = {};

  std::uint64_t Total(std::uint64_t engine::ExecutorMetrics::* counter) const {
    return std::accumulate(metrics.begin(), metrics.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, const auto& executor) { return sum + executor.*counter; });
  }
};

template <typename R, typename Time>
CheckedInput<R> CheckedSide(const InputSide& side, const Generator<R>& generator, std::uint32_t executor_count) {
  return {.generator = &generator,
          .event_time_ms = Time{},
          .record_counts = ReadRecords(side.flags, executor_count),
          .watermark_every = side.flags.watermark_every,
          .allowed_lateness_ms = side.flags.allowed_lateness_ms()};
}

/// Runs `build(lefts, rights, sinks)` on the cluster, over the input that `flags` describe. Only the shape of `cluster`
/// is used. `make_left` and `make_right` make the generators of InputOptions.
template <typename L, typename TimeL, typename R, typename TimeR, typename MakeL, typename MakeR, typename Build>
JoinRun<L, R> RunJoin(const engine::Workload& cluster, const InputFlags& flags, std::int64_t window_ms,
                      const MakeL& make_left, const MakeR& make_right, const Build& build) {
  const InputSides sides = MakeSides(flags, window_ms);
  const std::uint32_t executors = cluster.executor_count();
  const std::shared_ptr<const Generator<L>> lefts = make_left(sides.left.options);
  const std::shared_ptr<const Generator<R>> rights = make_right(sides.right.options);
  JoinRun<L, R> run{.cluster = cluster,
                    .lefts = lefts,
                    .rights = rights,
                    .left = CheckedSide<L, TimeL>(sides.left, *lefts, executors),
                    .right = CheckedSide<R, TimeR>(sides.right, *rights, executors),
                    .status = {}};
  const ResultSinks sinks({.output = "", .retain = true, .max_rows = UINT64_MAX}, executors);
  const auto query = build(GeneratedSource<L, TimeL>(lefts, sides.left.flags, sides.left.block),
                           GeneratedSource<R, TimeR>(rights, sides.right.flags, sides.right.block), sinks);
  run.status = engine::RunNodes(cluster, *query, run.metrics);
  run.rows = sinks.retained();
  return run;
}

/// What --verify does.
template <typename L, typename R, typename Oracle>
absl::Status VerifyJoin(const JoinRun<L, R>& run, const Oracle& oracle) {
  return VerifyNodes(run.cluster, run.rows, [&](const std::vector<ResultRow>& rows, const RowCheck::Leads& leads) {
    return oracle.Check(rows, leads);
  });
}

/// How many records of one side came when all of their windows had closed. Windows overlap or follow each other, or are
/// sessions.
template <typename R>
std::uint64_t CountLateRecords(const CheckedInput<R>& input, const CheckedWindows& windows) {
  std::uint64_t late = 0;
  for (std::uint32_t executor = 0; executor < input.record_counts.size(); ++executor) {
    for (FlowReader<R> flow(input, executor); !flow.done(); flow.Advance()) {
      const std::int64_t time_ms = flow.event_time_ms();
      const std::int64_t open_until_ms = windows.kind == CheckedWindows::Kind::kSession
                                             ? time_ms + 1
                                             : time_ms - time_ms % windows.slide_ms + windows.size_ms;
      late += open_until_ms <= flow.watermark_ms() ? 1 : 0;
    }
  }
  return late;
}

}  // namespace glaive::queries
