// Steps with a state of each key, or of all records. In which order the records of two executors reach a state is open,
// so rows say only what does not depend on it: the n-th record of a key, and sums. That those of one executor come in
// their order is a row's number that is 0.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

using BuildQuery = std::function<std::unique_ptr<Query>(const QueryParts&)>;

/// A query of the first source without a stage, for an operator.
CatalogueEntry WithStates(std::string_view name, std::string_view step, BuildQuery build,
                          std::function<std::vector<std::string>(const std::vector<Seen>&)> rows,
                          bool has_few_rows = false) {
  CatalogueEntry entry = WithoutStage(name, std::move(build),
                                      [rows = std::move(rows)](const Input& input) { return rows(Read(input, 0)); });
  entry.has_few_rows = has_few_rows;
  entry.operators = {step};
  return entry;
}

/// A key and a number, in a window that says nothing.
template <typename K>
using StateRow = WindowResult<K, std::uint64_t>;

// The engine's functions.
template <typename K>
StateRow<K> NthOfKey(std::uint64_t& count, const Event& event) {
  return {.key = KeyAs<K>(event), .value = ++count};
}
/// The n-th record becomes none, one or two.
template <typename K>
std::vector<StateRow<K>> NthOrNone(std::uint64_t& count, const Event& event) {
  const StateRow<K> nth = NthOfKey<K>(count, event);
  return std::vector<StateRow<K>>(nth.value % 3, nth);
}
template <typename K>
std::optional<StateRow<K>> EachThird(std::uint64_t& count, const Event& event) {
  const StateRow<K> nth = NthOfKey<K>(count, event);
  return nth.value % 3 == 0 ? std::optional(nth) : std::nullopt;
}
void AddOne(std::uint64_t& count, const Event& /*event*/) { ++count; }
std::int64_t AddAmount(std::int64_t sum, const Event& event) { return sum + event.amount; }
void TakeLesser(Event& least, const Event& event) { least.amount = std::min(least.amount, event.amount); }
template <typename K>
WindowResult<K, std::int64_t> AmountRow(const WindowResult<K, Event>& row) {
  return {row.window_start_ms, row.window_end_ms, row.key, row.value.amount};
}
template <typename K>
StateRow<K> RowOfState(const KeyedState<K, std::uint64_t>& state) {
  return {.key = state.key, .value = state.value};
}

/// A record, and how many of its key came before it on its executor.
struct Placed {
  std::uint64_t key;
  std::uint64_t place;
};
Placed PlaceOf(std::map<std::uint64_t, std::uint64_t>& counts, const Event& event) {
  return {.key = event.key, .place = counts[event.key]++};
}
/// How often each place, modulo 4, has come, and how often before the one in front of it.
struct Places {
  std::array<std::uint64_t, 4> seen{};
  std::uint64_t disorder = 0;
};
void NotePlace(Places& places, const Placed& placed) {
  const std::uint64_t place = placed.place % 4;
  places.disorder += place > 0 && places.seen[place] >= places.seen[place - 1] ? 1 : 0;
  ++places.seen[place];
}
using OrderRow = WindowResult<std::uint64_t, std::array<std::uint64_t, 2>>;
OrderRow OrderRowOf(const WindowResult<std::uint64_t, Places>& row) {
  const auto& [seen, disorder] = row.value;
  return {row.window_start_ms, row.window_end_ms, row.key, {seen[0] + seen[1] + seen[2] + seen[3], disorder}};
}

// The oracle's.
/// The n-th record of each key, `copies(n)` times.
template <typename K>
std::vector<std::string> NthRows(const std::vector<Seen>& seen, std::uint64_t (*copies)(std::uint64_t n)) {
  const KeyOracle key = KeyOracleOf<K>();
  std::vector<std::string> rows;
  for (const auto& [window, events] : GroupUnbounded(seen, 0, key.key_of)) {
    for (std::uint64_t n = 1; n <= events.size(); ++n) {
      rows.insert(rows.end(), copies(n), RowText({}, key.text(window.key), absl::StrCat(n)));
    }
  }
  return rows;
}
std::uint64_t Once(std::uint64_t /*n*/) { return 1; }
std::uint64_t ModuloThree(std::uint64_t n) { return n % 3; }
std::uint64_t IfThird(std::uint64_t n) { return n % 3 == 0 ? 1 : 0; }

/// A row of each key's records at the end.
template <typename K>
auto RowsAtTheEnd(ShowEvents show) {
  return [show](const std::vector<Seen>& seen) {
    const KeyOracle key = KeyOracleOf<K>();
    return RowsOf(GroupUnbounded(seen, 0, key.key_of), show, key.text);
  };
}
std::string InOrder(const std::vector<Event>& events) { return absl::StrCat(events.size(), "-0"); }

// A stage behind a fold.
constexpr std::int64_t kScramble = 1'009;
std::int64_t Scrambled(std::int64_t sum) { return sum * sum % kScramble; }

CatalogueEntry FoldsSummed() {
  return {
      .name = "amounts folded by key, summed by another",
      .window = "unbounded",
      .aggregates = {"sum"},
      .join = "",
      .rows_wait_for = RowsWaitFor::kStages,
      .compares_flows = false,
      .has_few_rows = true,
      .build =
          [](const QueryParts& parts) {
            return FirstOfAll(parts)
                .KeyBy(&Event::key)
                .Fold(std::int64_t{0}, &AddAmount)
                .KeyBy([](const auto& row) { return row.key % 5; })
                .Aggregate(Sum{[](const auto& row) { return Scrambled(row.value); }})
                .To(StoreRows{parts.rows});
          },
      .expect =
          [](const Input& input) {
            std::map<std::uint64_t, std::int64_t> sums;
            for (const auto& [window, events] : GroupUnbounded(Read(input, 0), 0, KeyOf)) {
              sums[window.key % 5] += Scrambled(PlainSum(events));
            }
            std::vector<std::string> rows;
            for (const auto& [key, sum] : sums) {
              rows.push_back(RowText({.start_ms = kBeginningMs, .end_ms = kEndMs}, PlainText(key), absl::StrCat(sum)));
            }
            return Expected{.rows = std::move(rows), .late = {}};
          }};
}

/// Results behind each record.
std::vector<CatalogueEntry> StatesBehindRecords() {
  return {WithStates(
              "records numbered by key", "RichMap by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&Event::key)
                    .RichMap(std::uint64_t{0}, &NthOfKey<std::uint64_t>)
                    .To(StoreRows{parts.rows});
              },
              [](const auto& seen) { return NthRows<std::uint64_t>(seen, Once); }),
          WithStates(
              "records by 40 bytes that become none, one or two", "RichFlatMap by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&KeyAs<Key40>)
                    .RichFlatMap(std::uint64_t{0}, &NthOrNone<Key40>)
                    .To(StoreRows{parts.rows});
              },
              [](const auto& seen) { return NthRows<Key40>(seen, ModuloThree); }),
          WithStates(
              "each third record by a struct", "RichFilterMap by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&KeyAs<MixedKey>)
                    .RichFilterMap(std::uint64_t{0}, &EachThird<MixedKey>)
                    .To(StoreRows{parts.rows});
              },
              [](const auto& seen) { return NthRows<MixedKey>(seen, IfThird); }),
          WithStates(
              "running counts by 2 bytes", "Scan by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&KeyAs<std::uint16_t>)
                    .Partition()
                    .Scan(std::uint64_t{0}, &AddOne)
                    .Map(&RowOfState<std::uint16_t>)
                    .To(StoreRows{parts.rows});
              },
              [](const auto& seen) { return NthRows<std::uint16_t>(seen, Once); })};
}

/// Rows at the end of the stream.
std::vector<CatalogueEntry> FoldsByKey() {
  return {WithStates(
              "amounts folded by 1 byte", "Fold by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&KeyAs<std::uint8_t>)
                    .Fold(std::int64_t{0}, &AddAmount)
                    .To(StoreRows{parts.rows});
              },
              RowsAtTheEnd<std::uint8_t>(SumOf)),
          WithStates(
              "records by 16 bytes reduced to the least", "Reduce by key",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .KeyBy(&KeyAs<Key16>)
                    .Reduce(&TakeLesser)
                    .Map(&AmountRow<Key16>)
                    .To(StoreRows{parts.rows});
              },
              RowsAtTheEnd<Key16>(LeastOf)),
          WithStates(
              "records numbered by executor, folded by key in their order", "RichMap",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .RichMap(std::map<std::uint64_t, std::uint64_t>(), &PlaceOf)
                    .KeyBy(&Placed::key)
                    .Fold(Places{}, &NotePlace)
                    .Map(&OrderRowOf)
                    .To(StoreRows{parts.rows});
              },
              RowsAtTheEnd<std::uint64_t>(InOrder))};
}

/// Without a key.
std::vector<CatalogueEntry> StatesOfAllRecords() {
  return {WithStates(
              "running count of all records", "Scan",
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .Scan(std::uint64_t{0}, &AddOne)
                    .Map([](std::uint64_t count) { return StateRow<AllRecords>{.value = count}; })
                    .To(StoreRows{parts.rows});
              },
              [](const auto& seen) { return NthRows<AllRecords>(seen, Once); }),
          WithStates(
              "amounts of all records folded", "Fold",
              [](const QueryParts& parts) {
                return FirstOfAll(parts).Fold(std::int64_t{0}, &AddAmount).To(StoreRows{parts.rows});
              },
              RowsAtTheEnd<AllRecords>(SumOf), /*has_few_rows=*/true),
          WithStates(
              "all records reduced to the least", "Reduce",
              [](const QueryParts& parts) {
                return FirstOfAll(parts).Reduce(&TakeLesser).Map(&AmountRow<AllRecords>).To(StoreRows{parts.rows});
              },
              RowsAtTheEnd<AllRecords>(LeastOf), /*has_few_rows=*/true)};
}

}  // namespace

std::vector<CatalogueEntry> KeyedStateQueries() {
  std::vector<CatalogueEntry> all{FoldsSummed()};
  for (auto* part : {&StatesBehindRecords, &FoldsByKey, &StatesOfAllRecords}) {
    std::ranges::move((*part)(), std::back_inserter(all));
  }
  return all;
}

}  // namespace glaive::sim
