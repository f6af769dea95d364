// Random graphs of exchanges, unions, copies, windows and states of keys over two sources. The scenario's seed says
// which graph.
//
// Of each seed there are two graphs. In one no record is late, and each row is compared. In the other one flows fall
// silent, and which records are late depends on time. So its rows say of each record only that it was counted once, in
// a result or as a late record, on each way from its source to the end.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
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

enum class GraphStep : std::uint8_t {
  kShuffle,
  kPartition,
  kOnExecutors,
  kBroadcast,
  kStates,
  kTumble,
  kSlide,
  kCopy,
  kUnite,
};
constexpr std::uint64_t kGraphSteps = 9;

/// A step replaces the stream at `at`, or adds a copy of it, or unites it with the last stream.
struct GraphMove {
  GraphStep kind;
  std::size_t at = 0;
  std::int64_t number = 0;  ///< executors, or a window's size in ms
  std::int64_t slides = 1;  ///< in a window's size
};

/// Which records are late for some of their windows would change sums, so a graph that falls silent does not slide.
enum class Silence : std::uint8_t { kNever, kOften };

/// Begins with two streams, and never has more than four.
std::vector<GraphMove> DrawGraph(std::uint64_t seed, Silence silence) {
  constexpr int kMostSteps = 7;
  constexpr int kMostWindows = 2;
  constexpr std::size_t kMostStreams = 4;
  Random random(seed, Purpose::kGraph);
  std::vector<GraphMove> steps;
  std::size_t streams = 2;
  int windows = 0;
  bool has_copied_records = false;  // once, as each executor has all of them then
  const std::int64_t wanted = random.Between(1, kMostSteps);
  while (std::ssize(steps) < wanted) {
    auto kind = static_cast<GraphStep>(random.Below(kGraphSteps));
    if (kind == GraphStep::kSlide && silence == Silence::kOften) kind = GraphStep::kTumble;
    const bool is_window = kind == GraphStep::kTumble || kind == GraphStep::kSlide;
    GraphMove step{.kind = kind, .at = static_cast<std::size_t>(random.Below(streams))};
    if (kind == GraphStep::kOnExecutors) step.number = random.Between(1, 3);
    if (kind == GraphStep::kSlide) step.slides = random.Between(2, 4);
    if (is_window) step.number = random.Between(50, 500) * 4 / step.slides * step.slides;
    if (is_window && ++windows > kMostWindows) continue;
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
Event SumAsEvent(std::uint64_t key, std::int64_t window_end_ms, std::int64_t sum) {
  return {.key = key, .time_ms = window_end_ms - 1, .amount = sum, .weight = 0, .kind = 0};
}

/// On how many ways a record of each stream in front of step `step` comes to the end: how often it is in its rows.
std::vector<std::size_t> WaysToTheEnd(const std::vector<GraphMove>& graph, std::size_t step, std::size_t executors) {
  std::size_t streams = 2;
  for (const GraphMove& move : graph) {
    streams += move.kind == GraphStep::kCopy ? 1 : 0;
    streams -= move.kind == GraphStep::kUnite ? 1 : 0;
  }
  std::vector<std::size_t> ways(streams, 1);
  for (std::size_t i = graph.size(); i-- > step;) {
    const GraphMove& move = graph[i];
    if (move.kind == GraphStep::kBroadcast) ways[move.at] *= executors;
    if (move.kind == GraphStep::kUnite) ways.push_back(ways[move.at]);
    if (move.kind == GraphStep::kCopy) {
      ways[move.at] += ways.back();
      ways.pop_back();
    }
  }
  return ways;
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

using GraphRow = WindowResult<std::uint64_t, std::int64_t>;

/// A record that stands for `value` records of its key, as lines of that key.
struct KeysOfRecords {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const GraphRow& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), static_cast<std::size_t>(row.value), PlainText(row.key));
  }
};
/// A late record likewise, on each of its ways.
struct KeysOfLateRecords {
  static constexpr RowKind kKind = RowKind::kLateRecord;
  void operator()(const LateRecord<Event>& late, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), ways * static_cast<std::size_t>(late.record.amount),
                       PlainText(late.record.key));
  }

  std::size_t ways = 0;
};

/// Sums of amounts by key. Of a source's records some may be late, results are not.
template <typename W>
AnyStream SummedStream(const AnyStream& stream, const W& window, const QueryParts& parts, std::size_t ways) {
  return MovedStream(stream, [&](auto records) {
    auto windowed = std::move(records).KeyBy(&Event::key).Window(window);
    const auto sums = [](auto judged) {
      return std::move(judged).Aggregate(Sum{&Event::amount}).Map([](const Summed& row) {
        return SumAsEvent(row.key, row.window_end_ms, ValueOf(row));
      });
    };
    if constexpr (decltype(records)::Origin::kFromSource) {
      return sums(std::move(windowed)
                      .AllowedLateness(Millis(parts.lateness_ms))
                      .LateTo(StoreAs<KeysOfLateRecords>{parts.rows, {ways}}));
    } else {
      return sums(std::move(windowed));
    }
  });
}

/// The key that a state has belonged to, if it has.
struct OwnerOfState {
  std::uint64_t key = 0;
  std::uint64_t is_owned = 0;
};
/// Spoils a record that meets the state of another key.
Event MeetState(OwnerOfState& state, Event event) {
  if (state.is_owned == 1 && state.key != event.key) event.amount += 1'000'000;
  state = {.key = event.key, .is_owned = 1};
  return event;
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

/// The graph's step `number` on the engine's streams.
void TakeMove(const QueryParts& parts, const std::vector<GraphMove>& graph, std::size_t number,
              std::vector<AnyStream>& streams) {
  const GraphMove& step = graph[number];
  AnyStream& stream = streams[step.at];
  const auto ways = [&] { return WaysToTheEnd(graph, number + 1, parts.flows.input->executors)[step.at]; };
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
    case GraphStep::kStates:
      stream = MovedStream(stream, [](auto records) {
        return std::move(records).KeyBy(&Event::key).RichMap(OwnerOfState{}, &MeetState);
      });
      break;
    case GraphStep::kTumble:
      stream = SummedStream(stream, Tumbling{Millis(step.number)}, parts, ways());
      break;
    case GraphStep::kSlide:
      stream = SummedStream(stream, Sliding{Millis(step.number), Millis(step.number / step.slides)}, parts, ways());
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

/// The rows of the graph's end. `first` and `second` are its sources.
auto GraphRows(const QueryParts& parts, Silence silence, const AnyStream& first, const AnyStream& second) {
  std::vector<AnyStream> streams = {first, second};
  const std::vector<GraphMove> graph = DrawGraph(parts.graph_seed, silence);
  for (std::size_t step = 0; step < graph.size(); ++step) TakeMove(parts, graph, step, streams);
  const AnyStream all = streams.size() == 1 ? streams.front() : UnitedStreams(streams);
  return StreamOf<false, true, Event>(all.vertex).Map([](const Event& event) {
    return GraphRow{
        .window_start_ms = event.time_ms, .window_end_ms = event.time_ms + 1, .key = event.key, .value = event.amount};
  });
}

std::unique_ptr<Query> BuildGraph(const QueryParts& parts) {
  return GraphRows(parts, Silence::kNever, AsAnyStream(FirstOfAll(parts)), AsAnyStream(SecondOfAll(parts)))
      .To(StoreRows{parts.rows});
}

/// Each record stands for itself.
Event AsOne(Event event) {
  event.amount = 1;
  return event;
}
std::unique_ptr<Query> BuildSilentGraph(const QueryParts& parts) {
  return GraphRows(parts, Silence::kOften, AsAnyStream(FirstOfAll(parts).Map(&AsOne)),
                   AsAnyStream(SecondOfAll(parts).Map(&AsOne)))
      .To(StoreAs<KeysOfRecords>{parts.rows});
}

// ---- as a sequential run has it -------------------------------------------------------------------------------------

std::vector<Event> SummedInOrder(const std::vector<Event>& events, std::int64_t size_ms, std::int64_t slides) {
  const std::int64_t slide_ms = size_ms / slides;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t> sums;
  for (const Event& event : events) {
    const std::int64_t last_start_ms = event.time_ms - ((event.time_ms % slide_ms + slide_ms) % slide_ms);
    for (std::int64_t i = 0; i < slides; ++i) {
      sums[{last_start_ms - i * slide_ms + size_ms, event.key}] += event.amount;
    }
  }
  std::vector<Event> rows;
  for (const auto& [window, sum] : sums) rows.push_back(SumAsEvent(window.second, window.first, sum));
  return rows;
}

Expected ExpectOfGraph(const Input& input) {
  std::vector<std::vector<Event>> streams;
  for (const std::size_t source : {0, 1}) {
    std::vector<Event>& events = streams.emplace_back();
    for (const Seen& seen : Read(input, source)) events.push_back(seen.event);
  }
  for (const GraphMove& step : DrawGraph(input.graph_seed, Silence::kNever)) {
    std::vector<Event>& events = streams[step.at];
    if (step.kind == GraphStep::kBroadcast) {
      const std::vector<Event> once = events;
      for (std::size_t copy = 1; copy < input.executors; ++copy) {
        events.insert(events.end(), once.begin(), once.end());
      }
    } else if (step.kind == GraphStep::kTumble || step.kind == GraphStep::kSlide) {
      events = SummedInOrder(events, step.number, step.slides);
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

Expected ExpectOfSilentGraph(const Input& input) {
  const std::vector<std::size_t> ways = WaysToTheEnd(DrawGraph(input.graph_seed, Silence::kOften), 0, input.executors);
  Expected expected;
  for (const std::size_t source : {0, 1}) {
    for (const Seen& seen : Read(input, source)) {
      expected.rows.insert(expected.rows.end(), ways[source], PlainText(seen.event.key));
    }
  }
  return expected;
}

CatalogueEntry Graph(std::string_view name, std::int64_t share, Silence silence,
                     std::function<std::unique_ptr<Query>(const QueryParts&)> build,
                     std::function<Expected(const Input&)> expect) {
  return {.name = name,
          .window = "",
          .aggregates = {},
          .join = "",
          .shape = "a random graph",
          .sources = 2,
          .share = share,
          .rows_wait_for = RowsWaitFor::kNothing,
          .compares_flows = false,
          .unites_sources = true,
          .counts_records = silence == Silence::kOften,
          .none_is_late = silence == Silence::kNever,
          .build = std::move(build),
          .expect = std::move(expect)};
}

}  // namespace

std::vector<CatalogueEntry> GraphQueries() {
  return {
      Graph("a random graph of exchanges, unions, copies, windows and states", 12, Silence::kNever, BuildGraph,
            ExpectOfGraph),
      Graph("a random graph that falls silent, counted", 6, Silence::kOften, BuildSilentGraph, ExpectOfSilentGraph)};
}

}  // namespace glaive::sim
