// An executor's idle round: what a round costs in which nothing has arrived, and how that depends on the number of
// peers.
//
// One executor runs; its peers have rings, and send nothing.
//
//   idle_round --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/common/benchmark_main.h"
#include "bench/common/or_die.h"
#include "engine/api/stream.h"
#include "engine/executor/executor.h"
#include "engine/sink/discard.h"
#include "engine/source/block_source.h"
#include "rdma/base/steady_clock.h"

namespace glaive::engine {
namespace {

using bench::OrDie;

struct Tick {
  std::uint64_t key;
  std::int64_t time_ms;
};

constexpr auto kTickTime = [](const Tick& tick) { return tick.time_ms; };

// Counts of one tick. Its window never fires, since the peers' clocks stand still.
std::unique_ptr<Query> OneTick() {
  const auto open = [](const SourceContext& context) {
    const auto generate = [](std::uint64_t, std::span<Tick> ticks) {
      for (Tick& tick : ticks) {
        tick = {.key = 1, .time_ms = 0};
      }
    };
    return BlockSource<Tick, decltype(kTickTime)>::Create(
        {.block_records = 1, .total_records = 1, .span_ms = 1, .batch_records = 0}, *context.clock, generate,
        kTickTime);
  };
  return From(SourceSpec<Tick, decltype(kTickTime)>{.open = open, .event_time_ms = kTickTime})
      .KeyBy(&Tick::key)
      .Window(Tumbling{absl::Seconds(1)})
      .Aggregate(Count{})
      .To(Discard{});
}

class IdleExecutor {
 public:
  explicit IdleExecutor(std::uint32_t peers) : query_(OneTick()) {
    ExecutorConfig config;
    config.mesh.executors_per_node = peers + 1;
    config.mesh.executor_count = peers + 1;
    config.mesh.channel = {.slot_bytes = 1024, .credits = 2};
    config.mesh.run_token = 7;
    config.max_lead_ms = 1'000;
    config.fragment_bytes = 64 << 10;
    config.state_limit_bytes = std::uint64_t{64} << 20;
    config.clock = &clock_;
    executor_ = OrDie(Executor::Create(config, *query_));
    std::vector<rdma::MeshDescriptor> all = {executor_->descriptor()};
    for (std::uint32_t peer = 1; peer <= peers; ++peer) {
      rdma::MeshOptions mesh = config.mesh;
      mesh.self = ExecutorId{peer};
      peers_.push_back(OrDie(rdma::ExecutorMesh::Prepare(mesh, 1)));
      all.push_back(peers_.back()->descriptor());
    }
    OrDie(executor_->Connect(all));
    OrDie(executor_->Open([] { return absl::OkStatus(); }));
    OrDie(executor_->Start());
    // What it has sent fills no ring, so these rounds are its last with work.
    for (int idle = 0; idle < 10;) {
      idle = executor_->RunRound() ? 0 : idle + 1;
    }
  }

  Executor& executor() { return *executor_; }

 private:
  SteadyClock clock_;
  std::unique_ptr<Query> query_;
  std::vector<std::unique_ptr<rdma::ExecutorMesh>> peers_;
  std::unique_ptr<Executor> executor_;
};

void BM_IdleRound(benchmark::State& state) {
  IdleExecutor idle(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    if (idle.executor().RunRound()) {
      state.SkipWithError("the executor has found work");
    }
  }
}
BENCHMARK(BM_IdleRound)->ArgName("peers")->Arg(1)->Arg(3)->Arg(15)->Arg(63)->Arg(255);

}  // namespace
}  // namespace glaive::engine

int main(int argc, char** argv) { return glaive::bench::BenchmarkMain(argc, argv); }
