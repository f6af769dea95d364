// Texts in values, in what joins keep, and in states. A text is that of an event's amount.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

// Amounts are -1,000 to 1,000.
std::uint64_t NumberOfAmount(std::int64_t amount) { return static_cast<std::uint64_t>(amount + 1'000); }

// The engine's functions.
Text NameOf(const Event& event) { return engine::KeyOf<Text>(NumberOfAmount(event.amount)); }

/// The least and the greatest text, and how many events there were.
struct Extent {
  Text least;
  Text greatest;
  std::uint64_t events = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};
GLAIVE_RECORD(Extent, least, greatest, events)
std::string Show(const Extent& extent) {
  return absl::StrCat(sim::Show(extent.least), " ", sim::Show(extent.greatest), " ", extent.events);
}
auto FoldExtents() {
  return FoldAssoc(
      Extent{},
      [](Extent& extent, const Event& event) {
        const Text name = NameOf(event);
        extent = {.least = extent.events == 0 ? name : std::min(extent.least, name),
                  .greatest = std::max(extent.greatest, name),
                  .events = extent.events + 1};
      },
      [](Extent& extent, const Extent& other) {
        if (other.events == 0) return;
        extent = {.least = extent.events == 0 ? other.least : std::min(extent.least, other.least),
                  .greatest = std::max(extent.greatest, other.greatest),
                  .events = extent.events + other.events};
      });
}

/// The text of the event before, and which it has to be.
struct Before {
  Text name;
  std::int64_t amount = -1'000;  // whose text is empty
  std::uint64_t events = 0;

  bool is_right() const { return name == engine::KeyOf<Text>(NumberOfAmount(amount)); }
  void Take(const Event& event) { *this = {.name = NameOf(event), .amount = event.amount, .events = events + 1}; }
};
GLAIVE_RECORD(Before, name, amount, events)
constexpr std::uint64_t kWrong = 1'000'000;
std::uint64_t NthIfRight(Before& before, const Event& event) {
  const std::uint64_t wrong = before.is_right() ? 0 : kWrong;
  before.Take(event);
  return before.events + wrong;
}
Event ItselfIfRight(Before& before, Event event) {
  const std::int64_t wrong = before.is_right() ? 0 : static_cast<std::int64_t>(kWrong);
  before.Take(event);
  event.amount += wrong;
  return event;
}

// The oracle's.
std::string NameOfAmount(std::int64_t amount) { return TextOfNumber(NumberOfAmount(amount)); }
/// The texts of some events, in their order.
std::vector<std::string> NamesOf(const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events) names.push_back(NameOfAmount(event.amount));
  std::ranges::sort(names);
  return names;
}
std::string GreatestNameOf(const std::vector<Event>& events) { return NamesOf(events).back(); }
std::string TopNamesOf(const std::vector<Event>& events) {
  std::vector<std::string> names = NamesOf(events);
  std::ranges::reverse(names);
  names.resize(std::min<std::size_t>(names.size(), 3));
  return absl::StrJoin(names, " ");
}
std::string LastNameOf(const std::vector<Event>& events) {
  std::pair last{events.front().time_ms, NameOfAmount(events.front().amount)};
  for (const Event& event : events) last = std::max(last, {event.time_ms, NameOfAmount(event.amount)});
  return last.second;
}
std::string ExtentOf(const std::vector<Event>& events) {
  const std::vector<std::string> names = NamesOf(events);
  return absl::StrCat(names.front(), " ", names.back(), " ", names.size());
}
/// Rows of what a join keeps: the text of the left event, the amount of the right one.
std::vector<std::string> NamedPairRows(const std::vector<Pair>& pairs) {
  std::vector<std::string> rows;
  for (const Pair& pair : pairs) {
    rows.push_back(RowText(pair.window, PlainText(pair.window.key),
                           absl::StrCat(pair.left ? NameOfAmount(*pair.left) : "none", ", ",
                                        pair.right ? absl::StrCat(*pair.right) : "none")));
  }
  return rows;
}

constexpr std::int64_t kTextSizeMs = 600;
constexpr std::int64_t kTextSlideMs = 200;
constexpr std::int64_t kTextGapMs = 120;

/// A join of both sources that keeps the text of the left event.
template <typename J, typename W>
CatalogueEntry JoinKeepsText(std::string_view name, std::string_view kind, std::string_view window_name,
                             J (*join)(const QueryParts&), const W& window,
                             const std::function<Expected(const Input&)>& expect) {
  return {.name = name,
          .window = window_name,
          .aggregates = {},
          .join = kind,
          .sources = 2,
          .rows_wait_for = std::is_same_v<W, Unbounded> ? RowsWaitFor::kNothing : RowsWaitFor::kInput,
          .build =
              [join, window](const QueryParts& parts) {
                return join(parts)
                    .On(&Event::key, &Event::key)
                    .Window(window)
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreLate{parts.rows}, StoreLate{parts.rows})
                    .Keep(&NameOf, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
          .expect = std::move(expect)};
}
auto InnerJoin(const QueryParts& parts) { return Join(FirstOfAll(parts), SecondOfAll(parts)); }
auto OuterJoin(const QueryParts& parts) { return LeftJoin(FirstOfAll(parts), SecondOfAll(parts)); }
auto BothOuterJoin(const QueryParts& parts) { return FullJoin(FirstOfAll(parts), SecondOfAll(parts)); }

Expected WindowedPairs(const Input& input, std::int64_t slide_ms, bool is_full) {
  std::vector<Event> late;
  const Groups left = GroupByWindows(Read(input, 0), kTextSizeMs, slide_ms, KeyOf, late);
  const Groups right = GroupByWindows(Read(input, 1), kTextSizeMs, slide_ms, KeyOf, late);
  return {.rows = NamedPairRows(PairsOf(left, right, is_full, is_full)), .late = LateRowsOf(late)};
}
Expected SessionPairs(const Input& input) {
  std::vector<Event> late;
  const std::vector<Pair> pairs = SessionPairsOf(Read(input, 0), Read(input, 1), kTextGapMs, true, false, late);
  return {.rows = NamedPairRows(pairs), .late = LateRowsOf(late)};
}
Expected UnwindowedPairs(const Input& input) {
  const Groups left = GroupUnbounded(Read(input, 0), 0, KeyOf);
  const Groups right = GroupUnbounded(Read(input, 1), 0, KeyOf);
  return {.rows = NamedPairRows(PairsOf(left, right, true, false)), .late = {}};
}

/// The n-th event of each key.
std::vector<std::string> RowsOfNth(const Input& input) {
  std::vector<std::string> rows;
  for (const auto& [window, events] : GroupUnbounded(Read(input, 0), 0, KeyOf)) {
    for (std::size_t n = 1; n <= events.size(); ++n) {
      rows.push_back(RowText({}, PlainText(window.key), absl::StrCat(n)));
    }
  }
  return rows;
}
std::function<std::vector<std::string>(const Input&)> RowsOfKeys(ShowEvents show) {
  return [show](const Input& input) { return RowsOf(GroupUnbounded(Read(input, 0), 0, KeyOf), show); };
}

std::vector<CatalogueEntry> StatesWithTexts() {
  return {WithoutStage(
              "greatest text folded by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&Event::key)
                    .Fold(Text(), [](Text& most, const Event& event) { most = std::max(most, NameOf(event)); })
                    .To(StoreRows{parts.rows});
              },
              RowsOfKeys(GreatestNameOf)),
          WithoutStage(
              "records numbered by key, beside the text before",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&Event::key)
                    .RichMap(Before{},
                             [](Before& before, const Event& event) {
                               return WindowResult<std::uint64_t, std::uint64_t>{.key = event.key,
                                                                                 .value = NthIfRight(before, event)};
                             })
                    .To(StoreRows{parts.rows});
              },
              &RowsOfNth),
          WithoutStage(
              "records beside the text before on their executor",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .RichMap(Before{}, &ItselfIfRight)
                    .KeyBy(&Event::key)
                    .Fold(std::int64_t{0}, [](std::int64_t& sum, const Event& event) { sum += event.amount; })
                    .To(StoreRows{parts.rows});
              },
              RowsOfKeys(SumOf))};
}

}  // namespace

std::vector<CatalogueEntry> TextQueries() {
  std::vector<CatalogueEntry> all = {
      Aggregated("tumbling last text", TumblingOf(700), Last{&Event::time_ms, &NameOf}, {"last"}, LastNameOf),
      Aggregated("sliding top texts", SlidingOf(900, 300), TopK<3>(&NameOf), {"top"}, TopNamesOf),
      Aggregated<AllRecords>("sliding last text without a key", SlidingOf(800, 200), Last{&Event::time_ms, &NameOf},
                             {"last"}, LastNameOf),
      Aggregated("session top texts", SessionOf(150), TopK<3>(&NameOf), {"top"}, TopNamesOf),
      Aggregated("as-of texts folded", UnboundedOf(600), FoldExtents(), {}, ExtentOf),
      Aggregated<std::uint16_t>("unbounded max of texts by 2 bytes", UnboundedOf(0), Max{&NameOf}, {"max"},
                                GreatestNameOf),
      JoinKeepsText("full join that keeps a text", "full", "tumbling", &BothOuterJoin, Tumbling{Millis(kTextSizeMs)},
                    [](const Input& input) { return WindowedPairs(input, kTextSizeMs, /*is_full=*/true); }),
      JoinKeepsText("sliding join that keeps a text", "inner", "sliding", &InnerJoin,
                    Sliding{Millis(kTextSizeMs), Millis(kTextSlideMs)},
                    [](const Input& input) { return WindowedPairs(input, kTextSlideMs, /*is_full=*/false); }),
      JoinKeepsText("session left join that keeps a text", "left", "session", &OuterJoin, Session{Millis(kTextGapMs)},
                    &SessionPairs),
      JoinKeepsText("unwindowed left join that keeps a text", "left", "unbounded", &OuterJoin, Unbounded{},
                    &UnwindowedPairs)};
  for (CatalogueEntry& entry : StatesWithTexts()) all.push_back(std::move(entry));
  return all;
}

}  // namespace glaive::sim
