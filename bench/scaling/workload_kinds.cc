#include "bench/scaling/workload_kinds.h"

#include <vector>

#include "bench/scaling/aggregations.h"
#include "bench/scaling/exchange.h"
#include "bench/scaling/joins.h"
#include "bench/scaling/wordcount.h"

namespace glaive::bench {

std::vector<WorkloadKind> WorkloadKinds() {
  // Of `swa`, which takes two nanoseconds a record, more repetitions, so that a run is long enough to be measured. `cm`
  // over a million jobs sees each of them 15 times a window; each window of nb8 joins all records in memory.
  constexpr double kGainOfAggregations = 2;  // over UpPar
  constexpr WantedFigures kFewKeys{.share_of_gain = 0.9, .processor_time = 1.15};
  constexpr WantedFigures kPartitioned{
      .share_of_gain = 0.9, .processor_time = 1.15, .gain_over_uppar = kGainOfAggregations};
  constexpr WantedFigures kManyKeys{.share_of_gain = 0.85, .processor_time = 1.15};
  constexpr WantedFigures kKeysThatHardlyRecur{.share_of_gain = 0.85};
  return {{.name = "ysb",
           .wanted = {.share_of_gain = 0.85, .gain_over_uppar = kGainOfAggregations},
           .input = {.keys = 10'000'000},
           .make = MakeYsb,
           .has_uppar = true},
          {.name = "ysb-200k", .wanted = kManyKeys, .input = {.keys = 200'000}, .make = MakeYsb},
          {.name = "ysb-yahoo", .wanted = kFewKeys, .input = {.keys = 1'000}, .make = MakeYsbYahoo, .has_uppar = true},
          {.name = "ysb_star", .wanted = kFewKeys, .input = {.keys = 1'000}, .make = MakeYsbStar},
          {.name = "nb7",
           .wanted = kPartitioned,
           .input = {.keys = 1'000'000, .key_distribution = "zipf:1.16"},
           .make = MakeNb7,
           .has_uppar = true},
          {.name = "nb7-pareto",
           .wanted = kFewKeys,
           .input = {.keys = 1'000'000, .key_distribution = "pareto:1.16"},
           .make = MakeNb7},
          {.name = "cm", .wanted = kPartitioned, .input = {.keys = 10'000}, .make = MakeCm, .has_uppar = true},
          {.name = "cm-1m", .wanted = kManyKeys, .input = {.windows = 1, .keys = 1'000'000}, .make = MakeCm},
          {.name = "cm1", .wanted = kManyKeys, .input = {.keys = 10'000}, .make = MakeCm1},
          {.name = "swa", .wanted = kFewKeys, .input = {.repetitions = 60, .keys = 1'000}, .make = MakeSwa},
          {.name = "swa-session", .wanted = kManyKeys, .input = {.keys = 1'000}, .make = MakeSwaSession},
          {.name = "ro",
           .wanted = kKeysThatHardlyRecur,
           .input = {.repetitions = 1, .keys = 100'000'000},
           .make = MakeRo,
           .has_uppar = true},
          {.name = "nb8",
           .wanted = {.share_of_gain = 0.85, .processor_time = 1.15, .gain_over_uppar = 1.3},
           .input = {.windows = 1, .repetitions = 12, .keys = 5'000'000},
           .make = MakeNb8,
           .has_uppar = true},
          {.name = "nb11",
           .wanted = {.share_of_gain = 0.85, .processor_time = 1.15, .gain_over_uppar = 1.1},
           .input = {.records = 5'000'000, .keys = 1'000'000},
           .make = MakeNb11,
           .has_uppar = true},
          {.name = "interval-join",
           .wanted = {.share_of_loop = 0.7},
           .input = {.records = 2'000'000, .keys = 100'000},
           .make = MakeIntervalJoin},
          {.name = "count-windows",
           .wanted = {.share_of_loop = 0.7},
           .input = {.records = 2'000'000, .keys = 100'000},
           .make = MakeCountWindows},
          {.name = "wordcount",
           .wanted = {.share_of_loop = 1, .gain_of_two = 1.7, .share_of_unmoved = 0.5},
           .input = {.records = 2'000'000, .keys = 100'000, .key_distribution = "zipf:1"},
           .make = MakeWordcount},
          {.name = "wordcount-cells",
           .wanted = {.gain_of_two = 1.7, .share_of_unmoved = 0.5},
           .input = {.records = 2'000'000, .keys = 100'000, .key_distribution = "zipf:1"},
           .make = MakeWordcountBesideCells},
          {.name = "exchange",
           .wanted = {.share_of_threads = 0.6},
           .input = {.keys = 1'000'000},
           .make = MakeExchange,
           .is_exchange = true}};
}

absl::StatusOr<Workload> MakeWorkload(const WorkloadKind& kind, const InputSize& size) {
  absl::StatusOr<Workload> workload = kind.make(size);
  if (workload.ok()) {
    workload->name = kind.name;
    workload->wanted = kind.wanted;
  }
  return workload;
}

}  // namespace glaive::bench
