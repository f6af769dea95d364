#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kFirstMs = 500;
constexpr std::int64_t kSecondMs = 2'000;
constexpr std::int64_t kStageGapMs = 150;

/// The window of the second stage that a result of `first` falls into, for a key.
WindowKey SecondWindow(const WindowKey& first, std::uint64_t key) {
  std::int64_t start_ms = ((first.end_ms - 1) / kSecondMs - 1) * kSecondMs;
  while (start_ms + kSecondMs <= first.end_ms - 1) start_ms += kSecondMs;
  return {start_ms, start_ms + kSecondMs, key};
}

bool IsOfKind0(const Event& event) { return event.kind == 0; }
bool IsOfKind1(const Event& event) { return event.kind == 1; }

/// The counts of a stream's keys.
template <typename S>
auto CountsAndLateOf(S stream, const QueryParts& parts) {
  return Judged(std::move(stream).KeyBy(&Event::key).Window(Tumbling{Millis(kFirstMs)}), parts).Aggregate(Count{});
}
using Counted = WindowResult<std::uint64_t, std::uint64_t>;

Groups Counts(const std::vector<Seen>& seen, std::vector<Event>& late) {
  return GroupByWindows(seen, kFirstMs, kFirstMs, KeyOf, late);
}

/// By window of the second stage and its key.
using Totals = std::map<WindowKey, std::int64_t>;
std::vector<std::string> RowsOfTotals(const Totals& totals, bool keyless = false) {
  std::vector<std::string> rows;
  for (const auto& [window, value] : totals) {
    rows.push_back(RowText(window, keyless ? "all" : absl::StrCat(window.key), absl::StrCat(value)));
  }
  return rows;
}

CatalogueEntry AnotherKey() {
  return {.name = "counts by key, summed by another",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return CountsAndLateOf(FirstOfAll(parts), parts)
                    .KeyBy([](const Counted& row) { return row.key % 7; })
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Sum{&Counted::value})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                Totals totals;
                for (const auto& [window, events] : Counts(Read(input, 0), late)) {
                  totals[SecondWindow(window, window.key % 7)] += static_cast<std::int64_t>(events.size());
                }
                return Expected{.rows = RowsOfTotals(totals), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry TheSameKey() {
  return {.name = "counts by key, the greatest by the same",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return CountsAndLateOf(FirstOfAll(parts), parts)
                    .KeyBy(&Counted::key)
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Max{&Counted::value})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                Totals totals;
                for (const auto& [window, events] : Counts(Read(input, 0), late)) {
                  std::int64_t& most = totals[SecondWindow(window, window.key)];
                  most = std::max(most, static_cast<std::int64_t>(events.size()));
                }
                return Expected{.rows = RowsOfTotals(totals), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry SlidingThenAll() {
  return {.name = "sliding counts, the greatest of all keys",
          .window = "sliding",
          .aggregates = {"count"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Sliding{Millis(900), Millis(300)}), parts)
                    .Aggregate(Count{})
                    .Window(Tumbling{Millis(300)})
                    .Aggregate(Max{&Counted::value})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                Totals totals;
                for (const auto& [window, events] : GroupByWindows(Read(input, 0), 900, 300, KeyOf, late)) {
                  std::int64_t& most = totals[{window.end_ms - 300, window.end_ms, 0}];
                  most = std::max(most, static_cast<std::int64_t>(events.size()));
                }
                return Expected{.rows = RowsOfTotals(totals, /*keyless=*/true), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry SessionsCounted() {
  return {.name = "sessions, counted by another key",
          .window = "session",
          .aggregates = {"count"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Session{Millis(kStageGapMs)}), parts)
                    .Aggregate(Count{})
                    .KeyBy([](const Counted& row) { return row.key % 3; })
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                Totals totals;
                for (const auto& [session, events] : GroupBySessions(Read(input, 0), kStageGapMs, KeyOf, late)) {
                  ++totals[SecondWindow(session, session.key % 3)];
                }
                return Expected{.rows = RowsOfTotals(totals), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry SplitAndJoined() {
  return {.name = "a stream split, counted, and joined",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "inner",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                const auto [zeros, ones] = FirstOfAll(parts).Split(&IsOfKind0, &IsOfKind1);
                return Join(CountsAndLateOf(zeros, parts), CountsAndLateOf(ones, parts))
                    .On(&Counted::key, &Counted::key)
                    .Window(Tumbling{Millis(kFirstMs)})
                    .Keep(&Counted::value, &Counted::value)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups zeros = Counts(Only(Read(input, 0), IsOfKind0), late);
                const Groups ones = Counts(Only(Read(input, 0), IsOfKind1), late);
                Expected expected{.rows = {}, .late = LateRowsOf(late)};
                for (const auto& [window, events] : zeros) {
                  const auto others = ones.find(window);
                  if (others == ones.end()) continue;
                  expected.rows.push_back(RowText(window, absl::StrCat(window.key),
                                                  absl::StrCat(events.size(), ", ", others->second.size())));
                }
                return expected;
              }};
}

CatalogueEntry JoinedWithItself() {
  return {.name = "a source joined with its own counts",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "inner",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                const auto all = FirstOfAll(parts);
                return Join(Stream(all), CountsAndLateOf(all, parts))
                    .On(&Event::key, &Counted::key)
                    .Window(Tumbling{Millis(kFirstMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .Keep(&Event::amount, &Counted::value)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                Expected expected;
                for (const auto& [window, events] : Counts(Read(input, 0), late)) {
                  for (const Event& event : events) {
                    expected.rows.push_back(
                        RowText(window, absl::StrCat(window.key), absl::StrCat(event.amount, ", ", events.size())));
                  }
                }
                expected.late = LateRowsOf(late);
                return expected;
              }};
}

CatalogueEntry JoinCounted() {
  return {.name = "a join, counted by key",
          .window = "tumbling",
          .aggregates = {},
          .join = "inner",
          .shape = "two stages",
          .sources = 2,
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return Join(FirstOfAll(parts), SecondOfAll(parts))
                    .On(&Event::key, &Event::key)
                    .Window(Tumbling{Millis(kFirstMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreLate{parts.rows}, StoreLate{parts.rows})
                    .Keep(&Event::amount, &Event::amount)
                    .KeyBy([](const auto& row) { return row.key; })
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups left = Counts(Read(input, 0), late);
                const Groups right = Counts(Read(input, 1), late);
                Totals totals;
                for (const auto& [window, events] : left) {
                  const auto others = right.find(window);
                  if (others == right.end()) continue;
                  totals[SecondWindow(window, window.key)] +=
                      static_cast<std::int64_t>(events.size() * others->second.size());
                }
                return Expected{.rows = RowsOfTotals(totals), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry TableJoined() {
  return {.name = "a table joined, counted by what it says",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "static",
          .build =
              [](const QueryParts& parts) {
                std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
                for (std::uint64_t kind = 0; kind < 2; ++kind) entries.emplace_back(kind, 100 + kind);
                auto table = std::make_shared<const StaticTable<std::uint64_t, std::uint64_t>>(entries);
                auto joined =
                    FirstOfAll(parts).JoinTable(std::move(table), &Event::kind, [](Event event, std::uint64_t group) {
                      event.key = group;
                      return event;
                    });
                return Judged(std::move(joined).KeyBy(&Event::key).Window(Tumbling{Millis(kFirstMs)}), parts)
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Seen> seen = Only(Read(input, 0), [](const Event& event) { return event.kind < 2; });
                for (Seen& each : seen) each.event.key = 100 + each.event.kind;
                std::vector<Event> late;
                const Groups groups = Counts(seen, late);
                return Expected{.rows = RowsOf(groups, CountOf), .late = LateRowsOf(late)};
              }};
}

}  // namespace

std::vector<CatalogueEntry> StagedQueries() {
  return {AnotherKey(),     TheSameKey(),       SlidingThenAll(), SessionsCounted(),
          SplitAndJoined(), JoinedWithItself(), JoinCounted(),    TableJoined()};
}

}  // namespace glaive::sim
