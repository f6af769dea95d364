// Draws scenarios (DrawScenario of scenario.h).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/sim/catalogue.h"
#include "tests/sim/random.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {
namespace {

template <std::size_t N>
std::int64_t OneOf(Random& random, const std::array<std::int64_t, N>& values) {
  return values[random.Below(N)];
}

/// From [least, most], smaller ones as likely as greater ones in orders of magnitude.
std::int64_t Scaled(Random& random, std::int64_t least, std::int64_t most) {
  std::int64_t bound = least;
  while (bound < most && random.Chance(0.75)) bound *= 2;
  return random.Between(least, std::min(std::max(bound, least), most));
}

/// Each as often as its share says.
std::int64_t DrawQuery(Random& random, std::span<const CatalogueEntry> catalogue) {
  std::int64_t shares = 0;
  for (const CatalogueEntry& entry : catalogue) shares += entry.share;
  std::int64_t drawn = random.Between(0, shares - 1);
  std::int64_t query = 0;
  for (; drawn >= catalogue[static_cast<std::size_t>(query)].share; ++query) {
    drawn -= catalogue[static_cast<std::size_t>(query)].share;
  }
  return query;
}

/// The number of kinds before the kinds of files.
constexpr std::int64_t kKindsWithoutFiles = static_cast<std::int64_t>(FaultKind::kInputCut);

void DrawFault(Random& random, Scenario& scenario) {
  if (random.Chance(0.35)) return;
  scenario.fault = random.Between(1, kKindsWithoutFiles - 1);
  scenario.step = random.Between(0, kSteps - 1);
  const auto step = static_cast<Step>(scenario.step);
  const bool is_turn = step >= Step::kReading && step <= Step::kReceiving;
  scenario.occurrence = is_turn ? Scaled(random, 1, 300) : 1;
  if (ConcernsTwo(static_cast<FaultKind>(scenario.fault))) scenario.nodes = std::max<std::int64_t>(scenario.nodes, 2);
  if (step == Step::kSending || step == Step::kReceiving) {
    scenario.nodes = std::max<std::int64_t>(scenario.nodes, 2);
    scenario.piece_bytes = std::min<std::int64_t>(scenario.piece_bytes, 64);
    scenario.occurrence = Scaled(random, 1, 30);
  }
  scenario.victim = random.Between(0, scenario.nodes - 1);
  scenario.other_victim =
      scenario.nodes == 1 ? 0 : (scenario.victim + random.Between(1, scenario.nodes - 1)) % scenario.nodes;
}

/// Often at the step of the first fault, and often one that a run survives: a second fault strikes only if the run
/// still goes on.
void DrawSecondFault(Random& random, Scenario& scenario) {
  if (scenario.fault == 0 || random.Chance(0.7)) return;
  const bool is_harmless = random.Chance(0.4);
  scenario.second_fault = is_harmless ? random.Between(1, 2) : random.Between(3, kKindsWithoutFiles - 1);
  scenario.second_step = random.Chance(0.4) ? scenario.step : random.Between(0, kSteps - 1);
  const auto step = static_cast<Step>(scenario.second_step);
  const bool is_turn = step >= Step::kReading && step <= Step::kReceiving;
  scenario.second_occurrence = is_turn ? Scaled(random, 1, 100) : 1;
  scenario.second_victim = random.Between(0, scenario.nodes - 1);
  scenario.second_other_victim = random.Between(0, scenario.nodes - 1);
}

/// About half of the runs over files that have a fault have one of files.
void DrawFiles(Random& random, Scenario& scenario) {
  if (!random.Chance(0.1)) return;
  scenario.file_sources = OneOf<3>(random, {0, 1, 1});
  scenario.file_sinks = scenario.file_sources == 0 ? 1 : OneOf<3>(random, {0, 1, 1});
  if (scenario.fault == 0 || random.Chance(0.5)) return;
  const auto first = scenario.file_sources == 1 ? FaultKind::kInputCut : FaultKind::kOutputFull;
  const auto last = scenario.file_sinks == 1 ? FaultKind::kOutputRefused : FaultKind::kInputGone;
  scenario.fault = random.Between(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last));
  scenario.occurrence = Scaled(random, 1, 10);
}

/// Low ones, which the few records and keys of a scenario reach, about as often as the defaults.
void DrawThresholds(Random& random, Scenario& scenario) {
  scenario.cached_cells_bytes = OneOf<4>(random, {0, 0, 4'000, 2 << 20});
  scenario.first_level_cells_bytes = OneOf<3>(random, {0, 4'000, 128 << 10});
  scenario.cached_log_bytes = OneOf<3>(random, {0, 4'000, 1 << 20});
  scenario.split_bytes = OneOf<4>(random, {0, 300, 2'000, 1 << 20});
  scenario.split_bits = OneOf<4>(random, {1, 2, 4, 8});
  scenario.updates_between_reviews = OneOf<4>(random, {1, 10, 40, 4'096});
  scenario.fewest_moved = OneOf<3>(random, {0, 10, 128});
  scenario.values_tried = OneOf<3>(random, {1, 20, 1'024});
  scenario.refused_records_allowed = OneOf<4>(random, {0, 1, 10, 1'000});
  scenario.entries_per_turn = OneOf<4>(random, {1, 7, 50, 4'096});
  scenario.slices_per_turn = OneOf<3>(random, {1, 5, 64});
  scenario.cells_per_turn = OneOf<2>(random, {100, 1 << 16});
  scenario.cleaned_bytes_per_turn = OneOf<2>(random, {4'096, 256 << 10});
  scenario.most_pending = OneOf<3>(random, {1, 50, 1'024});
}

/// Regions that some tables outgrow, in half of the scenarios.
void DrawMemory(Random& random, Scenario& scenario) {
  scenario.region_pages = OneOf<4>(random, {1, 2, 512, 512});
  scenario.touched_bytes_per_update = OneOf<3>(random, {64, 500, 2'048});
  scenario.many_keys = OneOf<3>(random, {0, 30, 1 << 18});
}

// Rings that go round often.
void SendOften(Scenario& scenario) {
  scenario.nodes = 2;
  scenario.executors = 1;
  scenario.records = 3'000;
  scenario.keys = 400;
  scenario.hot_percent = 0;
  scenario.credits = 2;
  scenario.epoch_bytes = scenario.epoch_min_bytes = scenario.epoch_interval_us = 1;
  scenario.batch = 3;
}

// Combiners that are full of keys that do not recur, long before an epoch ends.
void FillCombiners(Scenario& scenario) {
  scenario.keys_pass = 1;
  scenario.keys = 150;
  scenario.hot_percent = 0;
  scenario.records = 1'500 / scenario.executor_count();
  scenario.span_ms = 1'000;
  scenario.batch = 20;
  scenario.disorder_ms = scenario.bound_ms = 0;
  scenario.combiner_bytes = 100;
  scenario.trial_records = 80;
  scenario.epoch_bytes = 1 << 20;
  scenario.epoch_interval_us = 100'000;
}

// Cells of one executor, which are updated behind the loop of the pipeline.
void DrawCellsOfOneExecutor(Random& random, Scenario& scenario) {
  scenario.nodes = scenario.executors = 1;
  scenario.records = 1'500;
  scenario.keys = OneOf<3>(random, {5, 50, 200});
  scenario.span_ms = OneOf<2>(random, {3'000, 10'000});
  scenario.batch = 400;
  scenario.disorder_ms = scenario.bound_ms = 0;
  scenario.cached_cells_bytes = 0;
}

// The roles of executors: some partition records, or feed others.
void DrawRoles(Random& random, const CatalogueEntry& entry, Scenario& scenario) {
  scenario.partitioners = random.Chance(0.75) ? 0 : random.Between(1, 2);
  if (entry.each_process_reads && scenario.executors == 1)
    scenario.partitioners = 0;  // they would be those of some nodes
  scenario.feeds = random.Chance(0.8) ? 0 : 1;
  // Processing time is noted where records are read.
  if (entry.each_process_reads || entry.by_processing_time) scenario.feeds = 0;
}

// Fed executors get messages of many records. A source reads each record as a batch of its own, so each batch is in
// order, and the message is not.
void FeedOutOfOrder(Random& random, Scenario& scenario) {
  if (scenario.feeds == 0 || !random.Chance(0.2)) return;
  scenario.records = 600;
  scenario.batch = 1;
  scenario.disorder_ms = scenario.bound_ms = OneOf<2>(random, {1'000, 6'000});
  scenario.slot_bytes = 16'384;
  scenario.epoch_interval_us = 100'000;
}

}  // namespace

Scenario DrawScenario(std::uint64_t seed, std::span<const CatalogueEntry> catalogue) {
  Random random(seed, Purpose::kScenario);
  Scenario scenario;
  scenario.seed = seed;
  scenario.query = DrawQuery(random, catalogue);
  scenario.nodes = OneOf<8>(random, {1, 2, 2, 2, 2, 3, 3, 4});
  scenario.executors = OneOf<6>(random, {1, 1, 1, 2, 2, 3});
  scenario.one_host = OneOf<2>(random, {0, 1});
  scenario.records = Scaled(random, 5, 600);
  scenario.keys = Scaled(random, 1, 400);
  scenario.hot_percent = OneOf<4>(random, {0, 0, 30, 90});
  scenario.span_ms = OneOf<4>(random, {500, 3'000, 10'000, 40'000});
  scenario.disorder_ms = OneOf<6>(random, {0, 0, 50, 500, 1'000, 6'000});
  scenario.bound_ms = random.Chance(0.3) ? scenario.disorder_ms : random.Between(0, scenario.disorder_ms);
  scenario.lateness_ms = random.Chance(0.6) ? 0 : random.Between(1, 2'000);
  scenario.batch = OneOf<6>(random, {1, 3, 10, 37, 100, 400});
  scenario.silent = random.Chance(0.15) ? 1 : 0;
  scenario.slot_bytes = OneOf<4>(random, {512, 1'024, 4'096, 16'384});
  scenario.credits = OneOf<5>(random, {2, 2, 3, 4, 8});
  scenario.fragment_bytes = OneOf<5>(random, {1'024, 2'048, 8'192, 64 << 10, 256 << 10});
  scenario.epoch_bytes = OneOf<4>(random, {1, 1'000, 10'000, 1 << 20});
  scenario.epoch_min_bytes = std::min(scenario.epoch_bytes, OneOf<3>(random, {1, 100, 10'000}));
  scenario.epoch_interval_us = OneOf<4>(random, {1, 100, 1'000, 100'000});
  scenario.max_lead_ms = random.Chance(0.6) ? 0 : random.Between(1, 4 * scenario.span_ms);
  scenario.latency_us = OneOf<4>(random, {1, 5, 50, 1'000});
  scenario.jitter_us = OneOf<4>(random, {0, 5, 100, 3'000});
  scenario.completion_us = OneOf<4>(random, {0, 5, 100, 5'000});
  scenario.piece_bytes = OneOf<5>(random, {8, 64, 64, 256, 4'096});
  scenario.delivery_percent = OneOf<4>(random, {5, 30, 60, 90});
  scenario.free_signals = OneOf<2>(random, {0, 1});
  scenario.late_reads = random.Chance(0.2) ? 1 : 0;
  scenario.full_queue_percent = OneOf<4>(random, {0, 0, 2, 30});
  scenario.skew_ms = random.Chance(0.5) ? 0 : random.Between(1, 100'000);
  DrawFault(random, scenario);
  // A join of one key has as many rows as its sides' product.
  scenario.records = std::min(scenario.records, 1'500 / scenario.executor_count());
  if (random.Chance(0.02)) SendOften(scenario);
  scenario.combiner_bytes = OneOf<4>(random, {1, 400, 4'000, 512 << 10});
  scenario.trial_records = OneOf<4>(random, {5, 30, 200, 1 << 16});
  scenario.trials_between = OneOf<3>(random, {1, 2, 16});
  scenario.records_per_saved = OneOf<4>(random, {1, 2, 4, 8});
  scenario.rows_per_turn = OneOf<4>(random, {1, 3, 20, 4'096});
  scenario.silent_source = random.Chance(0.8) ? 1 : 0;
  scenario.others_last = random.Chance(0.8) ? 1 : 0;
  scenario.skips = random.Chance(0.9) ? 0 : random.Between(3, 8);
  // Fibonacci numbers among them: by multiplication with the golden ratio their multiples fall together.
  scenario.key_stride = OneOf<6>(random, {1, 1, 1'000, 2'971'215'073, std::int64_t{1} << 32, 12'586'269'025});
  scenario.keys_grow = random.Chance(0.25) ? 1 : 0;
  scenario.large_percent = OneOf<3>(random, {2, 6, 25});
  DrawThresholds(random, scenario);
  if (random.Chance(0.03)) DrawCellsOfOneExecutor(random, scenario);
  DrawSecondFault(random, scenario);
  DrawFiles(random, scenario);
  scenario.idle_timeout_ms = OneOf<4>(random, {250, 400, 400, 1'000});
  scenario.immediates = OneOf<2>(random, {0, 1});
  scenario.any_order = OneOf<2>(random, {0, 1});
  DrawMemory(random, scenario);
  scenario.publishes = random.Chance(0.4) ? 1 : 0;
  scenario.first_ending = OneOf<3>(random, {0, 1, 2});
  scenario.sink_busy_us = OneOf<4>(random, {0, 0, 50, 5'000});
  scenario.busy_executor = random.Between(0, 2 * scenario.executor_count() - 1);  // in half of the scenarios all
  scenario.relaxed_nodes = random.Chance(0.3) ? random.Between(1, 4) : 0;
  scenario.late_credits = OneOf<2>(random, {0, 1});
  DrawRoles(random, catalogue[static_cast<std::size_t>(scenario.query)], scenario);
  scenario.heartbeats = OneOf<4>(random, {0, 0, 0, 1});
  FeedOutOfOrder(random, scenario);
  scenario.keys_pass = random.Chance(0.1) ? 1 : 0;
  if (random.Chance(0.03)) FillCombiners(scenario);
  scenario.Fit();
  return scenario;
}

}  // namespace glaive::sim
