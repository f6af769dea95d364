// Streams whose records move to other executors. Behind an exchange, which records are late depends on how far the
// executors had come when their records met. So rows of windows say of each record only that it was counted once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/union.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kMovedMs = 450;
constexpr std::int64_t kMovedTotalMs = 1'800;

std::string MovedLine(const Event& event) {
  const std::int64_t start_ms = event.time_ms - ((event.time_ms % kMovedMs + kMovedMs) % kMovedMs);
  return absl::StrCat("[", start_ms, ", ", start_ms + kMovedMs, ") ", event.key);
}

/// Adds a result's line as often as it has counted records.
struct MovedCounts {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const WindowResult<std::uint64_t, std::uint64_t>& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), row.value,
                       absl::StrCat("[", row.window_start_ms, ", ", row.window_end_ms, ") ", row.key));
  }
};
struct MovedLate {
  static constexpr RowKind kKind = RowKind::kLateRecord;
  void operator()(const LateRecord<Event>& late, StoredRows& stored) const {
    stored.rows.push_back(MovedLine(late.record));
  }
};

/// Windows of what `move` makes of the sources: a stream by the key of its events.
template <typename MoveFn>
CatalogueEntry MovedAndCounted(std::string_view name, std::int64_t sources, const MoveFn& move,
                               RowsWaitFor rows_wait_for = RowsWaitFor::kInput) {
  return {.name = name,
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .sources = sources,
          .share = 2,
          .rows_wait_for = rows_wait_for,
          .compares_flows = false,
          .unites_sources = true,
          .counts_records = true,
          .build =
              [move](const QueryParts& parts) {
                return move(parts)
                    .Window(Tumbling{Millis(kMovedMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreAs<MovedLate>{parts.rows})
                    .Aggregate(Count{})
                    .To(StoreAs<MovedCounts>{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<std::string> lines;
                for (std::size_t source = 0; source < input.sources.size(); ++source) {
                  for (const Seen& seen : Read(input, source)) lines.push_back(MovedLine(seen.event));
                }
                return Expected{.rows = std::move(lines), .late = {}};
              }};
}

constexpr std::int64_t kMovedJoinMs = 600;

constexpr std::int64_t kLaterMs = 2 * kMovedJoinMs;

/// A join of two streams that `move` makes of the first source: an exchange waits for credit of an executor that waits
/// for the other stream, which the same fiber reads. `right_later_ms`: what `move` adds to the right one's event times.
template <typename MoveFn>
CatalogueEntry MovedAndJoined(std::string_view name, bool compares_flows, const MoveFn& move,
                              bool (*is_left)(const Event&), bool (*is_right)(const Event&),
                              std::int64_t right_later_ms = 0) {
  return {.name = name,
          .window = "tumbling",
          .aggregates = {},
          .join = "inner",
          .share = 2,
          .rows_wait_for = right_later_ms == 0 ? RowsWaitFor::kInput : RowsWaitFor::kOwnTimes,
          .compares_flows = compares_flows,
          .none_is_late = true,
          .build =
              [move](const QueryParts& parts) {
                auto [left, right] = move(FirstOfAll(parts));
                return Join(std::move(left), std::move(right))
                    .On(&Event::key, &Event::key)
                    .Window(Tumbling{Millis(kMovedJoinMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Seen> left;
                std::vector<Seen> right;
                for (const Seen& seen : Read(input, 0)) {
                  if (is_left(seen.event)) left.push_back(seen);
                  if (!is_right(seen.event)) continue;
                  right.push_back(seen);
                  right.back().event.time_ms += right_later_ms;
                }
                std::vector<Event> none_late;
                const auto pairs =
                    PairsOf(GroupByWindows(left, kMovedJoinMs, kMovedJoinMs, KeyOf, none_late),
                            GroupByWindows(right, kMovedJoinMs, kMovedJoinMs, KeyOf, none_late), false, false);
                return Expected{.rows = PairRows(pairs), .late = {}};
              }};
}

/// A record with texts, of which the longer ones lie elsewhere in a message.
struct NamedEvent {
  Text name;
  Text other;
  std::uint64_t key;
  std::int64_t time_ms;
  std::int64_t amount;
};
GLAIVE_RECORD(NamedEvent, name, other, key, time_ms, amount)

NamedEvent Named(const Event& event) {
  return {.name = KeyAs<Text>(event),
          .other = engine::KeyOf<Text>(static_cast<std::uint64_t>(event.amount) % kKeysOfText),
          .key = event.key,
          .time_ms = event.time_ms,
          .amount = event.amount};
}

/// Rows of records that move with their texts: what each text says.
CatalogueEntry MovedTexts() {
  using NamedRow = WindowResult<Text, Text>;
  return WithoutStage(
      "records with texts, spread in turn",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .Map(&Named)
            .Shuffle()
            .Map([](const NamedEvent& event) {
              return NamedRow{.window_start_ms = event.time_ms,
                              .window_end_ms = event.time_ms + 1,
                              .key = event.name,
                              .value = event.other};
            })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (const Seen& seen : Read(input, 0)) {
          const Event& event = seen.event;
          rows.push_back(RowText({.start_ms = event.time_ms, .end_ms = event.time_ms + 1, .key = event.key},
                                 TextOfNumber(event.key % kKeysOfText),
                                 TextOfNumber(static_cast<std::uint64_t>(event.amount) % kKeysOfText)));
        }
        return rows;
      });
}

bool IsAny(const Event& /*event*/) { return true; }
bool IsOdd(const Event& event) { return !IsEven(event); }

/// Rows without a window of what `move` makes of the first source, each as often as there are copies for so many
/// executors.
template <typename MoveFn>
CatalogueEntry MovedRows(std::string_view name, const MoveFn& move, std::size_t (*copies)(std::size_t executors)) {
  return WithoutStage(
      name, [move](const QueryParts& parts) { return move(parts).Map(&RecordRowOf).To(StoreRows{parts.rows}); },
      [copies](const Input& input) {
        std::vector<std::string> rows;
        for (const Seen& seen : Read(input, 0)) {
          rows.insert(rows.end(), copies(input.executors), RecordRowText(seen.event));
        }
        return rows;
      });
}

/// The first of all records. Which ones depends on how fast executors read, so the rows do not say.
constexpr std::uint64_t kLimit = 25;
CatalogueEntry LimitedRows() {
  return WithoutStage(
      "the first records of all",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .Limit(kLimit)
            .Map([](const Event& /*event*/) { return RecordRow{}; })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        const std::size_t count = std::min<std::size_t>(kLimit, Read(input, 0).size());
        return std::vector<std::string>(count, RowText({}, PlainText(0), "0"));
      });
}

/// Results that move between two stages.
CatalogueEntry MovedResults() {
  return {.name = "sums, spread in turn, counted",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .compares_flows = false,
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kMovedMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .Shuffle()
                    .KeyBy([](const Summed& row) { return row.key % 5; })
                    .Window(Tumbling{Millis(kMovedTotalMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups sums = GroupByWindows(Read(input, 0), kMovedMs, kMovedMs, KeyOf, late);
                const Groups counts = Regrouped(ResultsOf(sums, PlainSum), TumblingOf(kMovedTotalMs), Modulo(5));
                return Expected{.rows = RowsOf(counts, CountOf), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry JoinedLater() {
  constexpr std::int64_t kBoundMs = 3'600'000;  // more than records are out of order
  return MovedAndJoined(
      "a stream joined with its own copy, whose event times are later", /*compares_flows=*/true,
      [](const auto& stream) {
        return std::pair(stream, std::decay_t<decltype(stream)>(stream).WithEventTime(
                                     [](const Event& event) { return event.time_ms + kLaterMs; }, Millis(kBoundMs)));
      },
      &IsAny, &IsAny, kLaterMs);
}

}  // namespace

std::vector<CatalogueEntry> ExchangeQueries() {
  return {
      Having({"Shuffle"},
             MovedAndCounted("records spread in turn, counted", 1,
                             [](const QueryParts& parts) { return FirstOfAll(parts).Shuffle().KeyBy(&Event::key); })),
      Having({"OnExecutors"}, MovedAndCounted("records at one executor, counted", 1,
                                              [](const QueryParts& parts) {
                                                return FirstOfAll(parts).OnExecutors(1).KeyBy(&Event::key);
                                              })),
      Having({"Union"}, MovedAndCounted("two sources, one of them spread in turn, united and partitioned, counted", 2,
                                        [](const QueryParts& parts) {
                                          return Union(FirstOfAll(parts).Shuffle(), SecondOfAll(parts))
                                              .KeyBy(&Event::key)
                                              .Partition()
                                              .DropKey()
                                              .KeyBy(&Event::key);
                                        })),
      Having({"Partition"},
             MovedAndCounted("records by key, counted where they come together", 1,
                             [](const QueryParts& parts) { return FirstOfAll(parts).KeyBy(&Event::key).Partition(); })),
      Having({"WithEventTime"}, MovedAndCounted(
                                    "records of few keys, partitioned, with event times of their own, counted", 1,
                                    [](const QueryParts& parts) {
                                      return FirstOfAll(parts)
                                          .KeyBy([](const Event& event) { return event.key % 2; })
                                          .Partition()
                                          .DropKey()
                                          .WithEventTime(&Event::time_ms, Millis(150))
                                          .KeyBy(&Event::key);
                                    },
                                    RowsWaitFor::kOwnTimes)),
      MovedAndCounted("records through the states of their keys, counted", 1,
                      [](const QueryParts& parts) {
                        return FirstOfAll(parts)
                            .KeyBy(&Event::key)
                            .RichMap(std::uint64_t{0},
                                     [](std::uint64_t& count, const Event& event) {
                                       ++count;
                                       return event;
                                     })
                            .KeyBy(&Event::key);
                      }),
      Having({"Partition", "DropKey"},
             MovedRows(
                 "records by key, without a window",
                 [](const QueryParts& parts) { return FirstOfAll(parts).KeyBy(&Event::key).Partition().DropKey(); },
                 [](std::size_t /*executors*/) { return std::size_t{1}; })),
      Having({"Broadcast"},
             MovedRows(
                 "records at all executors", [](const QueryParts& parts) { return FirstOfAll(parts).Broadcast(); },
                 [](std::size_t executors) { return executors; })),
      MovedResults(),
      Having({"Shuffle"}, MovedTexts()),
      Having({"Limit"}, LimitedRows()),
      MovedAndJoined(
          "a stream joined with its own copy, spread in turn", /*compares_flows=*/true,
          [](const auto& stream) { return std::pair(std::decay_t<decltype(stream)>(stream).Shuffle(), stream); },
          &IsAny, &IsAny),
      MovedAndJoined(
          "a stream split, partitioned and joined", /*compares_flows=*/false,
          [](const auto& stream) {
            auto [even, odd] = stream.Split(&IsEven, &IsOdd);
            return std::pair(std::move(even).KeyBy(&Event::key).Partition().DropKey(),
                             std::move(odd).KeyBy(&Event::key).Partition().DropKey());
          },
          &IsEven, &IsOdd),
      Having({"WithEventTime"}, JoinedLater())};
}

}  // namespace glaive::sim
