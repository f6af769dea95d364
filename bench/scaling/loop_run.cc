#include "bench/scaling/loop_run.h"

#include <algorithm>
#include <barrier>
#include <limits>
#include <thread>
#include <vector>

#include "bench/scaling/processors.h"
#include "engine/base/cpu_pinning.h"
#include "rdma/base/processor_clock.h"
#include "rdma/base/steady_clock.h"

namespace glaive::bench {
namespace {

/// What one thread did.
struct ThreadRun {
  absl::Status status;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double processor_seconds = 0;
  queries::Totals totals;
};

}  // namespace

absl::StatusOr<Measurement> RunLoops(const Workload& workload, std::uint32_t threads) {
  const SteadyClock clock;
  const std::vector<int> processors = ProcessorsFor(threads);
  std::vector<ThreadRun> runs(threads);
  std::barrier ready(threads);
  const auto run_thread = [&](std::uint32_t number) {
    ThreadRun& run = runs[number];
    run.status = processors.empty() ? absl::OkStatus() : engine::PinThisThread(processors[number]);
    const absl::StatusOr<Loop> loop = workload.make_loop(number);
    run.status.Update(loop.status());
    ready.arrive_and_wait();
    // All or none: the threads of a loop may wait for each other.
    if (!std::ranges::all_of(runs, [](const ThreadRun& each) { return each.status.ok(); })) {
      return;
    }
    run.begin_ns = clock.NowNanos();
    const double begin = ThreadSeconds();
    run.totals = (*loop)();
    run.processor_seconds = ThreadSeconds() - begin;
    run.end_ns = clock.NowNanos();
  };
  std::vector<std::thread> running;
  for (std::uint32_t number = 0; number < threads; ++number) {
    running.emplace_back(run_thread, number);
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  Measurement result;
  result.records = workload.records * threads;
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
  for (const ThreadRun& run : runs) {
    if (!run.status.ok()) {
      return run.status;
    }
    begin_ns = std::min(begin_ns, run.begin_ns);
    end_ns = std::max(end_ns, run.end_ns);
    result.processor_seconds += run.processor_seconds;
    result.totals.Merge(run.totals);
  }
  result.seconds = static_cast<double>(end_ns - begin_ns) * 1e-9;
  return result;
}

}  // namespace glaive::bench
