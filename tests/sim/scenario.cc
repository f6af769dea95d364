#include "tests/sim/scenario.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "tests/sim/catalogue.h"
#include "tests/sim/line_files.h"
#include "tests/sim/random.h"

namespace glaive::sim {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

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

void FitVictims(std::int64_t nodes, std::int64_t& victim, std::int64_t& other_victim) {
  victim %= nodes;
  if (nodes > 1 && other_victim % nodes == victim) ++other_victim;
  other_victim %= nodes;
}

/// Whether a fault of the kind can strike.
bool Fits(const Scenario& scenario, FaultKind kind) {
  if (ConcernsTwo(kind)) return scenario.nodes > 1;
  if (IsOfInputFiles(kind)) return scenario.file_sources == 1;
  return !IsOfOutputFiles(kind) || scenario.file_sinks == 1;
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

/// Those of state::StateThresholds.
std::vector<Knob> ThresholdKnobs() {
  return {{"cached-cells-bytes", &Scenario::cached_cells_bytes, 2 << 20, 0, kMost},
          {"first-level-cells-bytes", &Scenario::first_level_cells_bytes, 128 << 10, 0, kMost},
          {"cached-log-bytes", &Scenario::cached_log_bytes, 1 << 20, 0, kMost},
          {"split-bytes", &Scenario::split_bytes, 1 << 20, 0, kMost},
          {"split-bits", &Scenario::split_bits, 8, 1, 8},
          {"region-pages", &Scenario::region_pages, 512, 1, 512},
          {"touched-bytes-per-update", &Scenario::touched_bytes_per_update, 2'048, 1, kMost},
          {"many-keys", &Scenario::many_keys, 1 << 18, 0, kMost},
          {"updates-between-reviews", &Scenario::updates_between_reviews, 4'096, 1, kMost},
          {"fewest-moved", &Scenario::fewest_moved, 128, 0, kMost},
          {"values-tried", &Scenario::values_tried, 1'024, 1, kMost},
          {"refused-records-allowed", &Scenario::refused_records_allowed, 1'000, 0, kMost},
          {"entries-per-turn", &Scenario::entries_per_turn, 4'096, 1, kMost},
          {"slices-per-turn", &Scenario::slices_per_turn, 64, 1, kMost},
          {"cells-per-turn", &Scenario::cells_per_turn, 1 << 16, 1, kMost},
          {"cleaned-bytes-per-turn", &Scenario::cleaned_bytes_per_turn, 256 << 10, 64, kMost},
          {"most-pending", &Scenario::most_pending, 1'024, 1, kMost}};
}

}  // namespace

std::vector<Knob> Knobs() {
  std::vector<Knob> knobs = {{"query", &Scenario::query, 0, 0, kMost},
                             {"second-fault", &Scenario::second_fault, 0, 0, kFaultKinds - 1},
                             {"fault", &Scenario::fault, 0, 0, kFaultKinds - 1},
                             {"file-sources", &Scenario::file_sources, 0, 0, 1},
                             {"file-sinks", &Scenario::file_sinks, 0, 0, 1},
                             {"publishes", &Scenario::publishes, 0, 0, 1},
                             {"first-ending", &Scenario::first_ending, 0, 0, kFileEndings.size() - 1},
                             {"sink-busy-us", &Scenario::sink_busy_us, 0, 0, kMost},
                             {"busy-executor", &Scenario::busy_executor, 0, 0, 256},
                             {"nodes", &Scenario::nodes, 1, 1, 16},
                             {"executors", &Scenario::executors, 1, 1, 16},
                             {"partitioners", &Scenario::partitioners, 0, 0, 15},
                             {"records", &Scenario::records, 1, 0, kMost},
                             {"keys", &Scenario::keys, 1, 1, kMost},
                             {"keys-grow", &Scenario::keys_grow, 0, 0, 1},
                             {"key-stride", &Scenario::key_stride, 1, 1, kMost},
                             {"hot-percent", &Scenario::hot_percent, 0, 0, 100},
                             {"large-percent", &Scenario::large_percent, 0, 0, 100},
                             {"disorder-ms", &Scenario::disorder_ms, 0, 0, kMost},
                             {"bound-ms", &Scenario::bound_ms, 0, 0, kMost},
                             {"lateness-ms", &Scenario::lateness_ms, 0, 0, kMost},
                             {"batch", &Scenario::batch, 1, 1, kMost},
                             {"silent", &Scenario::silent, 0, 0, 1},
                             {"idle-timeout-ms", &Scenario::idle_timeout_ms, 400, 200, 2'000},
                             {"silent-source", &Scenario::silent_source, 0, 0, 1},
                             {"others-last", &Scenario::others_last, 0, 0, 1},
                             {"skips", &Scenario::skips, 0, 0, 20},
                             {"skew-ms", &Scenario::skew_ms, 0, 0, kMost},
                             {"one-host", &Scenario::one_host, 1, 0, 1},
                             {"full-queue-percent", &Scenario::full_queue_percent, 0, 0, 90},
                             {"late-reads", &Scenario::late_reads, 0, 0, 1},
                             {"relaxed-nodes", &Scenario::relaxed_nodes, 0, 0, 16},
                             {"late-credits", &Scenario::late_credits, 0, 0, 1},
                             {"free-signals", &Scenario::free_signals, 1, 0, 1},
                             {"immediates", &Scenario::immediates, 0, 0, 1},
                             {"any-order", &Scenario::any_order, 0, 0, 1},
                             {"jitter-us", &Scenario::jitter_us, 0, 0, kMost},
                             {"latency-us", &Scenario::latency_us, 0, 0, kMost},
                             {"completion-us", &Scenario::completion_us, 0, 0, kMost},
                             {"piece-bytes", &Scenario::piece_bytes, 1 << 20, 8, kMost},
                             {"delivery-percent", &Scenario::delivery_percent, 50, 1, 99},
                             {"slot-bytes", &Scenario::slot_bytes, 1024, 256, kMost},
                             {"credits", &Scenario::credits, 8, 2, 1024},
                             {"fragment-bytes", &Scenario::fragment_bytes, 64 << 10, 1024, kMost},
                             {"combiner-bytes", &Scenario::combiner_bytes, 512 << 10, 1, kMost},
                             {"trial-records", &Scenario::trial_records, 1 << 16, 1, kMost},
                             {"trials-between", &Scenario::trials_between, 16, 1, kMost},
                             {"records-per-saved", &Scenario::records_per_saved, 4, 1, kMost},
                             {"rows-per-turn", &Scenario::rows_per_turn, 4'096, 1, kMost},
                             {"epoch-bytes", &Scenario::epoch_bytes, 4'096, 1, kMost},
                             {"epoch-min-bytes", &Scenario::epoch_min_bytes, 1, 1, kMost},
                             {"epoch-interval-us", &Scenario::epoch_interval_us, 1'000, 1, kMost},
                             {"max-lead-ms", &Scenario::max_lead_ms, 0, 0, kMost},
                             {"span-ms", &Scenario::span_ms, 10'000, 1, kMost},
                             {"occurrence", &Scenario::occurrence, 1, 1, kMost},
                             {"step", &Scenario::step, 0, 0, kSteps - 1},
                             {"victim", &Scenario::victim, 0, 0, 15},
                             {"other-victim", &Scenario::other_victim, 0, 0, 15},
                             {"second-occurrence", &Scenario::second_occurrence, 1, 1, kMost},
                             {"second-step", &Scenario::second_step, 0, 0, kSteps - 1},
                             {"second-victim", &Scenario::second_victim, 0, 0, 15},
                             {"second-other-victim", &Scenario::second_other_victim, 0, 0, 15}};
  const std::vector<Knob> thresholds = ThresholdKnobs();
  knobs.insert(knobs.end(), thresholds.begin(), thresholds.end());
  return knobs;
}

absl::Status Scenario::Set(std::string_view settings) {
  const std::vector<Knob> knobs = Knobs();
  for (const auto setting :
       absl::StrSplit(absl::string_view(settings.data(), settings.size()), ',', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const auto knob = std::ranges::find_if(knobs, [&](const Knob& each) { return each.name == parts.front(); });
    std::int64_t number = 0;
    if (knob == knobs.end()) {
      std::vector<std::string> names;
      for (const Knob& each : knobs) names.emplace_back(each.name);
      return absl::InvalidArgumentError(
          absl::StrCat("--set: there is no '", parts.front(), "', only ", absl::StrJoin(names, ", ")));
    }
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &number) || number < knob->least || number > knob->most) {
      return absl::InvalidArgumentError(absl::StrCat("--set: '", setting, "': expected ", std::string(knob->name), "=<",
                                                     knob->least, " to ", knob->most, ">"));
    }
    this->*knob->value = number;
  }
  Fit();
  return absl::OkStatus();
}

state::StateThresholds Scenario::thresholds() const {
  const auto of = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  return {.cached_cells_bytes = of(cached_cells_bytes),
          .first_level_cells_bytes = of(first_level_cells_bytes),
          .cached_log_bytes = of(cached_log_bytes),
          .split_bytes = of(split_bytes),
          .region_bytes = of(region_pages) << 12,
          .touched_bytes_per_update = of(touched_bytes_per_update),
          .many_keys = of(many_keys),
          .updates_between_reviews = of(updates_between_reviews),
          .fewest_moved = of(fewest_moved),
          .values_tried = of(values_tried),
          .refused_records_allowed = of(refused_records_allowed),
          .entries_per_turn = of(entries_per_turn),
          .slices_per_turn = of(slices_per_turn),
          .cells_per_turn = of(cells_per_turn),
          .cleaned_bytes_per_turn = of(cleaned_bytes_per_turn),
          .most_pending = of(most_pending),
          .split_bits = static_cast<std::uint32_t>(split_bits)};
}

std::array<Fault, kMostFaults> Scenario::faults() const {
  return {{{.kind = static_cast<FaultKind>(fault),
            .step = static_cast<Step>(step),
            .occurrence = occurrence,
            .victim = victim,
            .other_victim = other_victim},
           {.kind = static_cast<FaultKind>(second_fault),
            .step = static_cast<Step>(second_step),
            .occurrence = second_occurrence,
            .victim = second_victim,
            .other_victim = second_other_victim}}};
}

bool Scenario::has_fault(FaultKind kind) const {
  return std::ranges::any_of(faults(), [&](const Fault& each) { return each.kind == kind; });
}

engine::Roles Scenario::roles() const {
  return engine::Roles::Of(static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(executors),
                           static_cast<std::uint32_t>(partitioners));
}

void Scenario::Fit() {
  partitioners = std::min(partitioners, (executors > 1 ? executors : nodes) - 1);
  if (!Fits(*this, static_cast<FaultKind>(fault))) fault = 0;
  if (!Fits(*this, static_cast<FaultKind>(second_fault))) second_fault = 0;
  if (fault == 0 && second_fault != 0) {
    fault = std::exchange(second_fault, 0);
    step = second_step;
    occurrence = second_occurrence;
    victim = second_victim;
    other_victim = second_other_victim;
  }
  FitVictims(nodes, victim, other_victim);
  if (second_fault == 0) {
    second_step = second_victim = second_other_victim = 0;
    second_occurrence = 1;
  } else {
    FitVictims(nodes, second_victim, second_other_victim);
  }
  // Which records of idle flows are late depends on how long others stand still, and on epochs that are longer than the
  // patience of idle flows.
  if (has_fault(FaultKind::kShortStall) || has_fault(FaultKind::kShortPartition) || sink_busy_us > 0) silent = 0;
  if (one_host == 1 || nodes == 1) immediates = 0;  // no verbs
  if (late_reads == 1) immediates = 0;              // iWARP, as soft-iWARP does it
  const bool polls = one_host == 0 && nodes > 1 && immediates == 0;
  relaxed_nodes = polls ? std::min(relaxed_nodes, nodes) : 0;
  if (!polls || !memory_may_be_late(0)) late_credits = 0;
  if (late_credits == 1) silent = 0;  // senders stand still until a count is repeated
  // A slot of many pieces, most of which come late, needs so many deliveries that epochs would last for seconds.
  if (any_order == 1 && piece_bytes < 64) delivery_percent = std::max<std::int64_t>(delivery_percent, 50);
  if (file_sources == 1) silent = silent_source = skips = 0;  // a file is never silent
  constexpr std::int64_t kEpochsInAnIdleTimeout = 40;
  if (silent == 1) epoch_interval_us = std::min(epoch_interval_us, idle_timeout_ms * 1'000 / kEpochsInAnIdleTimeout);
  // A join has a row for each pair of records with the same key. A trigger hands them on in no more turns than a run
  // has steps for.
  constexpr std::int64_t kMostTurns = 10'000;
  const std::int64_t all_records = records * executor_count();
  const std::int64_t hot_records = all_records * hot_percent / 100;
  const std::int64_t records_per_key = (all_records - hot_records) / keys;
  const std::int64_t pairs = (hot_records + records_per_key) * (hot_records + records_per_key) +
                             (keys - 1) * records_per_key * records_per_key;
  rows_per_turn = std::max(rows_per_turn, pairs / kMostTurns);
}

void Scenario::LetNoneBeLate() {
  if (file_sources == 1) disorder_ms = 0;  // watermarks of lines do not stay behind
  bound_ms = disorder_ms;
  silent = silent_source = 0;
}

std::string Scenario::DifferenceTo(const Scenario& other) const {
  std::vector<std::string> settings;
  for (const Knob& knob : Knobs()) {
    if (this->*knob.value != other.*knob.value) {
      settings.push_back(absl::StrCat(std::string(knob.name), "=", this->*knob.value));
    }
  }
  return absl::StrJoin(settings, ",");
}

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
  scenario.partitioners = random.Chance(0.75) ? 0 : random.Between(1, 2);
  const bool each_process_reads = catalogue[static_cast<std::size_t>(scenario.query)].each_process_reads;
  if (each_process_reads && scenario.executors == 1) scenario.partitioners = 0;  // they would be those of some nodes
  scenario.Fit();
  return scenario;
}

}  // namespace glaive::sim
