// The catalogue: the queries that simulations draw from, each with what a sequential run would show.
//
// A query is built on each simulated node, from the same flows; what it shows is told by the oracle (oracle.h), which
// knows nothing of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/executor/query.h"
#include "tests/sim/event.h"
#include "tests/sim/flows_of.h"
#include "tests/sim/oracle.h"
#include "tests/sim/row_store.h"

namespace glaive::sim {

/// What a query is made of on a node.
struct QueryParts {
  FlowsOf flows;
  RowStore* rows = nullptr;
  std::int64_t lateness_ms = 0;
  std::uint64_t graph_seed = 0;  ///< which random graph; see Input
};

/// What a query's rows wait for.
enum class RowsWaitFor : std::uint8_t {
  kInput,     ///< that its flows have passed their window, and the lateness that is allowed
  kStages,    ///< likewise, but windows are of results of stages before, or of records that have moved
  kNothing,   ///< pairs of unwindowed joins, and records that reach a sink without a window
  kOwnTimes,  ///< flows whose watermarks the query makes itself, which the simulation does not know
};

struct CatalogueEntry {
  std::string_view name;
  std::string_view window;                   ///< of its first stage: "tumbling", ...; "" without a stage
  std::vector<std::string_view> aggregates;  ///< of its first stage: "count", ...; none for a join
  std::string_view join;                     ///< "inner", "left", "full", "static" or ""
  std::string_view key = "8 bytes";          ///< of its first stage: "8 bytes", ... "none"
  std::string_view shape = "one stage";      ///< or "no stage", "two stages", ... "a join of joins"
  std::int64_t sources = 1;
  std::int64_t share = 1;  ///< how often it is drawn, beside the others
  RowsWaitFor rows_wait_for = RowsWaitFor::kInput;
  /// Whether it has a stage, which compares how far its flows have come. Else a flow may lead by any time.
  bool compares_flows = true;
  /// Whether the first stage takes in all sources as one stream.
  bool unites_sources = false;
  /// Whether each source has a first stage of its own, so that none waits for another.
  bool sources_apart = false;
  /// Where another source is joined with the first stage's results: by how much these stay behind their sources,
  /// without the lateness.
  std::int64_t results_delay_ms = 0;
  /// Likewise: how many sources the first stage has. They are the first ones.
  std::int64_t first_stage_sources = 1;
  /// Whether the rows say of each record only that it was counted once, as a result or as late, so that they are right
  /// whichever records are late: then the whole of the first source may fall silent.
  bool counts_records = false;
  /// Whether it needs an input of which no record is late, wherever it moves: watermarks stay behind by the disorder,
  /// and no flow is idle.
  bool none_is_late = false;
  /// Whether its sources are TimedSources. `expect` is given the flows that these have noted. No record is late, so the
  /// first source may fall silent, too.
  bool by_processing_time = false;
  /// Whether it reads the flows of the input. Else it makes its records itself.
  bool reads_flows = true;
  /// Whether each node has records of its own, so that one of its executors has to read.
  bool each_process_reads = false;
  /// Whether it has less than ten rows, however many records there are.
  bool has_few_rows = false;
  /// The operators that it has, of those that coverage.cc lists.
  std::vector<std::string_view> operators = {};
  /// Whether the simulation knows which flows rows wait for, and which sources the inputs of stages are.
  bool has_known_flows() const { return rows_wait_for == RowsWaitFor::kInput || rows_wait_for == RowsWaitFor::kStages; }
  bool inputs_are_sources() const {
    return rows_wait_for == RowsWaitFor::kInput || rows_wait_for == RowsWaitFor::kNothing;
  }

  std::function<std::unique_ptr<engine::Query>(const QueryParts&)> build;
  std::function<Expected(const Input&)> expect;
};

/// All of them. A scenario says which by its number, which changes when queries are added before it.
std::vector<CatalogueEntry> Catalogue();

// Its parts, one a source file.
std::vector<CatalogueEntry> TumblingQueries();
std::vector<CatalogueEntry> SlidingQueries();
std::vector<CatalogueEntry> SessionQueries();
std::vector<CatalogueEntry> UnboundedQueries();
std::vector<CatalogueEntry> KeyedQueries();
std::vector<CatalogueEntry> JoinQueries();
std::vector<CatalogueEntry> IntervalJoinQueries();
std::vector<CatalogueEntry> ShippedJoinQueries();
std::vector<CatalogueEntry> ArrivalOrderQueries();
std::vector<CatalogueEntry> StageQueries();
std::vector<CatalogueEntry> ChainedQueries();
std::vector<CatalogueEntry> CountingQueries();
std::vector<CatalogueEntry> ProcessingTimeQueries();
std::vector<CatalogueEntry> SinkQueries();
std::vector<CatalogueEntry> FlatMapQueries();
std::vector<CatalogueEntry> GeneratedQueries();
std::vector<CatalogueEntry> ExchangeQueries();
std::vector<CatalogueEntry> KeyedStateQueries();
std::vector<CatalogueEntry> OrderedWindowQueries();
std::vector<CatalogueEntry> GraphQueries();
std::vector<CatalogueEntry> TextQueries();
std::vector<CatalogueEntry> LoopQueries();

}  // namespace glaive::sim
