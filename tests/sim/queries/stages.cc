#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kFirstMs = 500;
constexpr std::int64_t kSecondMs = 2'000;
constexpr std::int64_t kStageGapMs = 150;

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

std::int64_t NumberOf(const std::vector<Event>& events) { return static_cast<std::int64_t>(events.size()); }

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
                    .KeyBy(HandedOnBy([](const Counted& row) { return row.key % 7; }, parts))
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Sum{&Counted::value})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups counts = Counts(Read(input, 0), late);
                const Groups totals = Regrouped(ResultsOf(counts, NumberOf), TumblingOf(kSecondMs), Modulo(7));
                return Expected{.rows = RowsOf(totals, SumOf), .late = LateRowsOf(late)};
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
                const Groups counts = Counts(Read(input, 0), late);
                const Groups together = Regrouped(ResultsOf(counts, NumberOf), TumblingOf(kSecondMs), KeyOf);
                return Expected{.rows = RowsOf(together, GreatestOf), .late = LateRowsOf(late)};
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
                const Groups counts = GroupByWindows(Read(input, 0), 900, 300, KeyOf, late);
                const Groups together = Regrouped(ResultsOf(counts, NumberOf), TumblingOf(300), NoKey);
                return Expected{.rows = RowsOf(together, GreatestOf, AllRecordsText), .late = LateRowsOf(late)};
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
                    .KeyBy(HandedOnBy([](const Counted& row) { return row.key % 3; }, parts))
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups sessions = GroupBySessions(Read(input, 0), kStageGapMs, KeyOf, late);
                const Groups together = Regrouped(ResultsOf(sessions, NumberOf), TumblingOf(kSecondMs), Modulo(3));
                return Expected{.rows = RowsOf(together, CountOf), .late = LateRowsOf(late)};
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
                    .KeyBy(HandedOnBy([](const auto& row) { return row.key; }, parts))
                    .Window(Tumbling{Millis(kSecondMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups left = Counts(Read(input, 0), late);
                const Groups right = Counts(Read(input, 1), late);
                const std::vector<Pair> pairs = PairsOf(left, right, /*is_left=*/false, /*is_full=*/false);
                const auto left_amount = [](const Pair& pair) { return *pair.left; };
                const Groups together = Regrouped(ResultsOf(pairs, left_amount), TumblingOf(kSecondMs), KeyOf);
                return Expected{.rows = RowsOf(together, CountOf), .late = LateRowsOf(late)};
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

std::vector<CatalogueEntry> StageQueries() {
  return {AnotherKey(),     TheSameKey(),       SlidingThenAll(), SessionsCounted(),
          SplitAndJoined(), JoinedWithItself(), JoinCounted(),    Having({"JoinTable"}, TableJoined())};
}

}  // namespace glaive::sim
