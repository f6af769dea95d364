// One executor of the engine beside the hand-written loops of bench/baseline, on the queries' windowed aggregations:
// the same generated records, the same filter, join, windows and emission, in one process and in turns, so that both
// see the same machine.
//
//   aggregation_bench --workload=nb7 --key-distribution=zipf:1.16 --runs=5
//
// Prints each run's rates, and the median of the ratios engine / loop with their spread. Both results are compared. For
// --workload=cm1, sliding windows, what stands beside the engine is the engine on the same query in tumbling windows.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/baseline/folds.h"
#include "bench/baseline/window_loop.h"
#include "engine/cluster/cpu_pinning.h"
#include "engine/cluster/node_run.h"
#include "engine/flags/flag_set.h"
#include "engine/metrics/build_info.h"
#include "engine/metrics/machine.h"
#include "engine/source/block_source.h"
#include "queries/cm/cm_query.h"
#include "queries/cm/generator.h"
#include "queries/common/generator.h"
#include "queries/common/result_sinks.h"
#include "queries/nb7/generator.h"
#include "queries/nb7/nb7_query.h"
#include "queries/ro/generator.h"
#include "queries/ro/ro_query.h"
#include "queries/ysb/generator.h"
#include "queries/ysb/ysb_query.h"
#include "rdma/base/steady_clock.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {
namespace {

using queries::Totals;
using QueryPtr = std::unique_ptr<engine::Query>;

enum class Workload : std::uint8_t { kYsb, kYsbYahoo, kNb7, kCm, kCm1, kRo };

struct Settings {
  Workload workload = Workload::kYsb;
  std::uint64_t records = 0;  // 0: 1 GB of them
  std::uint64_t windows = 10;
  std::uint64_t repetitions = 3;
  std::uint64_t runs = 5;
  std::uint64_t keys = 0;  // 0: the workload's
  std::string key_distribution;
  bool prefault = true;
};

struct Measurement {
  double seconds = 0;
  Totals totals;
  engine::ExecutorMetrics metrics;  // of the engine
};

/// What is measured: some records, and the query over them.
template <typename R, typename EventTime>
struct Case {
  using Record = R;
  using Events = engine::SourceSpec<R, EventTime>;

  std::uint64_t records = 0;
  std::uint64_t keys = 0;
  std::int64_t window_ms = 0;
  std::int64_t span_ms = 0;  // of the records
  std::unique_ptr<queries::Generator<R>> generator;
  std::function<QueryPtr(const Events&, const queries::ResultSinks&)> build;
};

template <typename R, typename EventTime>
absl::StatusOr<Measurement> MeasureEngine(const Case<R, EventTime>& c, std::uint64_t repetitions,
                                          std::uint64_t prefault_bytes, const Clock& clock) {
  const engine::BlockSourceOptions block{
      .block_records = c.records, .total_records = c.records * repetitions, .span_ms = c.span_ms};
  const auto open = [&](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<R> records) { c.generator->Fill(0, first, records); };
    return engine::BlockSource<R, EventTime>::Create(block, *context.clock, generate, EventTime{});
  };
  Measurement result;
  const queries::ResultSinks sinks({.output = "", .totals = &result.totals}, /*executor_count=*/1);
  const QueryPtr query = c.build({.open = open, .event_time_ms = {}}, sinks);
  engine::ExecutorConfig config;
  config.max_lead_ms = 4 * query->window_ms();
  config.fragment_bytes = 1 << 20;
  config.state_limit_bytes = std::uint64_t{12} << 30;
  config.state_prefault_bytes = prefault_bytes;
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
  result.metrics = (*run)->executors().front()->metrics();
  result.seconds = static_cast<double>(result.metrics.last_result_ns - result.metrics.first_batch_ns) * 1e-9;
  return result;
}

template <typename Fold, typename C>
absl::StatusOr<Measurement> MeasureLoop(const C& c, Fold fold, std::uint64_t repetitions, const Clock& clock) {
  using R = typename C::Record;
  absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(c.records * sizeof(R));
  if (!region.ok()) {
    return region.status();
  }
  const std::span<R> block(reinterpret_cast<R*>(region->data()), c.records);
  c.generator->Fill(0, 0, block);
  auto loop = WindowLoop<Fold>::Create(std::move(fold), {.window_ms = c.window_ms, .keys = c.keys});
  if (!loop.ok()) {
    return loop.status();
  }
  const std::int64_t begin_ns = clock.NowNanos();
  const queries::Totals emitted = loop->Run(block, repetitions, c.span_ms);
  return Measurement{
      .seconds = static_cast<double>(clock.NowNanos() - begin_ns) * 1e-9, .totals = emitted, .metrics = {}};
}

void PrintRatios(std::vector<double> ratios, const char* what) {
  std::sort(ratios.begin(), ratios.end());
  absl::PrintF("%s: median %.2f (%.2f to %.2f) of %d runs\n", what, ratios[ratios.size() / 2], ratios.front(),
               ratios.back(), ratios.size());
}

/// How much state the engine takes for the case, so that it can be there before the clock starts: the loop's is, too.
template <typename C>
absl::StatusOr<std::uint64_t> MeasureState(const Settings& settings, const C& c, const Clock& clock) {
  if (!settings.prefault) {
    return 0;
  }
  const absl::StatusOr<Measurement> run = MeasureEngine(c, settings.repetitions, /*prefault_bytes=*/0, clock);
  return run.ok() ? absl::StatusOr<std::uint64_t>(run->metrics.state_bytes) : run.status();
}

template <typename Fold, typename C>
absl::Status CompareWithLoop(const Settings& settings, const C& c, const Fold& fold) {
  const SteadyClock clock;
  const double records = static_cast<double>(c.records * settings.repetitions);
  const absl::StatusOr<std::uint64_t> state_bytes = MeasureState(settings, c, clock);
  if (!state_bytes.ok()) {
    return state_bytes.status();
  }
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> loop = MeasureLoop(c, fold, settings.repetitions, clock);
    const absl::StatusOr<Measurement> engine =
        loop.ok() ? MeasureEngine(c, settings.repetitions, *state_bytes, clock) : loop.status();
    if (!engine.ok()) {
      return engine.status();
    }
    if (engine->totals != loop->totals) {
      return absl::DataLossError(absl::StrFormat("the engine emitted %d rows with a sum of %d, the loop %d with %d",
                                                 engine->totals.rows, engine->totals.value_sum, loop->totals.rows,
                                                 loop->totals.value_sum));
    }
    ratios.push_back(loop->seconds / engine->seconds);
    absl::PrintF("run %d: loop %.1f M records/s, engine %.1f M records/s, ratio %.2f, %d rows, state %d MiB\n", run,
                 records / loop->seconds * 1e-6, records / engine->seconds * 1e-6, ratios.back(), engine->totals.rows,
                 engine->metrics.state_bytes >> 20);
  }
  PrintRatios(std::move(ratios), "engine / loop");
  return absl::OkStatus();
}

template <typename C>
absl::Status CompareWithTumbling(const Settings& settings, const C& sliding, const C& tumbling) {
  const SteadyClock clock;
  const double records = static_cast<double>(sliding.records * settings.repetitions);
  const absl::StatusOr<std::uint64_t> one_state = MeasureState(settings, tumbling, clock);
  const absl::StatusOr<std::uint64_t> other_state = one_state.ok() ? MeasureState(settings, sliding, clock) : one_state;
  if (!other_state.ok()) {
    return other_state.status();
  }
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> one = MeasureEngine(tumbling, settings.repetitions, *one_state, clock);
    const absl::StatusOr<Measurement> other =
        one.ok() ? MeasureEngine(sliding, settings.repetitions, *other_state, clock) : one;
    if (!other.ok()) {
      return other.status();
    }
    ratios.push_back(other->seconds / one->seconds);
    absl::PrintF("run %d: tumbling %.1f M records/s, sliding %.1f M records/s, %d merges for %d rows\n", run,
                 records / one->seconds * 1e-6, records / other->seconds * 1e-6, other->metrics.slice_merges,
                 other->totals.rows);
  }
  PrintRatios(std::move(ratios), "time of sliding / tumbling");
  return absl::OkStatus();
}

/// A case of the settings: `keys` is the workload's own, `window_ms` 0 where it has no window.
template <typename R, typename EventTime>
Case<R, EventTime> MakeCase(const Settings& settings, std::uint64_t keys, std::int64_t window_ms) {
  Case<R, EventTime> c;
  c.records = settings.records == 0 ? 1'000'000'000 / sizeof(R) : settings.records;
  c.keys = settings.keys == 0 ? keys : settings.keys;
  c.window_ms = window_ms;
  c.span_ms = static_cast<std::int64_t>(settings.windows) * (window_ms == 0 ? 60'000 : window_ms);
  return c;
}

absl::StatusOr<queries::InputOptions> InputOf(const Settings& settings, std::uint64_t records, std::uint64_t keys,
                                              std::int64_t span_ms, const char* law) {
  const absl::StatusOr<queries::KeyLaw> chosen =
      queries::KeyLaw::Parse(settings.key_distribution.empty() ? law : settings.key_distribution);
  if (!chosen.ok()) {
    return chosen.status();
  }
  return queries::InputOptions{.keys = {.count = keys, .law = *chosen},
                               .timeline = {.rate = {.records = records, .span_ms = span_ms}, .align_ms = 600'000}};
}

absl::Status CompareYsb(const Settings& settings, queries::ysb::Profile profile) {
  const bool yahoo = profile == queries::ysb::Profile::kYahoo;
  auto c = MakeCase<queries::ysb::YsbEvent, queries::ysb::YsbEventTime>(
      settings, 10'000'000, yahoo ? queries::ysb::kYahooWindowMs : queries::ysb::kSlashWindowMs);
  const auto input = InputOf(settings, c.records, c.keys, c.span_ms, "uniform");
  if (!input.ok()) {
    return input.status();
  }
  c.generator = std::make_unique<queries::ysb::YsbGenerator>(profile, *input);
  c.build = [&](const auto& events, const queries::ResultSinks& sinks) {
    return BuildYsb({.profile = profile, .window = absl::Milliseconds(c.window_ms), .allowed_lateness = {}}, events,
                    sinks);
  };
  return CompareWithLoop(settings, c, YsbFold{yahoo ? std::make_shared<const queries::ysb::CampaignTable>() : nullptr});
}

absl::Status CompareNb7(const Settings& settings) {
  auto c = MakeCase<queries::nexmark::Bid, queries::nexmark::BidTime>(settings, 1'000'000, 60'000);
  const auto input = InputOf(settings, c.records, c.keys, c.span_ms, "zipf:1.16");
  if (!input.ok()) {
    return input.status();
  }
  c.generator = std::make_unique<queries::nb7::BidGenerator>(*input);
  c.build = [&](const auto& bids, const queries::ResultSinks& sinks) {
    return queries::nb7::BuildNb7(bids, absl::Milliseconds(c.window_ms), absl::ZeroDuration(), sinks);
  };
  return CompareWithLoop(settings, c, BidFold{});
}

using CmCase = Case<queries::cm::TaskEvent, queries::cm::TaskEventTime>;

absl::StatusOr<CmCase> MakeCm(const Settings& settings, const queries::cm::CmOptions& options) {
  CmCase c = MakeCase<queries::cm::TaskEvent, queries::cm::TaskEventTime>(settings, 10'000,
                                                                          absl::ToInt64Milliseconds(options.window));
  const auto input = InputOf(settings, c.records, c.keys, c.span_ms, "uniform");
  if (!input.ok()) {
    return input.status();
  }
  c.generator = std::make_unique<queries::cm::TaskEventGenerator>(*input);
  c.build = [options](const auto& events, const queries::ResultSinks& sinks) {
    return BuildCm(options, events, sinks);
  };
  return c;
}

absl::Status CompareCm(const Settings& settings) {
  const auto c = MakeCm(settings, {});
  return c.ok() ? CompareWithLoop(settings, *c, CpuMeanFold{}) : c.status();
}

absl::Status CompareCm1(const Settings& settings) {
  queries::cm::CmOptions options{
      .profile = queries::cm::Profile::kCm1, .window = absl::Seconds(60), .slide = absl::Seconds(1)};
  const auto sliding = MakeCm(settings, options);
  options.slide = options.window;
  const auto tumbling = MakeCm(settings, options);
  return tumbling.ok() ? CompareWithTumbling(settings, *sliding, *tumbling) : tumbling.status();
}

absl::Status CompareRo(const Settings& settings) {
  auto c = MakeCase<queries::ro::Item, queries::ro::ItemTime>(settings, 100'000'000, 0);
  const auto input = InputOf(settings, c.records, c.keys, c.span_ms, "uniform");
  if (!input.ok()) {
    return input.status();
  }
  c.generator = std::make_unique<queries::ro::ItemGenerator>(*input);
  c.build = [](const auto& items, const queries::ResultSinks& sinks) { return queries::ro::BuildRo(items, sinks); };
  return CompareWithLoop(settings, c, ItemFold{});
}

absl::Status Compare(const Settings& settings) {
  switch (settings.workload) {
    case Workload::kYsb:
      return CompareYsb(settings, queries::ysb::Profile::kSlash);
    case Workload::kYsbYahoo:
      return CompareYsb(settings, queries::ysb::Profile::kYahoo);
    case Workload::kNb7:
      return CompareNb7(settings);
    case Workload::kCm:
      return CompareCm(settings);
    case Workload::kCm1:
      return CompareCm1(settings);
    case Workload::kRo:
      break;
  }
  return CompareRo(settings);
}

int Main(int argc, char** argv) {
  engine::FlagSet flags({.program = "aggregation_bench",
                         .summary = "One executor of the engine beside a hand-written single-thread loop.",
                         .version = std::string(engine::Version()),
                         .commit = std::string(engine::Commit())});
  Settings settings;
  const std::string group = "Benchmark";
  flags.AddChoice({.name = "workload", .group = group, .help = "which query"}, settings.workload,
                  {{"ysb", Workload::kYsb},
                   {"ysb-yahoo", Workload::kYsbYahoo},
                   {"nb7", Workload::kNb7},
                   {"cm", Workload::kCm},
                   {"cm1", Workload::kCm1},
                   {"ro", Workload::kRo}});
  flags.AddInteger({.name = "records", .group = group, .help = "records in memory; 0: 1 GB of them"}, settings.records,
                   {.min = 0, .max = 1'000'000'000});
  flags.AddInteger({.name = "windows", .group = group, .help = "windows that they span"}, settings.windows,
                   {.min = 1, .max = 1'000'000});
  flags.AddInteger({.name = "repetitions", .group = group, .help = "times they are read"}, settings.repetitions,
                   {.min = 1, .max = 1'000'000});
  flags.AddInteger({.name = "runs", .group = group, .help = "runs of each"}, settings.runs, {.min = 1, .max = 1000});
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys; 0: the workload's"}, settings.keys,
                   {.min = 0, .max = 1ULL << 32});
  flags.AddString({.name = "key-distribution", .group = group, .help = "uniform, zipf:Z or pareto:A; the workload's"},
                  settings.key_distribution, "LAW");
  flags.AddSwitch({.name = "prefault",
                   .group = group,
                   .help = "take the engine's state memory from the system before the clock starts, as the loop's is"},
                  settings.prefault);
  if (const std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr)) {
    return *exit_code;
  }
  // Loop and engine on the same processor: one may have a busier neighbour than another.
  const std::vector<int> cpus = engine::AllowedCpus();
  absl::Status status = cpus.empty() ? absl::OkStatus() : engine::PinThisThread(cpus.back());
  if (status.ok()) {
    status = Compare(settings);
  }
  if (!status.ok()) {
    std::cerr << absl::StrCat("aggregation_bench: ", std::string(status.message()), "\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace glaive::bench

int main(int argc, char** argv) { return glaive::bench::Main(argc, argv); }
