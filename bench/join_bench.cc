// The engine beside a hand-written loop on NB8: auctions of 269 bytes joined with sellers of 206, 4 : 1, in one process
// and in turns, so that both see the same machine. Both keep what the query shows of each record, and join at the
// window's end.
//
//   join_bench --window-records=5000000 --sellers=5000000 --runs=5
//   join_bench --executors=2            two executors over shm beside one, each with its share of the records
//
// Prints each run's rates, and the median of the ratios with their spread. Both results are compared.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/baseline/join_loop.h"
#include "engine/cluster/cpu_pinning.h"
#include "engine/cluster/node_run.h"
#include "engine/flags/flag_set.h"
#include "engine/metrics/build_info.h"
#include "engine/metrics/machine.h"
#include "engine/source/block_source.h"
#include "queries/common/result_sinks.h"
#include "queries/nb8/nb8_query.h"
#include "queries/nexmark/auction_generator.h"
#include "queries/nexmark/seller_generator.h"
#include "rdma/base/steady_clock.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {
namespace {

using queries::Totals;
using queries::nexmark::Auction;
using queries::nexmark::AuctionGenerator;
using queries::nexmark::AuctionTime;
using queries::nexmark::Seller;
using queries::nexmark::SellerGenerator;
using queries::nexmark::SellerTime;

constexpr std::int64_t kWindowMs = 43'200'000;

struct Settings {
  std::uint64_t window_records = 5'000'000;  // of both sides, of all executors
  std::uint64_t sellers = 5'000'000;         // distinct ids
  std::uint64_t windows = 12;                // times that they are read
  std::uint64_t runs = 5;
  std::uint64_t executors = 1;
  std::string key_distribution = "uniform";
  bool prefault = true;

  /// Of an executor in a window.
  std::uint64_t side_records(bool auctions) const {
    const std::uint64_t mine = window_records / executors;
    return auctions ? mine - mine / 5 : mine / 5;
  }
  /// Of all executors.
  std::uint64_t records() const { return (side_records(true) + side_records(false)) * executors * windows; }
};

struct Measurement {
  double seconds = 0;
  Totals totals;
  std::uint64_t kept_tuples = 0;
  std::uint64_t kept_tuple_bytes = 0;
  std::uint64_t state_bytes = 0;  // the most of one executor
};

/// The input of one side: a window of it, which is repeated.
template <typename Generator>
std::shared_ptr<const Generator> MakeGenerator(const Settings& settings, bool auctions) {
  const auto law = queries::KeyLaw::Parse(settings.key_distribution);
  if (!law.ok()) {
    return nullptr;
  }
  return std::make_shared<const Generator>(queries::InputOptions{
      .seed = auctions ? 1U : 2U,
      .keys = {.count = settings.sellers, .law = *law},
      .timeline = {.rate = {.records = settings.side_records(auctions), .span_ms = kWindowMs}, .align_ms = kWindowMs}});
}

template <typename R, typename EventTime, typename Generator>
engine::SourceSpec<R, EventTime> SourceOf(const Settings& settings, std::shared_ptr<const Generator> generator,
                                          bool auctions) {
  const std::uint64_t records = settings.side_records(auctions);
  const engine::BlockSourceOptions block{
      .block_records = records, .total_records = records * settings.windows, .span_ms = kWindowMs};
  const auto open = [block, generator](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<R> into) {
      generator->Fill(Value(context.executor), first, into);
    };
    return engine::BlockSource<R, EventTime>::Create(block, *context.clock, generate, EventTime{});
  };
  return {.open = open, .event_time_ms = {}};
}

/// Runs the query on nodes of one executor each, over shm; each takes `prefault_bytes` of state before the clock
/// starts.
absl::StatusOr<Measurement> MeasureEngine(const Settings& settings, std::uint64_t prefault_bytes, const Clock& clock) {
  const auto executors = static_cast<std::uint32_t>(settings.executors);
  const auto auctions = MakeGenerator<AuctionGenerator>(settings, true);
  const auto sellers = MakeGenerator<SellerGenerator>(settings, false);
  std::vector<Totals> totals(executors);
  std::vector<std::unique_ptr<engine::Query>> queries;
  std::vector<std::unique_ptr<engine::NodeRun>> nodes;
  std::vector<rdma::MeshDescriptor> descriptors;
  const std::vector<int> cpus = engine::AllowedCpus();
  for (std::uint32_t node = 0; node < executors; ++node) {
    const queries::ResultSinks sinks({.output = "", .totals = &totals[node]}, executors);
    queries.push_back(queries::nb8::BuildNb8({}, SourceOf<Auction, AuctionTime>(settings, auctions, true),
                                             SourceOf<Seller, SellerTime>(settings, sellers, false), sinks));
    engine::ExecutorConfig config;
    config.mesh.executor_count = executors;
    config.mesh.run_token = 1;
    config.max_lead_ms = 4 * kWindowMs;
    config.fragment_bytes = 1 << 20;
    config.state_limit_bytes = std::uint64_t{6} << 30;
    config.state_prefault_bytes = prefault_bytes;
    config.clock = &clock;
    auto run = engine::NodeRun::Create(
        {.executor = config,
         .node = NodeId{node},
         .cpus = cpus.size() < executors ? std::vector<int>{} : std::vector<int>{cpus[cpus.size() - 1 - node]}},
        *queries.back());
    if (!run.ok()) {
      return run.status();
    }
    for (const rdma::MeshDescriptor& descriptor : (*run)->descriptors()) {
      descriptors.push_back(descriptor);
    }
    nodes.push_back(*std::move(run));
  }
  const auto watch = [] { return absl::OkStatus(); };
  absl::Status status;
  for (const auto& node : nodes) {
    status.Update(node->Connect(descriptors));
  }
  std::vector<absl::Status> ends(nodes.size());
  std::vector<std::thread> mains;
  for (const auto& node : nodes) {
    status.Update(status.ok() ? node->Open(watch) : status);
  }
  for (std::size_t i = 0; i < nodes.size() && status.ok(); ++i) {
    mains.emplace_back([&, i] { ends[i] = nodes[i]->Run(watch); });
  }
  for (std::thread& main : mains) {
    main.join();
  }
  Measurement result;
  std::int64_t first_ns = clock.NowNanos();
  std::int64_t last_ns = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    status.Update(ends[i]);
    const engine::ExecutorMetrics& metrics = nodes[i]->executors().front()->metrics();
    first_ns = std::min(first_ns, metrics.first_batch_ns);
    last_ns = std::max(last_ns, metrics.last_result_ns);
    result.totals.Merge(totals[i]);
    result.kept_tuples += metrics.kept_tuples;
    result.kept_tuple_bytes += metrics.kept_tuple_bytes;
    result.state_bytes = std::max(result.state_bytes, metrics.state_bytes);
  }
  result.seconds = static_cast<double>(last_ns - first_ns) * 1e-9;
  return status.ok() ? absl::StatusOr<Measurement>(result) : status;
}

/// How much state an executor takes, so that it can be there before the clock starts: the loop's is, too.
absl::StatusOr<std::uint64_t> MeasureState(const Settings& settings, const Clock& clock) {
  if (!settings.prefault) {
    return 0;
  }
  const absl::StatusOr<Measurement> run = MeasureEngine(settings, /*prefault_bytes=*/0, clock);
  return run.ok() ? absl::StatusOr<std::uint64_t>(run->state_bytes) : run.status();
}

template <typename R, typename Generator>
absl::StatusOr<rdma::PageRegion> Generate(const Settings& settings, bool auctions) {
  absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(settings.side_records(auctions) * sizeof(R));
  if (region.ok()) {
    MakeGenerator<Generator>(settings, auctions)
        ->Fill(0, 0, std::span<R>(reinterpret_cast<R*>(region->data()), settings.side_records(auctions)));
  }
  return region;
}

absl::StatusOr<Measurement> MeasureLoop(const Settings& settings, const Clock& clock) {
  const auto auctions = Generate<Auction, AuctionGenerator>(settings, true);
  const auto sellers = Generate<Seller, SellerGenerator>(settings, false);
  if (!auctions.ok() || !sellers.ok()) {
    return auctions.ok() ? sellers.status() : auctions.status();
  }
  JoinLoop loop(
      {.window_ms = kWindowMs, .auctions = settings.side_records(true), .sellers = settings.side_records(false)});
  const std::int64_t begin_ns = clock.NowNanos();
  const Totals emitted = loop.Run({reinterpret_cast<const Auction*>(auctions->data()), settings.side_records(true)},
                                  {reinterpret_cast<const Seller*>(sellers->data()), settings.side_records(false)},
                                  settings.windows, kWindowMs);
  return Measurement{.seconds = static_cast<double>(clock.NowNanos() - begin_ns) * 1e-9, .totals = emitted};
}

void PrintMedian(std::vector<double> ratios, const std::string& what) {
  std::sort(ratios.begin(), ratios.end());
  absl::PrintF("%s: median %.2f (%.2f to %.2f) of %d runs\n", what, ratios[ratios.size() / 2], ratios.front(),
               ratios.back(), ratios.size());
}

absl::Status CompareWithLoop(const Settings& settings) {
  const SteadyClock clock;
  const auto records = static_cast<double>(settings.records());
  const absl::StatusOr<std::uint64_t> state_bytes = MeasureState(settings, clock);
  if (!state_bytes.ok()) {
    return state_bytes.status();
  }
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> loop = MeasureLoop(settings, clock);
    const absl::StatusOr<Measurement> engine = loop.ok() ? MeasureEngine(settings, *state_bytes, clock) : loop;
    if (!engine.ok()) {
      return engine.status();
    }
    if (engine->totals != loop->totals) {
      return absl::DataLossError(absl::StrFormat("the engine emitted %d pairs with a sum of %d, the loop %d with %d",
                                                 engine->totals.rows, engine->totals.value_sum, loop->totals.rows,
                                                 loop->totals.value_sum));
    }
    ratios.push_back(loop->seconds / engine->seconds);
    absl::PrintF(
        "run %d: loop %.1f M records/s, engine %.1f M records/s, ratio %.2f, %d pairs, %.1f bytes a kept tuple\n", run,
        records / loop->seconds * 1e-6, records / engine->seconds * 1e-6, ratios.back(), engine->totals.rows,
        static_cast<double>(engine->kept_tuple_bytes) / static_cast<double>(engine->kept_tuples));
  }
  PrintMedian(std::move(ratios), "engine / loop");
  return absl::OkStatus();
}

absl::Status CompareWithOne(const Settings& settings) {
  const SteadyClock clock;
  Settings alone = settings;
  alone.executors = 1;
  const absl::StatusOr<std::uint64_t> one_state = MeasureState(alone, clock);
  const absl::StatusOr<std::uint64_t> all_state = one_state.ok() ? MeasureState(settings, clock) : one_state;
  if (!all_state.ok()) {
    return all_state.status();
  }
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> one = MeasureEngine(alone, *one_state, clock);
    const absl::StatusOr<Measurement> all = one.ok() ? MeasureEngine(settings, *all_state, clock) : one;
    if (!all.ok()) {
      return all.status();
    }
    const double one_rate = static_cast<double>(alone.records()) / one->seconds;
    const double all_rate = static_cast<double>(settings.records()) / all->seconds;
    ratios.push_back(all_rate / one_rate);
    absl::PrintF("run %d: 1 executor %.1f M records/s, %d executors %.1f M records/s, ratio %.2f\n", run,
                 one_rate * 1e-6, settings.executors, all_rate * 1e-6, ratios.back());
  }
  PrintMedian(std::move(ratios), absl::StrCat(settings.executors, " executors / 1"));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  engine::FlagSet flags({.program = "join_bench",
                         .summary = "NB8 on the engine beside a hand-written single-thread loop.",
                         .version = std::string(engine::Version()),
                         .commit = std::string(engine::Commit())});
  Settings settings;
  const std::string group = "Benchmark";
  flags.AddInteger({.name = "window-records", .group = group, .help = "records of a window, of all executors"},
                   settings.window_records, {.min = 5, .max = 1'000'000'000});
  flags.AddInteger({.name = "sellers", .group = group, .help = "distinct ids of sellers"}, settings.sellers,
                   {.min = 1, .max = 1ULL << 32});
  flags.AddInteger({.name = "windows", .group = group, .help = "windows, all of the same records"}, settings.windows,
                   {.min = 1, .max = 1000});
  flags.AddInteger({.name = "runs", .group = group, .help = "runs of each"}, settings.runs, {.min = 1, .max = 1000});
  flags.AddInteger({.name = "executors", .group = group, .help = "more than 1: beside one executor, not the loop"},
                   settings.executors, {.min = 1, .max = 64});
  flags.AddString({.name = "key-distribution", .group = group, .help = "of the auctions' sellers: uniform or zipf:Z"},
                  settings.key_distribution, "LAW");
  flags.AddSwitch({.name = "prefault",
                   .group = group,
                   .help = "take the engine's state memory from the system before the clock starts, as the loop's is"},
                  settings.prefault);
  flags.AddCheck([&] { return queries::KeyLaw::Parse(settings.key_distribution).status(); });
  if (const std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr)) {
    return *exit_code;
  }
  // Loop and engine on the same processor: one may have a busier neighbour than another. Several executors have one
  // each.
  const std::vector<int> cpus = engine::AllowedCpus();
  absl::Status status = cpus.empty() || settings.executors > 1 ? absl::OkStatus() : engine::PinThisThread(cpus.back());
  if (status.ok()) {
    std::cout << "machine " << engine::DescribeMachine().cpu_model << "\n";
    status = settings.executors == 1 ? CompareWithLoop(settings) : CompareWithOne(settings);
  }
  if (!status.ok()) {
    std::cerr << "join_bench: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace glaive::bench

int main(int argc, char** argv) { return glaive::bench::Main(argc, argv); }
