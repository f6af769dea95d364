// Graphs of three and more stages, and joins of joins.
//
// A stage hands on a Summed: the sum of ScrambledSum of its records. ScrambledSum is not linear, so a stage that splits
// a result in two, or loses one, changes the sums of all stages behind it.

#include <optional>
#include <tuple>

#include "engine/sink/discard.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

using KeyOfSum = std::uint64_t (*)(const Summed&);

constexpr std::int64_t kPrime = 1'009;

// The engine's functions. Each query has the same ones, so that stages of a kind are compiled once.
std::int64_t ScrambledSum(const Summed& row) { return static_cast<std::int64_t>(row.value * row.value % kPrime); }
template <std::uint64_t kKeys>
std::uint64_t KeyModulo(const Summed& row) {
  return row.key % kKeys;
}
std::uint64_t SameKey(const Summed& row) { return row.key; }

/// Sums of a source's amounts.
template <typename W>
auto SumsOf(const QueryParts& parts, std::size_t source, const W& window) {
  return Judged(From(parts.flows.Source(source)).KeyBy(&Event::key).Window(window), parts)
      .Aggregate(Sum{&Event::amount});
}
/// Sums of the results of a stage.
template <typename S, typename W>
auto Again(S stream, KeyOfSum key, const W& window) {
  return std::move(stream).KeyBy(key).Window(window).Aggregate(Sum{&ScrambledSum});
}

// The oracle's.
std::int64_t SumOfScrambled(const std::vector<Event>& events) {
  std::int64_t sum = 0;
  for (const Event& event : events) sum += event.amount * event.amount % kPrime;
  return sum;
}
std::string ShowScrambled(const std::vector<Event>& events) { return absl::StrCat(SumOfScrambled(events)); }

CatalogueEntry ThreeStages() {
  const auto sums = TumblingOf(250);
  const auto sums_of_sums = SlidingOf(1'000, 500);
  const auto last = TumblingOf(2'000);
  return {.name = "sums by key, by another, by a third",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .shape = "three stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [=](const QueryParts& parts) {
                auto second = Again(SumsOf(parts, 0, sums.window), &KeyModulo<7>, sums_of_sums.window);
                return Again(std::move(second), &KeyModulo<2>, last.window).To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Event> late;
                const Groups first = sums.group(Read(input, 0), KeyOf, late);
                const Groups second = Regrouped(ResultsOf(first, PlainSum), sums_of_sums, Modulo(7));
                const Groups third = Regrouped(ResultsOf(second, SumOfScrambled), last, Modulo(2));
                return Expected{.rows = RowsOf(third, ShowScrambled), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry FourWindows() {
  const auto sessions = SessionOf(150);
  const auto sliding = SlidingOf(900, 300);
  const auto tumbling = TumblingOf(600);
  const auto as_of = UnboundedOf(1'000);
  return {.name = "sessions, slid, tumbled, and so far",
          .window = "session",
          .aggregates = {"sum"},
          .join = "",
          .shape = "four stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [=](const QueryParts& parts) {
                auto slid = Again(SumsOf(parts, 0, sessions.window), &KeyModulo<5>, sliding.window);
                return Again(Again(std::move(slid), &SameKey, tumbling.window), &KeyModulo<3>, as_of.window)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Event> late;
                const Groups first = sessions.group(Read(input, 0), KeyOf, late);
                const Groups second = Regrouped(ResultsOf(first, PlainSum), sliding, Modulo(5));
                const Groups third = Regrouped(ResultsOf(second, SumOfScrambled), tumbling, KeyOf);
                const Groups fourth = Regrouped(ResultsOf(third, SumOfScrambled), as_of, Modulo(3));
                return Expected{.rows = RowsOf(fourth, ShowScrambled), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry FiveStages() {
  const auto size_of = [](std::int64_t stage) { return TumblingOf(100 << stage); };
  const auto sessions = SessionOf(250);
  return {.name = "five stages, sessions of results among them",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .shape = "five stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [=](const QueryParts& parts) {
                auto second = Again(SumsOf(parts, 0, size_of(0).window), &SameKey, size_of(1).window);
                auto third = Again(std::move(second), &KeyModulo<7>, sessions.window);
                auto fourth = Again(std::move(third), &SameKey, size_of(3).window);
                return Again(std::move(fourth), &KeyModulo<2>, size_of(4).window).To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Event> late;
                const Groups first = size_of(0).group(Read(input, 0), KeyOf, late);
                const Groups second = Regrouped(ResultsOf(first, PlainSum), size_of(1), KeyOf);
                const Groups third = Regrouped(ResultsOf(second, SumOfScrambled), sessions, Modulo(7));
                const Groups fourth = Regrouped(ResultsOf(third, SumOfScrambled), size_of(3), KeyOf);
                const Groups fifth = Regrouped(ResultsOf(fourth, SumOfScrambled), size_of(4), Modulo(2));
                return Expected{.rows = RowsOf(fifth, ShowScrambled), .late = LateRowsOf(late)};
              }};
}

// ---- joins of joins ----

constexpr std::int64_t kJoinMs = 500;
constexpr std::int64_t kNone = 5'000;

/// What a pair is in the next stage.
std::int64_t Paired(std::int64_t left, std::int64_t right) { return left * 31 + right; }

using PairOfAmounts = std::tuple<std::int64_t, std::optional<std::int64_t>>;
Summed SummedPair(const WindowResult<std::uint64_t, PairOfAmounts>& row) {
  return {.window_start_ms = row.window_start_ms,
          .window_end_ms = row.window_end_ms,
          .key = row.key,
          .value = Paired(std::get<0>(row.value), std::get<1>(row.value).value_or(kNone))};
}

std::int64_t AmountOf(const Pair& pair) { return Paired(*pair.left, pair.right.value_or(kNone)); }

/// Both sides of the last join are joins, of the same two streams the other way round.
CatalogueEntry JoinsOfSumsJoined() {
  return {.name = "joins of sums, joined",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "full",
          .shape = "a join of joins",
          .sources = 2,
          .rows_wait_for = RowsWaitFor::kStages,
          .sources_apart = true,
          .build =
              [](const QueryParts& parts) {
                const Tumbling window{Millis(kJoinMs)};
                const auto a = SumsOf(parts, 0, window);
                const auto b = SumsOf(parts, 1, window);
                const auto joined = [&](auto left, auto right) {
                  return LeftJoin(std::move(left), std::move(right))
                      .On(&SameKey, &SameKey)
                      .Window(window)
                      .Keep(&ValueOf, &ValueOf)
                      .Map(&SummedPair);
                };
                return FullJoin(joined(Stream(a), Stream(b)), joined(Stream(b), Stream(a)))
                    .On(&SameKey, &SameKey)
                    .Window(Tumbling{Millis(2 * kJoinMs)})
                    .Keep(&ValueOf, &ValueOf)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const auto sums = [&](std::size_t source) {
                  return ResultsOf(GroupByWindows(Read(input, source), kJoinMs, kJoinMs, KeyOf, late), PlainSum);
                };
                const std::vector<Seen> a = sums(0);
                const std::vector<Seen> b = sums(1);
                const auto paired = [](const std::vector<Seen>& left, const std::vector<Seen>& right) {
                  const auto window = TumblingOf(kJoinMs);
                  const std::vector<Pair> pairs =
                      PairsOf(Regrouped(left, window, KeyOf), Regrouped(right, window, KeyOf), true, false);
                  return Regrouped(ResultsOf(pairs, AmountOf), TumblingOf(2 * kJoinMs), KeyOf);
                };
                const std::vector<Pair> pairs = PairsOf(paired(a, b), paired(b, a), true, true);
                return Expected{.rows = PairRows(pairs), .late = LateRowsOf(late)};
              }};
}

/// A join has as many rows as the product of its sides, so few records take part.
bool IsOneOfEight(const Event& event) { return event.amount % 8 == 0; }

auto SomeOf(const QueryParts& parts, std::size_t source) {
  return From(parts.flows.Source(source)).Filter(&IsOneOfEight);
}
/// The pairs of some records of the first two sources.
template <typename W>
auto PairsOfSome(const QueryParts& parts, const W& window) {
  return LeftJoin(SomeOf(parts, 0), SomeOf(parts, 1))
      .On(&Event::key, &Event::key)
      .Window(window)
      .AllowedLateness(Millis(parts.lateness_ms))
      .LateTo(StoreLate{parts.rows}, StoreLate{parts.rows})
      .Keep(&Event::amount, &Event::amount)
      .Map(&SummedPair);
}

/// The results of a join meet the records of a third source, which they come behind.
CatalogueEntry JoinJoinedWithASource() {
  return {.name = "a join, joined with a third source",
          .window = "tumbling",
          .aggregates = {},
          .join = "left",
          .shape = "a join of joins",
          .sources = 3,
          .rows_wait_for = RowsWaitFor::kStages,
          .results_delay_ms = 4 * kJoinMs + 1,
          .first_stage_sources = 2,
          .build =
              [](const QueryParts& parts) {
                const Tumbling window{Millis(2 * kJoinMs)};
                return LeftJoin(PairsOfSome(parts, window), SomeOf(parts, 2))
                    .On(&SameKey, &Event::key)
                    .Window(window)
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(Discard{}, StoreLate{parts.rows})
                    .Keep(&ValueOf, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                const auto window = TumblingOf(2 * kJoinMs);
                std::vector<Event> late;
                const auto some = [&](std::size_t source) {
                  return window.group(Only(Read(input, source), IsOneOfEight), KeyOf, late);
                };
                const Groups first = some(0);
                const Groups second = some(1);
                const Groups third = some(2);
                const Groups paired =
                    Regrouped(ResultsOf(PairsOf(first, second, true, false), AmountOf), window, KeyOf);
                return Expected{.rows = PairRows(PairsOf(paired, third, true, false)), .late = LateRowsOf(late)};
              }};
}

/// Sessions of two sources, the sums of their pairs by another key, and those of all results.
CatalogueEntry SessionPairsSummed() {
  return {
      .name = "a session join, summed, and summed again",
      .window = "session",
      .aggregates = {},
      .join = "left",
      .shape = "three stages",
      .sources = 2,
      .rows_wait_for = RowsWaitFor::kStages,
      .build =
          [](const QueryParts& parts) {
            auto sums = Again(PairsOfSome(parts, Session{Millis(kJoinMs)}), &KeyModulo<5>, Tumbling{Millis(kJoinMs)});
            return Again(std::move(sums), &KeyModulo<2>, Tumbling{Millis(2 * kJoinMs)}).To(StoreRows{parts.rows});
          },
      .expect =
          [](const Input& input) {
            std::vector<Event> late;
            const auto some = [&](std::size_t source) { return Only(Read(input, source), IsOneOfEight); };
            const std::vector<Pair> pairs = SessionPairsOf(some(0), some(1), kJoinMs, true, false, late);
            const Groups sums = Regrouped(ResultsOf(pairs, AmountOf), TumblingOf(kJoinMs), Modulo(5));
            const Groups sums_of_sums = Regrouped(ResultsOf(sums, SumOfScrambled), TumblingOf(2 * kJoinMs), Modulo(2));
            return Expected{.rows = RowsOf(sums_of_sums, ShowScrambled), .late = LateRowsOf(late)};
          }};
}

}  // namespace

std::vector<CatalogueEntry> ChainedQueries() {
  return {ThreeStages(),       FourWindows(),           FiveStages(),
          JoinsOfSumsJoined(), JoinJoinedWithASource(), SessionPairsSummed()};
}

}  // namespace glaive::sim
