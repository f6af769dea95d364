// YSB, one executor of the engine beside the hand-written loop of bench/baseline: the same generated events, the same
// filter, join, windows and emission, in one process and in turns, so that both see the same machine.
//
//   ysb_bench --profile=slash --records=13000000 --windows=10 --repetitions=3 --runs=5
//
// Prints each run's rates, and the median of the ratios engine / loop with their spread. Both results are compared.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "bench/baseline/ysb_loop.h"
#include "engine/cluster/node_run.h"
#include "engine/flags/flag_set.h"
#include "engine/metrics/build_info.h"
#include "queries/ysb/ysb_query.h"
#include "rdma/base/steady_clock.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {
namespace {

using queries::ysb::Generator;
using queries::ysb::GeneratorOptions;
using queries::ysb::Profile;
using queries::ysb::Totals;
using queries::ysb::YsbEvent;
using queries::ysb::YsbRow;

struct Settings {
  Profile profile = Profile::kSlash;
  std::uint64_t records = 13'000'000;  // 1 GB
  std::uint64_t windows = 10;
  std::uint64_t repetitions = 3;
  std::uint64_t runs = 5;
  std::uint64_t keys = 10'000'000;
};

struct Measurement {
  double seconds = 0;
  Totals totals;
};

/// Adds rows to the totals, as the loop's sink does.
class TotalsSink final : public engine::Sink<YsbRow> {
 public:
  explicit TotalsSink(Totals& totals) : totals_(&totals) {}
  absl::Status Write(std::span<const YsbRow> rows) override {
    for (const YsbRow& row : rows) {
      totals_->Add({.window_start_ms = row.window_start_ms, .key = row.key, .count = row.value});
    }
    return absl::OkStatus();
  }

 private:
  Totals* totals_;
};

GeneratorOptions MakeInput(const Settings& settings) {
  GeneratorOptions input;
  input.profile = settings.profile;
  input.keys = settings.keys;
  input.window_ms = settings.profile == Profile::kYahoo ? queries::ysb::kYahooWindowMs : queries::ysb::kSlashWindowMs;
  input.rate = {.records = settings.records, .span_ms = static_cast<std::int64_t>(settings.windows) * input.window_ms};
  return input;
}

absl::StatusOr<Measurement> MeasureEngine(const Settings& settings, const Clock& clock) {
  const GeneratorOptions input = MakeInput(settings);
  Measurement result;
  const engine::AllOf<YsbRow> sink(
      {[&](const engine::SinkContext&) -> absl::StatusOr<std::unique_ptr<engine::Sink<YsbRow>>> {
        return std::make_unique<TotalsSink>(result.totals);
      }});
  const std::unique_ptr<engine::Query> query = BuildYsb(input,
                                                        {.block_records = settings.records,
                                                         .total_records = settings.records * settings.repetitions,
                                                         .span_ms = input.rate.span_ms},
                                                        sink);
  engine::ExecutorConfig config;
  config.max_lead_ms = 4 * input.window_ms;
  config.fragment_bytes = 1 << 20;
  config.state_limit_bytes = std::uint64_t{8} << 30;
  config.clock = &clock;
  auto run = engine::NodeRun::Create({.executor = config, .node = NodeId{0}, .cpus = {}}, *query);
  if (!run.ok()) {
    return run.status();
  }
  const auto watch = [] { return absl::OkStatus(); };
  absl::Status status = (*run)->Connect((*run)->descriptors());
  status.Update((*run)->Open(watch));
  if (status.ok()) {
    status = (*run)->Run(watch);
  }
  if (!status.ok()) {
    return status;
  }
  const engine::ExecutorMetrics& metrics = (*run)->executors().front()->metrics();
  result.seconds = static_cast<double>(metrics.last_result_ns - metrics.first_batch_ns) * 1e-9;
  return result;
}

absl::StatusOr<Measurement> MeasureLoop(const Settings& settings, const Clock& clock) {
  const GeneratorOptions input = MakeInput(settings);
  absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(settings.records * sizeof(YsbEvent));
  if (!region.ok()) {
    return region.status();
  }
  const std::span<YsbEvent> block(reinterpret_cast<YsbEvent*>(region->data()), settings.records);
  Generator(input).Fill(0, 0, block);
  absl::StatusOr<YsbLoop> loop =
      YsbLoop::Create({.profile = settings.profile, .window_ms = input.window_ms, .keys = settings.keys});
  if (!loop.ok()) {
    return loop.status();
  }
  const std::int64_t begin_ns = clock.NowNanos();
  const BaselineResult result = loop->Run(block, settings.repetitions, input.rate.span_ms);
  return Measurement{.seconds = static_cast<double>(clock.NowNanos() - begin_ns) * 1e-9, .totals = result.emitted};
}

absl::Status Compare(const Settings& settings) {
  const SteadyClock clock;
  const double records = static_cast<double>(settings.records * settings.repetitions);
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> loop = MeasureLoop(settings, clock);
    const absl::StatusOr<Measurement> engine = loop.ok() ? MeasureEngine(settings, clock) : loop.status();
    if (!engine.ok()) {
      return engine.status();
    }
    if (engine->totals != loop->totals) {
      return absl::DataLossError(absl::StrFormat("the engine emitted %d rows counting %d, the loop %d counting %d",
                                                 engine->totals.rows, engine->totals.count_sum, loop->totals.rows,
                                                 loop->totals.count_sum));
    }
    ratios.push_back(loop->seconds / engine->seconds);
    absl::PrintF("run %d: loop %.1f M records/s, engine %.1f M records/s, ratio %.2f, %d rows\n", run,
                 records / loop->seconds * 1e-6, records / engine->seconds * 1e-6, ratios.back(), engine->totals.rows);
  }
  std::sort(ratios.begin(), ratios.end());
  absl::PrintF("engine / loop: median %.2f (%.2f to %.2f) of %d runs\n", ratios[ratios.size() / 2], ratios.front(),
               ratios.back(), ratios.size());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  engine::FlagSet flags({.program = "ysb_bench",
                         .summary = "One executor of the engine beside a hand-written single-thread loop, on YSB.",
                         .version = std::string(engine::Version()),
                         .commit = std::string(engine::Commit())});
  Settings settings;
  const std::string group = "Benchmark";
  flags.AddChoice({.name = "profile", .group = group, .help = "which variant of YSB"}, settings.profile,
                  {{"slash", Profile::kSlash}, {"yahoo", Profile::kYahoo}});
  flags.AddInteger({.name = "records", .group = group, .help = "events in memory"}, settings.records,
                   {.min = 1, .max = 1'000'000'000});
  flags.AddInteger({.name = "windows", .group = group, .help = "windows that they span"}, settings.windows,
                   {.min = 1, .max = 1'000'000});
  flags.AddInteger({.name = "repetitions", .group = group, .help = "times they are read"}, settings.repetitions,
                   {.min = 1, .max = 1'000'000});
  flags.AddInteger({.name = "runs", .group = group, .help = "runs of each"}, settings.runs, {.min = 1, .max = 1000});
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys of the slash profile"}, settings.keys,
                   {.min = 1});
  if (const std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr)) {
    return *exit_code;
  }
  if (absl::Status status = Compare(settings); !status.ok()) {
    std::cerr << "ysb_bench: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace glaive::bench

int main(int argc, char** argv) { return glaive::bench::Main(argc, argv); }
