// One executor of the engine beside the hand-written loops of bench/baseline, on the queries' sessions: NB11, bids
// joined with their bidders, and SWA, events counted, all together or by their ads. Both read the same bytes in one
// process and in turns, so that both see the same machine.
//
//   session_bench --workload=nb11 --runs=5
//   session_bench --workload=swa --group-by=ad --keys=1000000
//   session_bench --workload=nb11 --executors=2    two executors over shm beside one, each with its share of the
//   records
//
// Prints each run's rates, and the median of the ratios with their spread. Both results are compared.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "bench/baseline/session_join_loop.h"
#include "bench/baseline/session_loop.h"
#include "engine/cluster/cpu_pinning.h"
#include "engine/cluster/node_run.h"
#include "engine/flags/flag_set.h"
#include "engine/metrics/build_info.h"
#include "engine/metrics/machine.h"
#include "engine/source/block_source.h"
#include "queries/common/generator.h"
#include "queries/common/result_sinks.h"
#include "queries/nb11/generator.h"
#include "queries/nb11/nb11_query.h"
#include "queries/nexmark/seller_generator.h"
#include "queries/swa/generator.h"
#include "queries/swa/swa_query.h"
#include "rdma/base/steady_clock.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {
namespace {

using queries::Totals;
using queries::nb11::BidGenerator;
using queries::nexmark::Bid;
using queries::nexmark::BidTime;
using queries::nexmark::Seller;
using queries::nexmark::SellerGenerator;
using queries::nexmark::SellerTime;
using queries::swa::AirEvent;
using queries::swa::AirEventGenerator;
using queries::swa::AirEventTime;
using queries::swa::GroupBy;
using QueryPtr = std::unique_ptr<engine::Query>;

constexpr std::int64_t kGapMs = 10'000;

enum class Workload : std::uint8_t { kNb11, kSwa };

struct Settings {
  Workload workload = Workload::kNb11;
  std::uint64_t records = 5'000'000;  // of a block, of all inputs and executors
  std::uint64_t gaps = 10;            // that a block spans
  std::uint64_t repetitions = 3;
  std::uint64_t runs = 5;
  std::uint64_t executors = 1;
  std::uint64_t keys = 0;  // 0: the workload's
  std::string key_distribution = "uniform";
  GroupBy group_by = GroupBy::kAll;
  bool prefault = true;

  std::uint64_t key_count() const { return keys != 0 ? keys : workload == Workload::kNb11 ? 1'000'000 : 1'000; }
  std::int64_t span_ms() const { return static_cast<std::int64_t>(gaps) * kGapMs; }
  /// Of the input of an executor's block: of five records of a join, one is a seller.
  std::uint64_t sellers() const { return records / executors / 5; }
  std::uint64_t bids() const { return records / executors - sellers(); }
  std::uint64_t events() const { return records / executors; }
  /// That are read in a run.
  double all_records() const { return static_cast<double>(records / executors * executors * repetitions); }
};

struct Measurement {
  double seconds = 0;
  Totals totals;
  std::uint64_t state_bytes = 0;  // the most of one executor
};

/// One kind of a query's records.
template <typename Generator>
std::shared_ptr<const Generator> MakeGenerator(const Settings& settings, std::uint64_t records, std::uint64_t seed) {
  return std::make_shared<const Generator>(queries::InputOptions{
      .seed = seed,
      .keys = {.count = settings.key_count(), .law = *queries::KeyLaw::Parse(settings.key_distribution)},
      .timeline = {.rate = {.records = records, .span_ms = settings.span_ms()}, .align_ms = kGapMs}});
}
std::shared_ptr<const BidGenerator> Bids(const Settings& settings) {
  return MakeGenerator<BidGenerator>(settings, settings.bids(), 1);
}
std::shared_ptr<const SellerGenerator> Sellers(const Settings& settings) {
  return MakeGenerator<SellerGenerator>(settings, settings.sellers(), 2);
}
std::shared_ptr<const AirEventGenerator> Events(const Settings& settings) {
  return MakeGenerator<AirEventGenerator>(settings, settings.events(), 1);
}

template <typename R, typename EventTime>
engine::SourceSpec<R, EventTime> SourceOf(const Settings& settings,
                                          std::shared_ptr<const queries::Generator<R>> generator,
                                          std::uint64_t records) {
  const engine::BlockSourceOptions block{
      .block_records = records, .total_records = records * settings.repetitions, .span_ms = settings.span_ms()};
  const auto open = [block, generator = std::move(generator)](const engine::SourceContext& context) {
    const auto generate = [&](std::uint64_t first, std::span<R> into) {
      generator->Fill(Value(context.executor), first, into);
    };
    return engine::BlockSource<R, EventTime>::Create(block, *context.clock, generate, EventTime{});
  };
  return {.open = open, .event_time_ms = {}};
}

QueryPtr BuildQuery(const Settings& settings, const queries::ResultSinks& sinks) {
  if (settings.workload == Workload::kSwa) {
    return BuildSwa({.windows = queries::swa::WindowKind::kSession,
                     .group_by = settings.group_by,
                     .window = absl::Milliseconds(kGapMs)},
                    SourceOf<AirEvent, AirEventTime>(settings, Events(settings), settings.events()), sinks);
  }
  return queries::nb11::BuildNb11(SourceOf<Bid, BidTime>(settings, Bids(settings), settings.bids()),
                                  SourceOf<Seller, SellerTime>(settings, Sellers(settings), settings.sellers()),
                                  absl::Milliseconds(kGapMs), absl::ZeroDuration(), sinks);
}

/// A cluster in this process: nodes of one executor each, over shm.
class Cluster {
 public:
  /// Each executor takes `prefault_bytes` of state before the clock starts.
  static absl::StatusOr<Measurement> Measure(const Settings& settings, std::uint64_t prefault_bytes,
                                             const Clock& clock) {
    Cluster cluster(settings);
    absl::Status status = cluster.Open(settings, prefault_bytes, clock);
    status.Update(status.ok() ? cluster.Run() : status);
    return status.ok() ? absl::StatusOr<Measurement>(cluster.Result()) : status;
  }

 private:
  explicit Cluster(const Settings& settings) : totals_(settings.executors) {}

  static absl::Status Watch() { return absl::OkStatus(); }

  absl::Status Open(const Settings& settings, std::uint64_t prefault_bytes, const Clock& clock) {
    const auto executors = static_cast<std::uint32_t>(settings.executors);
    const std::vector<int> cpus = engine::AllowedCpus();
    std::vector<rdma::MeshDescriptor> descriptors;
    for (std::uint32_t node = 0; node < executors; ++node) {
      const queries::ResultSinks sinks({.output = "", .totals = &totals_[node]}, executors);
      queries_.push_back(BuildQuery(settings, sinks));
      engine::ExecutorConfig config;
      config.mesh.executor_count = executors;
      config.mesh.run_token = 1;
      config.max_lead_ms = 4 * kGapMs;
      config.fragment_bytes = 1 << 20;
      config.state_limit_bytes = std::uint64_t{6} << 30;
      config.state_prefault_bytes = prefault_bytes;
      config.clock = &clock;
      auto run = engine::NodeRun::Create(
          {.executor = config,
           .node = NodeId{node},
           .cpus = cpus.size() < executors ? std::vector<int>{} : std::vector<int>{cpus[cpus.size() - 1 - node]}},
          *queries_.back());
      if (!run.ok()) {
        return run.status();
      }
      for (const rdma::MeshDescriptor& descriptor : (*run)->descriptors()) {
        descriptors.push_back(descriptor);
      }
      nodes_.push_back(*std::move(run));
    }
    absl::Status status;
    for (const auto& node : nodes_) {
      status.Update(node->Connect(descriptors));
    }
    for (const auto& node : nodes_) {
      status.Update(status.ok() ? node->Open(Watch) : status);
    }
    return status;
  }

  absl::Status Run() {
    std::vector<absl::Status> ends(nodes_.size());
    std::vector<std::thread> mains;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      mains.emplace_back([&, i] { ends[i] = nodes_[i]->Run(Watch); });
    }
    absl::Status status;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      mains[i].join();
      status.Update(ends[i]);
    }
    return status;
  }

  Measurement Result() const {
    Measurement result;
    std::int64_t first_ns = nodes_.front()->executors().front()->metrics().first_batch_ns;
    std::int64_t last_ns = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const engine::ExecutorMetrics& metrics = nodes_[i]->executors().front()->metrics();
      first_ns = std::min(first_ns, metrics.first_batch_ns);
      last_ns = std::max(last_ns, metrics.last_result_ns);
      result.totals.Merge(totals_[i]);
      result.state_bytes = std::max(result.state_bytes, metrics.state_bytes);
    }
    result.seconds = static_cast<double>(last_ns - first_ns) * 1e-9;
    return result;
  }

  std::vector<Totals> totals_;  // by executor
  std::vector<QueryPtr> queries_;
  std::vector<std::unique_ptr<engine::NodeRun>> nodes_;
};

/// How much state an executor takes, so that it can be there before the clock starts: the loop's is, too.
absl::StatusOr<std::uint64_t> MeasureState(const Settings& settings, const Clock& clock) {
  if (!settings.prefault) {
    return 0;
  }
  const absl::StatusOr<Measurement> run = Cluster::Measure(settings, /*prefault_bytes=*/0, clock);
  return run.ok() ? absl::StatusOr<std::uint64_t>(run->state_bytes) : run.status();
}

/// The records of a block, in memory of their own.
template <typename R>
class Block {
 public:
  static absl::StatusOr<Block> Create(const queries::Generator<R>& generator, std::uint64_t records) {
    absl::StatusOr<rdma::PageRegion> region = rdma::PageRegion::Map(records * sizeof(R));
    if (!region.ok()) {
      return region.status();
    }
    Block block(*std::move(region), records);
    generator.Fill(0, 0, block.records());
    return block;
  }

  std::span<R> records() { return {reinterpret_cast<R*>(region_.data()), count_}; }

 private:
  Block(rdma::PageRegion region, std::uint64_t count) : region_(std::move(region)), count_(count) {}

  rdma::PageRegion region_;
  std::uint64_t count_;
};

/// Runs a loop by the clock; `run()` returns what it emitted.
template <typename RunFn>
Measurement Timed(const Clock& clock, const RunFn& run) {
  const std::int64_t begin_ns = clock.NowNanos();
  const Totals emitted = run();
  return {.seconds = static_cast<double>(clock.NowNanos() - begin_ns) * 1e-9, .totals = emitted};
}

absl::StatusOr<Measurement> MeasureJoinLoop(const Settings& settings, const Clock& clock) {
  auto bids = Block<Bid>::Create(*Bids(settings), settings.bids());
  auto sellers = Block<Seller>::Create(*Sellers(settings), settings.sellers());
  if (!bids.ok() || !sellers.ok()) {
    return bids.ok() ? sellers.status() : bids.status();
  }
  auto loop = SessionJoinLoop::Create({.gap_ms = kGapMs,
                                       .keys = settings.key_count(),
                                       .bids = settings.bids() * settings.repetitions,
                                       .sellers = settings.sellers() * settings.repetitions});
  if (!loop.ok()) {
    return loop.status();
  }
  return Timed(
      clock, [&] { return loop->Run(bids->records(), sellers->records(), settings.repetitions, settings.span_ms()); });
}

absl::StatusOr<Measurement> MeasureAggregationLoop(const Settings& settings, const Clock& clock) {
  auto events = Block<AirEvent>::Create(*Events(settings), settings.events());
  if (!events.ok()) {
    return events.status();
  }
  auto loop =
      SessionLoop::Create({.gap_ms = kGapMs, .ads = settings.group_by == GroupBy::kAd ? settings.key_count() : 0});
  if (!loop.ok()) {
    return loop.status();
  }
  return Timed(clock, [&] { return loop->Run(events->records(), settings.repetitions, settings.span_ms()); });
}

absl::StatusOr<Measurement> MeasureLoop(const Settings& settings, const Clock& clock) {
  return settings.workload == Workload::kSwa ? MeasureAggregationLoop(settings, clock)
                                             : MeasureJoinLoop(settings, clock);
}

void PrintMedian(std::vector<double> ratios, const std::string& what) {
  std::sort(ratios.begin(), ratios.end());
  absl::PrintF("%s: median %.2f (%.2f to %.2f) of %d runs\n", what, ratios[ratios.size() / 2], ratios.front(),
               ratios.back(), ratios.size());
}

absl::Status CompareWithLoop(const Settings& settings) {
  const SteadyClock clock;
  const absl::StatusOr<std::uint64_t> state_bytes = MeasureState(settings, clock);
  if (!state_bytes.ok()) {
    return state_bytes.status();
  }
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < settings.runs; ++run) {
    const absl::StatusOr<Measurement> loop = MeasureLoop(settings, clock);
    const absl::StatusOr<Measurement> engine = loop.ok() ? Cluster::Measure(settings, *state_bytes, clock) : loop;
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
                 settings.all_records() / loop->seconds * 1e-6, settings.all_records() / engine->seconds * 1e-6,
                 ratios.back(), engine->totals.rows, engine->state_bytes >> 20);
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
    const absl::StatusOr<Measurement> one = Cluster::Measure(alone, *one_state, clock);
    const absl::StatusOr<Measurement> all = one.ok() ? Cluster::Measure(settings, *all_state, clock) : one;
    if (!all.ok()) {
      return all.status();
    }
    const double one_rate = alone.all_records() / one->seconds;
    const double all_rate = settings.all_records() / all->seconds;
    ratios.push_back(all_rate / one_rate);
    absl::PrintF("run %d: 1 executor %.1f M records/s, %d executors %.1f M records/s, ratio %.2f\n", run,
                 one_rate * 1e-6, settings.executors, all_rate * 1e-6, ratios.back());
  }
  PrintMedian(std::move(ratios), absl::StrCat(settings.executors, " executors / 1"));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  engine::FlagSet flags({.program = "session_bench",
                         .summary = "Sessions on the engine beside a hand-written single-thread loop.",
                         .version = std::string(engine::Version()),
                         .commit = std::string(engine::Commit())});
  Settings settings;
  const std::string group = "Benchmark";
  flags.AddChoice({.name = "workload", .group = group, .help = "which query"}, settings.workload,
                  {{"nb11", Workload::kNb11}, {"swa", Workload::kSwa}});
  flags.AddInteger({.name = "records", .group = group, .help = "records of a block, of all executors"},
                   settings.records, {.min = 5, .max = 1'000'000'000});
  flags.AddInteger({.name = "gaps", .group = group, .help = "gaps of 10 s that a block spans"}, settings.gaps,
                   {.min = 1, .max = 1'000'000});
  flags.AddInteger({.name = "repetitions", .group = group, .help = "times that the block is read"},
                   settings.repetitions, {.min = 1, .max = 1000});
  flags.AddInteger({.name = "runs", .group = group, .help = "runs of each"}, settings.runs, {.min = 1, .max = 1000});
  flags.AddInteger({.name = "executors", .group = group, .help = "more than 1: beside one executor, not the loop"},
                   settings.executors, {.min = 1, .max = 64});
  flags.AddInteger({.name = "keys", .group = group, .help = "distinct keys; 0: 1 M of nb11, 1000 of swa"},
                   settings.keys, {.min = 0, .max = queries::kMaxKeys});
  flags.AddString({.name = "key-distribution", .group = group, .help = "uniform, zipf:Z or pareto:A"},
                  settings.key_distribution, "LAW");
  flags.AddChoice({.name = "group-by", .group = group, .help = "of swa: count all events together, or those of an ad"},
                  settings.group_by, {{"all", GroupBy::kAll}, {"ad", GroupBy::kAd}});
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
    std::cerr << "session_bench: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace glaive::bench

int main(int argc, char** argv) { return glaive::bench::Main(argc, argv); }
