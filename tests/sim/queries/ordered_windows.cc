// Windows by the order of records, and functions of all records of a window. In which order the records of two
// executors come is open, so rows of windows by order say only what does not depend on it: how many windows there are
// and how many records each has, and that those of one executor come in their order, a number that is 0. In windows of
// event time records are in the order of their times, which rows show.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// A window's number, its records, and what is made of them.
using Numbers = std::array<std::uint64_t, 3>;
template <typename K>
using NumbersRow = WindowResult<K, Numbers>;

// The engine's functions.
template <typename K>
NumbersRow<K> RowOfCount(const NumberedResult<K, std::uint64_t>& row) {
  return {.key = row.key, .value = {row.window, row.records, row.value}};
}

/// A record of an executor, and how many of its key came before it there.
struct PlacedEvent {
  std::uint64_t key;
  std::uint64_t place;
  std::uintptr_t reader;
};
PlacedEvent PlaceAt(std::map<std::uint64_t, std::uint64_t>& counts, const Event& event) {
  return {.key = event.key, .place = counts[event.key]++, .reader = reinterpret_cast<std::uintptr_t>(&counts)};
}
/// How many records come behind a later one of their executor.
std::uint64_t DisorderOf(std::span<const PlacedEvent> records) {
  std::map<std::uintptr_t, std::uint64_t> next;
  std::uint64_t disorder = 0;
  for (const PlacedEvent& record : records) {
    disorder += record.place < next[record.reader] ? 1 : 0;
    next[record.reader] = record.place + 1;
  }
  return disorder;
}

bool IsClosing(const Event& event) { return event.amount % 3 == 0; }

/// Depends on the order of the times.
std::uint64_t MixTime(std::uint64_t state, std::int64_t time_ms) {
  return state * 31 + static_cast<std::uint64_t>(time_ms);
}
template <typename K>
std::uint64_t MixedTimes(const K& /*key*/, const TimeWindow& /*window*/, std::span<const Event> records) {
  std::uint64_t state = 7;
  for (const Event& event : records) state = MixTime(state, event.time_ms);
  return state;
}
std::uint64_t MixedTimesOfAll(const TimeWindow& window, std::span<const Event> records) {
  return MixedTimes(AllRecords{}, window, records);
}

// The oracle's.
/// The windows of each key by their numbers: `value` of so many records.
template <typename K>
std::vector<std::string> CountedRows(const std::vector<Seen>& seen, std::uint64_t size, std::uint64_t slide,
                                     std::uint64_t (*value)(std::uint64_t records)) {
  const KeyOracle key = KeyOracleOf<K>();
  std::vector<std::string> rows;
  for (const auto& [window, events] : GroupUnbounded(seen, 0, key.key_of)) {
    for (std::uint64_t number = 0; number * slide < events.size(); ++number) {
      const std::uint64_t records = std::min<std::uint64_t>(size, events.size() - number * slide);
      rows.push_back(RowText({}, key.text(window.key), absl::StrCat(number, "-", records, "-", value(records))));
      if (records < size) break;
    }
  }
  return rows;
}
std::uint64_t Same(std::uint64_t records) { return records; }
std::uint64_t None(std::uint64_t /*records*/) { return 0; }

std::string MixedTimesOf(const std::vector<Event>& events) {
  std::vector<std::int64_t> times;
  for (const Event& event : events) times.push_back(event.time_ms);
  std::ranges::sort(times);
  std::uint64_t state = 7;
  for (const std::int64_t time_ms : times) state = MixTime(state, time_ms);
  return absl::StrCat(state);
}

template <typename K>
CatalogueEntry CountedByOrder(std::string_view name, const CountWindow& window) {
  return WithoutStage(
      name,
      [window](const QueryParts& parts) {
        return Keyed<K>(FirstOfAll(parts))
            .Window(window)
            .Aggregate(Count{})
            .Map(&RowOfCount<K>)
            .To(StoreRows{parts.rows});
      },
      [window](const Input& input) { return CountedRows<K>(Read(input, 0), window.size, window.slide, Same); });
}

CatalogueEntry OrderInWindows(const CountWindow& window) {
  return WithoutStage(
      "order of records in sliding count windows",
      [window](const QueryParts& parts) {
        return FirstOfAll(parts)
            .RichMap(std::map<std::uint64_t, std::uint64_t>(), &PlaceAt)
            .KeyBy(&PlacedEvent::key)
            .Window(window)
            .Process(
                [](std::uint64_t, NumberedWindow, std::span<const PlacedEvent> records) { return DisorderOf(records); })
            .Map(&RowOfCount<std::uint64_t>)
            .To(StoreRows{parts.rows});
      },
      [window](const Input& input) {
        return CountedRows<std::uint64_t>(Read(input, 0), window.size, window.slide, None);
      });
}

/// Of all windows of a key together: records, and windows that a record has closed.
CatalogueEntry Transactions() {
  return WithoutStage(
      "windows that records close",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .KeyBy(&Event::key)
            .Window(Transaction(
                [](const Event& event) { return IsClosing(event) ? InTransaction::kCloses : InTransaction::kGoesOn; }))
            .Process([](std::uint64_t, NumberedWindow, std::span<const Event> records) {
              return std::uint64_t{IsClosing(records.back())};
            })
            .KeyBy([](const auto& row) { return row.key; })
            .Fold(std::array<std::uint64_t, 2>{},
                  [](auto& sums, const NumberedResult<std::uint64_t, std::uint64_t>& row) {
                    sums = {sums[0] + row.records, sums[1] + row.value};
                  })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (const auto& [window, events] : GroupUnbounded(Read(input, 0), 0, KeyOf)) {
          const auto closing = static_cast<std::uint64_t>(std::ranges::count_if(events, IsClosing));
          rows.push_back(RowText(window, PlainText(window.key), absl::StrCat(events.size(), "-", closing)));
        }
        return rows;
      });
}

/// A function of all records of windows of event time.
template <typename K = std::uint64_t, typename W>
CatalogueEntry ProcessedWindows(std::string_view name, const WindowKind<W>& kind) {
  const KeyOracle key = KeyOracleOf<K>();
  return {.name = name,
          .window = kind.name,
          .aggregates = {},
          .join = "",
          .key = key.name,
          .build = [window = kind.window](const QueryParts& parts) -> std::unique_ptr<Query> {
            auto windows = Judged(Keyed<K>(FirstOfAll(parts)).Window(window), parts);
            if constexpr (std::is_same_v<K, AllRecords>) {
              return std::move(windows).Process(&MixedTimesOfAll).To(StoreRows{parts.rows});
            } else {
              return std::move(windows).Process(&MixedTimes<K>).To(StoreRows{parts.rows});
            }
          },
          .expect =
              [group = kind.group, key](const Input& input) {
                std::vector<Event> late;
                const Groups groups = group(Read(input, 0), key.key_of, late);
                return Expected{.rows = RowsOf(groups, MixedTimesOf, key.text), .late = LateRowsOf(late)};
              }};
}

}  // namespace

std::vector<CatalogueEntry> OrderedWindowQueries() {
  return {
      Having({"CountWindow"}, CountedByOrder<std::uint64_t>("tumbling count windows by key", {.size = 5})),
      Having({"CountWindow"}, CountedByOrder<Key40>("sliding count windows by 40 bytes", {.size = 7, .slide = 3})),
      Having({"CountWindow"},
             CountedByOrder<AllRecords>("sliding count windows of all records", {.size = 20, .slide = 10})),
      Having({"CountWindow", "Process", "RichMap"}, OrderInWindows({.size = 9, .slide = 4})),
      Having({"Transaction", "Process"}, Transactions()),
      Having({"Process"}, ProcessedWindows("a function of tumbling windows", TumblingOf(200))),
      Having({"Process"}, ProcessedWindows<MixedKey>("a function of sliding windows by a struct", SlidingOf(300, 100))),
      Having({"Process"}, ProcessedWindows<std::uint16_t>("a function of sessions by 2 bytes", SessionOf(30))),
      Having({"Process"},
             ProcessedWindows<AllRecords>("a function of tumbling windows of all records", TumblingOf(150)))};
}

}  // namespace glaive::sim
