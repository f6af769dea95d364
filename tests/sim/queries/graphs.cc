// Random graphs of exchanges, unions, copies and windows over two sources. The scenario's seed says which graph.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/union.h"
#include "tests/sim/queries/query_parts.h"
#include "tests/sim/random.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

// ---- the graph ------------------------------------------------------------------------------------------------------

enum class GraphStep : std::uint8_t { kShuffle, kPartition, kOnExecutors, kBroadcast, kCount, kCopy, kUnite };

/// A step replaces the stream at `at`, or adds a copy of it, or unites it with the last stream.
struct GraphMove {
  GraphStep kind;
  std::size_t at = 0;
  std::int64_t number = 0;  ///< executors, or a window's size in ms
};

/// Begins with two streams, and never has more than four.
std::vector<GraphMove> DrawGraph(std::uint64_t seed) {
  constexpr int kMostSteps = 7;
  constexpr int kMostCounts = 2;
  constexpr std::size_t kMostStreams = 4;
  Random random(seed, Purpose::kGraph);
  std::vector<GraphMove> steps;
  std::size_t streams = 2;
  int counts = 0;
  bool has_copied_records = false;  // once, as each executor has all of them then
  const std::int64_t wanted = random.Between(1, kMostSteps);
  while (std::ssize(steps) < wanted) {
    const auto kind = static_cast<GraphStep>(random.Below(7));
    GraphMove step{.kind = kind, .at = static_cast<std::size_t>(random.Below(streams))};
    if (kind == GraphStep::kOnExecutors) step.number = random.Between(1, 3);
    if (kind == GraphStep::kCount) step.number = random.Between(200, 2'000);
    if (kind == GraphStep::kCount && ++counts > kMostCounts) continue;
    if (kind == GraphStep::kBroadcast && std::exchange(has_copied_records, true)) continue;
    if (kind == GraphStep::kCopy && streams == kMostStreams) continue;
    if (kind == GraphStep::kUnite && step.at + 1 == streams) continue;
    streams += kind == GraphStep::kCopy ? 1 : 0;
    streams -= kind == GraphStep::kUnite ? 1 : 0;
    steps.push_back(step);
  }
  return steps;
}

/// What becomes of a key's records in a window.
Event CountAsEvent(std::uint64_t key, std::int64_t window_end_ms, std::uint64_t count) {
  return {.key = key, .time_ms = window_end_ms - 1, .amount = static_cast<std::int64_t>(count), .weight = 0, .kind = 0};
}

// ---- as the engine has it -------------------------------------------------------------------------------------------

/// A stream of the graph, of whatever type.
struct AnyStream {
  std::shared_ptr<const ProducerVertex<TimedRecord<Event>>> vertex;
  bool is_of_source = true;
};

template <typename S>
AnyStream AsAnyStream(S stream) {
  return {.vertex = std::move(stream).Timed(), .is_of_source = S::Origin::kFromSource};
}

/// What `move(stream)` makes of it.
template <typename MoveFn>
AnyStream MovedStream(const AnyStream& stream, const MoveFn& move) {
  return stream.is_of_source ? AsAnyStream(move(StreamOf<true, true, Event>(stream.vertex)))
                             : AsAnyStream(move(StreamOf<false, true, Event>(stream.vertex)));
}

AnyStream CountedStream(const AnyStream& stream, std::int64_t size_ms) {
  return MovedStream(stream, [&](auto records) {
    return std::move(records)
        .KeyBy(&Event::key)
        .Window(Tumbling{Millis(size_ms)})
        .Aggregate(Count{})
        .Map([](const WindowResult<std::uint64_t, std::uint64_t>& row) {
          return CountAsEvent(row.key, row.window_end_ms, row.value);
        });
  });
}

AnyStream UnitedStreams(const std::vector<AnyStream>& streams) {
  std::vector<std::shared_ptr<const ProducerVertex<TimedRecord<Event>>>> vertices;
  bool has_source = false;
  bool has_results = false;
  for (const AnyStream& stream : streams) {
    vertices.push_back(stream.vertex);
    (stream.is_of_source ? has_source : has_results) = true;
  }
  return {.vertex = std::make_shared<const UnionVertex<TimedRecord<Event>>>(std::move(vertices),
                                                                            /*has_event_times=*/true, has_results),
          .is_of_source = has_source};
}

void TakeMove(const GraphMove& step, std::vector<AnyStream>& streams) {
  AnyStream& stream = streams[step.at];
  switch (step.kind) {
    case GraphStep::kShuffle:
      stream = MovedStream(stream, [](auto records) { return std::move(records).Shuffle(); });
      break;
    case GraphStep::kPartition:
      stream =
          MovedStream(stream, [](auto records) { return std::move(records).KeyBy(&Event::key).Partition().DropKey(); });
      break;
    case GraphStep::kOnExecutors:
      stream = MovedStream(stream, [&](auto records) {
        return std::move(records).OnExecutors(static_cast<std::uint32_t>(step.number));
      });
      break;
    case GraphStep::kBroadcast:
      stream = MovedStream(stream, [](auto records) { return std::move(records).Broadcast(); });
      break;
    case GraphStep::kCount:
      stream = CountedStream(stream, step.number);
      break;
    case GraphStep::kCopy:
      streams.push_back(AnyStream(stream));
      break;
    case GraphStep::kUnite:
      stream = UnitedStreams({stream, streams.back()});
      streams.pop_back();
      break;
  }
}

using GraphRow = WindowResult<std::uint64_t, std::int64_t>;

std::unique_ptr<Query> BuildGraph(const QueryParts& parts) {
  std::vector<AnyStream> streams = {AsAnyStream(FirstOfAll(parts)), AsAnyStream(SecondOfAll(parts))};
  for (const GraphMove& step : DrawGraph(parts.graph_seed)) TakeMove(step, streams);
  const AnyStream all = streams.size() == 1 ? streams.front() : UnitedStreams(streams);
  return StreamOf<false, true, Event>(all.vertex)
      .Map([](const Event& event) {
        return GraphRow{.window_start_ms = event.time_ms,
                        .window_end_ms = event.time_ms + 1,
                        .key = event.key,
                        .value = event.amount};
      })
      .To(StoreRows{parts.rows});
}

// ---- as a sequential run has it -------------------------------------------------------------------------------------

std::vector<Event> CountedInOrder(const std::vector<Event>& events, std::int64_t size_ms) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;
  for (const Event& event : events) {
    const std::int64_t start_ms = event.time_ms - ((event.time_ms % size_ms + size_ms) % size_ms);
    ++counts[{start_ms + size_ms, event.key}];
  }
  std::vector<Event> rows;
  for (const auto& [window, count] : counts) rows.push_back(CountAsEvent(window.second, window.first, count));
  return rows;
}

Expected ExpectOfGraph(const Input& input) {
  std::vector<std::vector<Event>> streams;
  for (const std::size_t source : {0, 1}) {
    std::vector<Event>& events = streams.emplace_back();
    for (const Seen& seen : Read(input, source)) events.push_back(seen.event);
  }
  for (const GraphMove& step : DrawGraph(input.graph_seed)) {
    std::vector<Event>& events = streams[step.at];
    if (step.kind == GraphStep::kBroadcast) {
      const std::vector<Event> once = events;
      for (std::size_t copy = 1; copy < input.sources[0].size(); ++copy) {
        events.insert(events.end(), once.begin(), once.end());
      }
    } else if (step.kind == GraphStep::kCount) {
      events = CountedInOrder(events, step.number);
    } else if (step.kind == GraphStep::kCopy) {
      streams.push_back(std::vector<Event>(events));
    } else if (step.kind == GraphStep::kUnite) {
      events.insert(events.end(), streams.back().begin(), streams.back().end());
      streams.pop_back();
    }
  }
  Expected expected;
  for (const std::vector<Event>& events : streams) {
    for (const Event& event : events) {
      expected.rows.push_back(RowText({.start_ms = event.time_ms, .end_ms = event.time_ms + 1, .key = event.key},
                                      PlainText(event.key), absl::StrCat(event.amount)));
    }
  }
  return expected;
}

}  // namespace

std::vector<CatalogueEntry> GraphQueries() {
  return {{.name = "a random graph of exchanges, unions, copies and counts",
           .window = "",
           .aggregates = {},
           .join = "",
           .shape = "a random graph",
           .sources = 2,
           .share = 12,
           .rows_wait_for = RowsWaitFor::kNothing,
           .compares_flows = false,
           .unites_sources = true,
           .none_is_late = true,
           .build = BuildGraph,
           .expect = ExpectOfGraph}};
}

}  // namespace glaive::sim
