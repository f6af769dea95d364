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
                             {"feeds", &Scenario::feeds, 0, 0, 1},
                             {"records", &Scenario::records, 1, 0, kMost},
                             {"keys", &Scenario::keys, 1, 1, kMost},
                             {"keys-grow", &Scenario::keys_grow, 0, 0, 1},
                             {"keys-pass", &Scenario::keys_pass, 0, 0, 1},
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
                             {"heartbeats", &Scenario::heartbeats, 0, 0, 1},
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

engine::Roles Scenario::roles() const { return cluster().roles(); }

engine::ClusterOptions Scenario::cluster() const {
  engine::ClusterOptions options;
  options.nodes = static_cast<std::uint32_t>(nodes);
  options.executors = static_cast<std::uint32_t>(executors);
  if (partitioners > 0) {
    options.engine = engine::EngineChoice::kUpPar;
    options.partitioners = static_cast<std::uint32_t>(partitioners);
  }
  options.ingest = feeds == 1 ? engine::IngestChoice::kChannel : engine::IngestChoice::kDirect;
  options.arrival = immediates == 1 ? engine::ArrivalChoice::kImmediate : engine::ArrivalChoice::kPoll;
  return options;
}

void Scenario::Fit() {
  if ((nodes > 1 ? nodes : executors) % 2 != 0) feeds = 0;
  partitioners = std::min<std::int64_t>(partitioners, cluster().group() - 1);
  // The message about a silence, or about its end, reaches the fed executor later, and records become late meanwhile.
  if (feeds == 1 && partitioners == 0) silent = silent_source = 0;
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
  if (file_sources == 1) silent = silent_source = skips = heartbeats = 0;  // a file is never silent
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

}  // namespace glaive::sim
