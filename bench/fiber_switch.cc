// Fiber switches: what giving up a turn costs, for one fiber and for many, and what a parked fiber costs a round.
//
//   fiber_switch --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "bench/common/benchmark_main.h"
#include "bench/common/or_die.h"
#include "engine/fiber/scheduler.h"

namespace glaive::engine {
namespace {

void SpawnOrDie(Scheduler& scheduler, std::string name, std::function<void(Fiber&)> body) {
  bench::OrDie(scheduler.Spawn(std::move(name), FiberKind::kCompute, std::move(body)));
}

// The time of one of `count` that every iteration has. In seconds: the library adds unit and prefix, "turn=16.9ns".
void ReportTime(benchmark::State& state, const char* name, int count) {
  state.counters[name] = benchmark::Counter(static_cast<double>(state.iterations()) * count,
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// One turn: into the fiber and back to the scheduler, that is two context switches and the scheduling between them.
void BM_Turn(benchmark::State& state) {
  const auto fibers = static_cast<int>(state.range(0));
  Scheduler scheduler({});
  for (int i = 0; i < fibers; ++i) {
    SpawnOrDie(scheduler, "yields", [](Fiber& fiber) {
      while (true) {
        fiber.Yield();
      }
    });
  }
  for (auto _ : state) {
    scheduler.RunRound();
  }
  ReportTime(state, "turn", fibers);
}
BENCHMARK(BM_Turn)->Arg(1)->Arg(2)->Arg(8)->Arg(32)->Arg(256);

// The same through WaitUntil with a predicate that is true.
void BM_ReadyWait(benchmark::State& state) {
  const auto fibers = static_cast<int>(state.range(0));
  Scheduler scheduler({});
  std::uint64_t arrived = 1;
  for (int i = 0; i < fibers; ++i) {
    SpawnOrDie(scheduler, "waits", [&arrived](Fiber& fiber) {
      while (true) {
        fiber.WaitUntil([&arrived] { return arrived != 0; });
      }
    });
  }
  for (auto _ : state) {
    scheduler.RunRound();
  }
  ReportTime(state, "turn", fibers);
}
BENCHMARK(BM_ReadyWait)->Arg(1)->Arg(8);

// A round over parked fibers none of which can run: the cost of an idle executor's round.
void BM_ParkedPoll(benchmark::State& state) {
  const auto fibers = static_cast<int>(state.range(0));
  Scheduler scheduler({});
  std::uint64_t arrived = 0;
  for (int i = 0; i < fibers; ++i) {
    SpawnOrDie(scheduler, "parked", [&arrived](Fiber& fiber) { fiber.WaitUntil([&arrived] { return arrived != 0; }); });
  }
  scheduler.RunRound();
  for (auto _ : state) {
    benchmark::DoNotOptimize(scheduler.RunRound());
  }
  ReportTime(state, "poll", fibers);
}
BENCHMARK(BM_ParkedPoll)->Arg(1)->Arg(8)->Arg(32);

}  // namespace
}  // namespace glaive::engine

int main(int argc, char** argv) { return glaive::bench::BenchmarkMain(argc, argv); }
