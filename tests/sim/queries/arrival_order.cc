// Operators that depend on the order in which records come: Reorder, Unique and Zip. Which of several records comes
// first is open, so rows do not say.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine/api/zip.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// A row of each record, which says whether it is earlier than one of its key before it.
RecordRow SortedRowOf(std::int64_t& latest_ms, const Event& event) {
  const bool is_earlier = event.time_ms < latest_ms;
  latest_ms = std::max(latest_ms, event.time_ms);
  return {.key = event.key, .value = is_earlier ? 1 : 0};
}
std::vector<std::string> InOrderRows(const Input& input) {
  std::vector<std::string> rows;
  for (const Seen& seen : Read(input, 0)) {
    rows.push_back(RowText({}, PlainText(seen.event.key), "0"));
  }
  return rows;
}
constexpr std::int64_t kBeforeAllMs = std::numeric_limits<std::int64_t>::min();

CatalogueEntry WithoutLate(CatalogueEntry entry) {
  entry.none_is_late = true;
  return entry;
}

std::uint64_t FewValues(const Event& event) { return static_cast<std::uint64_t>(event.amount + 1'000) % 19; }

std::vector<std::string> RowsOfSet(const Input& input, std::uint64_t (*value)(const Event&)) {
  std::set<std::uint64_t> values;
  for (const Seen& seen : Read(input, 0)) {
    values.insert(value(seen.event));
  }
  std::vector<std::string> rows;
  for (const std::uint64_t each : values) {
    rows.push_back(NumberRowText(each));
  }
  return rows;
}

CatalogueEntry ZippedSources() {
  CatalogueEntry entry = WithoutStage(
      "the records of two sources in pairs",
      [](const QueryParts& parts) {
        return Zip(FirstOfAll(parts), SecondOfAll(parts))
            .Map([](const Zipped<Event, Event>& /*both*/) { return RecordRow{}; })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        const std::size_t count = std::min(Read(input, 0).size(), Read(input, 1).size());
        return std::vector<std::string>(count, RowText({}, PlainText(0), "0"));
      });
  entry.sources = 2;
  entry.unites_sources = true;
  return entry;
}

}  // namespace

std::vector<CatalogueEntry> ArrivalOrderQueries() {
  return {Having({"Reorder"},
                 WithoutLate(WithoutStage(
                     "records in the order of their event times on each executor",
                     [](const QueryParts& parts) {
                       return FirstOfAll(parts).Reorder().RichMap(kBeforeAllMs, &SortedRowOf).To(StoreRows{parts.rows});
                     },
                     &InOrderRows))),
          Having({"Reorder by key"}, WithoutLate(WithoutStage(
                                         "records in the order of their event times by key",
                                         [](const QueryParts& parts) {
                                           return FirstOfAll(parts)
                                               .KeyBy(&Event::key)
                                               .Reorder()
                                               .RichMap(kBeforeAllMs, &SortedRowOf)
                                               .To(StoreRows{parts.rows});
                                         },
                                         &InOrderRows))),
          Having({"Unique"},
                 WithoutStage(
                     "different values",
                     [](const QueryParts& parts) {
                       return FirstOfAll(parts).Map(&FewValues).Unique().Map(&NumberRowOf).To(StoreRows{parts.rows});
                     },
                     [](const Input& input) { return RowsOfSet(input, &FewValues); })),
          Having({"Unique by key"}, WithoutStage(
                                        "the first record of each key",
                                        [](const QueryParts& parts) {
                                          return FirstOfAll(parts)
                                              .KeyBy(&Event::key)
                                              .Unique()
                                              .Map([](const Event& event) { return NumberRowOf(event.key); })
                                              .To(StoreRows{parts.rows});
                                        },
                                        [](const Input& input) { return RowsOfSet(input, &KeyOf); })),
          Having({"Zip"}, ZippedSources())};
}

}  // namespace glaive::sim
