// What the queries of the catalogue have in common.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "tests/sim/aggregate_oracle.h"
#include "tests/sim/catalogue.h"
#include "tests/sim/queries/keys.h"

namespace glaive::sim {

using engine::From;

/// The first source's records.
inline auto FirstOfAll(const QueryParts& parts) { return From(parts.flows.Source(0)); }
inline auto SecondOfAll(const QueryParts& parts) { return From(parts.flows.Source(1)); }

inline absl::Duration Millis(std::int64_t count) { return absl::Milliseconds(count); }

/// A windowed stream with the run's lateness and late records.
template <typename Windowed>
auto Judged(Windowed windowed, const QueryParts& parts) {
  return std::move(windowed).AllowedLateness(Millis(parts.lateness_ms)).LateTo(StoreLate{parts.rows});
}

/// A window, as the engine and as the oracle have it.
template <typename W>
struct WindowKind {
  std::string_view name;
  W window;
  std::function<Groups(const std::vector<Seen>&, const KeyFunction&, std::vector<Event>& late)> group;
};

inline WindowKind<engine::Tumbling> TumblingOf(std::int64_t size_ms) {
  return {"tumbling", {Millis(size_ms)}, [=](const auto& seen, const KeyFunction& key_of, std::vector<Event>& late) {
            return GroupByWindows(seen, size_ms, size_ms, key_of, late);
          }};
}
inline WindowKind<engine::Sliding> SlidingOf(std::int64_t size_ms, std::int64_t slide_ms) {
  return {"sliding",
          {Millis(size_ms), Millis(slide_ms)},
          [=](const auto& seen, const KeyFunction& key_of, std::vector<Event>& late) {
            return GroupByWindows(seen, size_ms, slide_ms, key_of, late);
          }};
}
inline WindowKind<engine::Session> SessionOf(std::int64_t gap_ms) {
  return {"session", {Millis(gap_ms)}, [=](const auto& seen, const KeyFunction& key_of, std::vector<Event>& late) {
            return GroupBySessions(seen, gap_ms, key_of, late);
          }};
}
/// `every_ms` 0: at the end.
inline WindowKind<engine::Unbounded> UnboundedOf(std::int64_t every_ms) {
  return {every_ms == 0 ? "unbounded" : "as-of",
          {every_ms == 0 ? absl::InfiniteDuration() : Millis(every_ms)},
          [=](const auto& seen, const KeyFunction& key_of, std::vector<Event>& /*late*/) {
            return GroupUnbounded(seen, every_ms, key_of);
          }};
}

/// The key by which a stage takes in results of the one before it. The simulation counts the calls of a turn: see
/// SinkListener::OnHandedOn.
template <typename Key>
auto HandedOnBy(Key key, const QueryParts& parts) {
  return [key, listener = &parts.rows->listener()](const auto& result) {
    listener->OnHandedOn();
    return key(result);
  };
}

/// One more stage of the oracle: nothing is late for it.
template <typename W>
Groups Regrouped(const std::vector<Seen>& results, const WindowKind<W>& window, const KeyFunction& key_of) {
  std::vector<Event> none_late;
  return window.group(results, key_of, none_late);
}

/// A window's sum of amounts, as the engine and as the oracle has it.
using Summed = engine::WindowResult<std::uint64_t, absl::int128>;
/// A sum that needs more than 64 bits becomes the least number, which no sum here is.
inline std::int64_t ValueOf(const Summed& row) {
  const auto value = static_cast<std::int64_t>(row.value);
  return row.value == value ? value : std::numeric_limits<std::int64_t>::min();
}
inline std::int64_t PlainSum(const std::vector<Event>& events) {
  std::int64_t sum = 0;
  for (const Event& event : events) sum += event.amount;
  return sum;
}

inline KeyFunction Modulo(std::uint64_t keys) {
  return [keys](const Event& event) { return event.key % keys; };
}

/// A stream by a key of type K; AllRecords: by none.
template <typename K, typename S>
auto Keyed(S stream) {
  if constexpr (std::same_as<K, engine::AllRecords>) {
    return stream;
  } else if constexpr (std::same_as<K, std::uint64_t>) {
    return std::move(stream).KeyBy(&Event::key);
  } else {
    return std::move(stream).KeyBy(&KeyAs<K>);
  }
}

/// A query of the first source without a stage: `rows` makes of its input what the query has to write.
inline CatalogueEntry WithoutStage(std::string_view name,
                                   std::function<std::unique_ptr<engine::Query>(const QueryParts&)> build,
                                   std::function<std::vector<std::string>(const Input&)> rows) {
  return {.name = name,
          .window = "",
          .aggregates = {},
          .join = "",
          .shape = "no stage",
          .rows_wait_for = RowsWaitFor::kNothing,
          .compares_flows = false,
          .build = std::move(build),
          .expect = [rows = std::move(rows)](const Input& input) { return Expected{.rows = rows(input), .late = {}}; }};
}

/// An entry with the operators that it has.
inline CatalogueEntry Having(std::vector<std::string_view> operators, CatalogueEntry entry) {
  entry.operators = std::move(operators);
  return entry;
}

/// A record as a row, of a window of its own, as a query makes it and as the oracle writes it.
using RecordRow = engine::WindowResult<std::uint64_t, std::int64_t>;
inline RecordRow RecordRowOf(const Event& event) {
  return {.window_start_ms = event.time_ms,
          .window_end_ms = event.time_ms + 1,
          .key = event.key,
          .value = event.amount * 2 + 1};
}
inline std::string RecordRowText(const Event& event) {
  return RowText({.start_ms = event.time_ms, .end_ms = event.time_ms + 1, .key = event.key}, PlainText(event.key),
                 absl::StrCat(event.amount * 2 + 1));
}

inline bool IsEven(const Event& event) { return event.amount % 2 == 0; }

/// A number as a row, in a window that says nothing.
inline RecordRow NumberRowOf(std::uint64_t number) {
  return {.key = number, .value = static_cast<std::int64_t>(number % 1'000)};
}
inline std::string NumberRowText(std::uint64_t number) {
  return RowText({}, PlainText(number), absl::StrCat(number % 1'000));
}

using ShowEvents = std::string (*)(const std::vector<Event>&);

/// An aggregate of the first source's records. `shown` names the aggregates that its rows have.
template <typename K = std::uint64_t, typename W, typename A>
CatalogueEntry Aggregated(std::string_view name, const WindowKind<W>& kind, const A& aggregate,
                          const std::vector<std::string_view>& shown, ShowEvents show) {
  const KeyOracle key = KeyOracleOf<K>();
  return {.name = name,
          .window = kind.name,
          .aggregates = shown,
          .join = "",
          .key = key.name,
          .has_few_rows = key.name == "none" && kind.name == "unbounded",
          .build =
              [window = kind.window, aggregate](const QueryParts& parts) {
                return Judged(Keyed<K>(FirstOfAll(parts)).Window(window), parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [group = kind.group, key, show](const Input& input) {
                std::vector<Event> late;
                const Groups groups = group(Read(input, 0), key.key_of, late);
                return Expected{.rows = RowsOf(groups, show, key.text), .late = LateRowsOf(late)};
              }};
}

}  // namespace glaive::sim
