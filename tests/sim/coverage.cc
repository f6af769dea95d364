#include "tests/sim/coverage.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "engine/api/wrong_order.h"
#include "tests/sim/line_files.h"

namespace glaive::sim {
namespace {

void PrintCounts(std::ostream& out, std::string_view title, const std::map<std::string, std::uint64_t>& counts) {
  out << title << ":";
  const char* separator = " ";
  for (const auto& [name, count] : counts) out << std::exchange(separator, ", ") << name << " " << count;
  out << "\n";
}

/// The windows, aggregates, joins, keys, shapes and operators that a catalogue must have.
constexpr std::string_view kWindows[] = {"tumbling", "sliding", "session", "unbounded", "as-of"};
constexpr std::string_view kAggregates[] = {"count",    "sum",   "exact-sum", "min", "max",     "mean",
                                            "variance", "first", "last",      "top", "distinct"};
constexpr std::string_view kJoins[] = {"inner", "left", "full", "semi", "anti"};
constexpr std::string_view kKeys[] = {
    "1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes", "40 bytes", "a struct", "a text", "a struct with a text"};
constexpr std::string_view kShapes[] = {"no stage",    "one stage",   "two stages",      "three stages",
                                        "four stages", "five stages", "a join of joins", "a random graph"};

/// Its operators: all steps of streams, those with a state also by key, and the others by hand.
#define GLAIVE_SIM_NAME(name, unused) std::string_view(#name),
#define GLAIVE_SIM_NAME_BY_KEY(name, unused) std::string_view(#name " by key"),
constexpr std::string_view kOperators[] = {GLAIVE_STREAM_STEPS(GLAIVE_SIM_NAME, )
                                               GLAIVE_STEPS_WITH_STATE(GLAIVE_SIM_NAME_BY_KEY, )  // a comma behind each
                                           "Split",
                                           "JoinTable",
                                           "Union",
                                           "Within",
                                           "Ship",
                                           "Local",
                                           "Zip",
                                           "Replay",
                                           "Iterate",
                                           "Partition",
                                           "Unkey",
                                           "DropKey",
                                           "ForEach",
                                           "CollectAll",
                                           "FromRange",
                                           "FromParallel",
                                           "FromQueue",
                                           "CountWindow",
                                           "Transaction",
                                           "Process"};
#undef GLAIVE_SIM_NAME_BY_KEY
#undef GLAIVE_SIM_NAME

/// Distinct counts are neither for sessions nor for results every so often.
bool GoTogether(std::string_view aggregate, std::string_view window) {
  return aggregate != "distinct" || (window != "session" && window != "as-of");
}

std::string PairName(std::string_view what, std::string_view window) {
  return absl::StrCat(std::string(window), " ", std::string(what));
}
std::string JoinName(std::string_view join, std::string_view window) {
  return absl::StrCat(PairName(join, window), " join");
}

void AddMissing(const std::map<std::string, std::uint64_t>& counts, std::vector<std::string>& missing) {
  for (const auto& [name, count] : counts) {
    if (count == 0) missing.push_back(name);
  }
}

}  // namespace

Coverage::Coverage(std::span<const CatalogueEntry> catalogue) : catalogue_(catalogue), queries_(catalogue.size()) {
  for (const std::string_view window : kWindows) {
    windows_[std::string(window)] = 0;
    for (const std::string_view aggregate : kAggregates) {
      if (GoTogether(aggregate, window)) aggregates_[PairName(aggregate, window)] = 0;
    }
    keys_[PairName("without a key", window)] = 0;
    if (window == "as-of") continue;  // rows of unwindowed joins wait for nothing
    for (const std::string_view join : kJoins) joins_[JoinName(join, window)] = 0;
  }
  joins_["with a table"] = 0;
  for (const std::string_view key : kKeys) keys_[std::string(key)] = 0;
  for (const std::string_view shape : kShapes) shapes_[std::string(shape)] = 0;
  for (const std::string_view each : kOperators) operators_[std::string(each)] = 0;
}

void Coverage::Add(const Scenario& scenario, const Outcome& outcome) {
  ++simulations_;
  failed_runs_ += outcome.has_failed ? 1 : 0;
  const std::array<Fault, kMostFaults> faults = scenario.faults();
  for (std::size_t i = 0; i < kMostFaults; ++i) {
    if (!outcome.has_struck[i]) continue;
    const std::size_t step = StrikesAnywhere(faults[i].kind) ? static_cast<std::size_t>(faults[i].step) : 0;
    ++struck_[static_cast<std::size_t>(faults[i].kind)][step];
  }
  const bool have_both_struck = outcome.has_struck[0] && outcome.has_struck[1];
  const auto harmless = std::ranges::count_if(faults, [](const Fault& each) { return IsHarmless(each.kind); });
  states_["a fatal fault and another"] += have_both_struck && harmless == 0 ? 1 : 0;
  states_["a fatal and a harmless fault"] += have_both_struck && harmless == 1 ? 1 : 0;
  states_["a harmless fault and another"] += have_both_struck && harmless == 2 ? 1 : 0;
  const bool has_rows = !outcome.has_failed && outcome.rows > 0;
  if (has_rows) AddQuery(scenario);
  for (std::size_t i = 0; i < kFileEndings.size(); ++i) {
    const bool is_first = scenario.file_sinks == 1 && scenario.first_ending == static_cast<std::int64_t>(i);
    states_[absl::StrCat("results in ", std::string(kFileEndings[i]), " files")] += is_first && has_rows ? 1 : 0;
  }
  states_["input from files"] += scenario.file_sources == 1 && has_rows ? 1 : 0;
  const bool by_processing_time = EntryOf(scenario).by_processing_time;
  const bool is_unwindowed_join = EntryOf(scenario).window == "unbounded" && !EntryOf(scenario).join.empty();
  const bool clocks_differ = scenario.nodes > 1 && scenario.one_host == 0 && scenario.skew_ms > 0;
  states_["windows by processing time that close in mid-run"] +=
      by_processing_time && has_rows && outcome.rows_before_the_end > 0 ? 1 : 0;
  states_["rows of joins without windows in mid-run"] +=
      is_unwindowed_join && has_rows && outcome.rows_before_the_end > 0 ? 1 : 0;
  states_["processing time by clocks that differ"] += by_processing_time && has_rows && clocks_differ ? 1 : 0;
  states_["late records"] += !outcome.has_failed && outcome.late_rows > 0 ? 1 : 0;
  states_["rows that a failed run has published"] += outcome.rows_of_failure > 0 ? 1 : 0;
  states_["late results"] += outcome.late_results > 0 ? 1 : 0;
  states_["torn writes"] += outcome.torn_writes > 0 ? 1 : 0;
  states_["late bytes over received messages"] += scenario.places_late_bytes() ? 1 : 0;
  states_["older counts of credits over newer ones"] += outcome.overwritten_counts > 0 ? 1 : 0;
  const bool relaxes_some = scenario.relaxed_nodes > 0 && scenario.relaxed_nodes < scenario.nodes;
  states_["relaxed ordering on some of the nodes"] += relaxes_some ? 1 : 0;
  states_["immediate values, bytes in any order"] += scenario.immediates == 1 && scenario.any_order == 1 ? 1 : 0;
  states_["waits for the rest of a message"] += outcome.placement_waits > 0 ? 1 : 0;
  states_["immediate values handed on"] += outcome.handed_on > 0 ? 1 : 0;
  states_["credit stalls"] += outcome.credit_stalls > 0 ? 1 : 0;
  states_["waits of exchanges"] += outcome.exchange_waits > 0 ? 1 : 0;
  states_["slow sinks"] += outcome.sink_waits > 0 ? 1 : 0;
  states_["slow sinks behind exchanges that wait"] += outcome.sink_waits > 0 && outcome.exchange_waits > 0 ? 1 : 0;
  states_["waits for segments"] += outcome.segment_waits > 0 ? 1 : 0;
  states_["records re-partitioned"] += scenario.partitioners > 0 && has_rows ? 1 : 0;
  states_["records streamed to other executors"] += scenario.roles().feeds() && has_rows ? 1 : 0;
  states_["folded records"] += outcome.folded_records > 0 ? 1 : 0;
  states_["appended records"] += outcome.appended_records > 0 ? 1 : 0;
  states_["switches to and from folding"] += outcome.fold_switches > 1 ? 1 : 0;
  states_["full combiners read out for newer keys"] += outcome.combiner_renewals > 0 ? 1 : 0;
  states_["indexes that grow"] += outcome.index_growths > 0 ? 1 : 0;
  states_["pages for growing indexes"] += outcome.index_touches > 0 ? 1 : 0;
  states_["tables opened ahead"] += outcome.opened_ahead > 0 ? 1 : 0;
  states_["pages for large tables"] += outcome.touched_bytes > 0 ? 1 : 0;
  states_["slices opened with cells"] += outcome.cell_slices > 0 ? 1 : 0;
  states_["logs moved to cells"] += outcome.cell_moves > 0 ? 1 : 0;
  states_["cells given up"] += outcome.unfit_cells > 0 ? 1 : 0;
  states_["entries without a cell"] += outcome.cell_overflows > 0 ? 1 : 0;
  states_["replaced forms"] += outcome.replaced_forms > 0 ? 1 : 0;
  states_["prefetched entries"] += outcome.prefetched_entries > 0 ? 1 : 0;
  states_["records folded ahead"] += outcome.folded_ahead > 0 ? 1 : 0;
  states_["split joins"] += outcome.split_slices > 0 ? 1 : 0;
  states_["rows past idle flows"] += outcome.rows_past_idle_flows > 0 ? 1 : 0;
  states_["idle flows"] += outcome.idle_periods > 0 ? 1 : 0;
  states_["laps beyond 255"] += outcome.most_laps > 255 ? 1 : 0;
}

void Coverage::AddQuery(const Scenario& scenario) {
  const CatalogueEntry& entry = EntryOf(scenario);
  ++queries_[static_cast<std::size_t>(scenario.query)];
  ++shapes_[std::string(entry.shape)];
  for (const std::string_view each : entry.operators) ++operators_[std::string(each)];
  if (entry.window.empty()) return;  // no stage
  ++windows_[std::string(entry.window)];
  for (const std::string_view aggregate : std::set(entry.aggregates.begin(), entry.aggregates.end())) {
    ++aggregates_[PairName(aggregate, entry.window)];
  }
  if (!entry.join.empty()) ++joins_[entry.join == "static" ? "with a table" : JoinName(entry.join, entry.window)];
  ++keys_[entry.key == "none" ? PairName("without a key", entry.window) : std::string(entry.key)];
}

void Coverage::Print(std::ostream& out) const {
  out << simulations_ << " simulations, of which " << failed_runs_ << " ended as a fault makes runs end\n";
  out << absl::StreamFormat("%-16s", "fault at step");
  for (const std::string_view step : kStepNames) out << absl::StreamFormat(" %10s", step);
  out << "\n";
  for (std::size_t kind = 1; kind < kFaultKinds; ++kind) {
    out << absl::StreamFormat("%-16s", kFaultNames[kind]);
    const std::size_t steps = StrikesAnywhere(static_cast<FaultKind>(kind)) ? kSteps : 1;
    for (std::size_t step = 0; step < steps; ++step) out << absl::StreamFormat(" %10d", struck_[kind][step]);
    out << (steps == 1 ? "  at a step of its own\n" : "\n");
  }
  PrintCounts(out, "windows", windows_);
  PrintCounts(out, "aggregates", aggregates_);
  PrintCounts(out, "joins", joins_);
  PrintCounts(out, "keys", keys_);
  PrintCounts(out, "shapes", shapes_);
  PrintCounts(out, "operators", operators_);
  PrintCounts(out, "simulations that met", states_);
}

std::vector<std::string> Coverage::Missing() const {
  std::vector<std::string> missing;
  for (std::size_t kind = 1; kind < kFaultKinds; ++kind) {
    const std::size_t steps = StrikesAnywhere(static_cast<FaultKind>(kind)) ? kSteps : 1;
    for (std::size_t step = 0; step < steps; ++step) {
      if (struck_[kind][step] != 0) continue;
      missing.push_back(absl::StrCat(std::string(kFaultNames[kind]),
                                     steps == 1 ? "" : absl::StrCat(" at ", std::string(kStepNames[step]))));
    }
  }
  for (std::size_t query = 0; query < queries_.size(); ++query) {
    if (queries_[query] == 0) missing.push_back(absl::StrCat("query '", std::string(catalogue_[query].name), "'"));
  }
  AddMissing(windows_, missing);
  AddMissing(aggregates_, missing);
  AddMissing(joins_, missing);
  AddMissing(keys_, missing);
  AddMissing(shapes_, missing);
  AddMissing(operators_, missing);
  AddMissing(states_, missing);
  return missing;
}

}  // namespace glaive::sim
