// Streams that reach a sink without a window, and streams with two sinks.

#include "engine/api/together.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kSinksWindowMs = 400;

/// The rows of the records for which `selects` holds.
std::vector<std::string> RecordRows(const Input& input, const std::function<bool(const Event&)>& selects) {
  std::vector<std::string> rows;
  for (const Seen& seen : Only(Read(input, 0), selects)) {
    rows.push_back(RecordRowText(seen.event));
  }
  return rows;
}

CatalogueEntry Unwindowed(std::string_view name, std::function<std::unique_ptr<Query>(const QueryParts&)> build,
                          const std::function<bool(const Event&)>& selects) {
  return WithoutStage(name, std::move(build), [selects](const Input& input) { return RecordRows(input, selects); });
}

/// A stage whose results go to one sink as they are, and to another one in part.
CatalogueEntry CountsInTwoSinks() {
  return {
      .name = "counts, and the odd ones among them",
      .window = "tumbling",
      .aggregates = {"count"},
      .join = "",
      .build =
          [](const QueryParts& parts) {
            const auto counts =
                Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kSinksWindowMs)}), parts)
                    .Aggregate(Count{});
            return Together(
                Stream(counts).To(StoreRows{parts.rows}),
                Stream(counts).Filter([](const auto& row) { return row.value % 2 == 1; }).To(StoreRows{parts.rows}));
          },
      .expect =
          [](const Input& input) {
            std::vector<Event> late;
            const Groups groups = GroupByWindows(Read(input, 0), kSinksWindowMs, kSinksWindowMs, KeyOf, late);
            std::vector<std::string> rows = RowsOf(groups, CountOf);
            for (const auto& [window, events] : groups) {
              if (events.size() % 2 == 1) {
                rows.push_back(RowText(window, PlainText(window.key), CountOf(events)));
              }
            }
            return Expected{.rows = std::move(rows), .late = LateRowsOf(late)};
          }};
}

}  // namespace

std::vector<CatalogueEntry> SinkQueries() {
  return {Unwindowed(
              "even records without a window",
              [](const QueryParts& parts) {
                return FirstOfAll(parts).Filter(&IsEven).Map(&RecordRowOf).To(StoreRows{parts.rows});
              },
              IsEven),
          Unwindowed(
              "even and odd records in two sinks",
              [](const QueryParts& parts) {
                auto [even, odd] = FirstOfAll(parts).Split(&IsEven, [](const Event& event) { return !IsEven(event); });
                return Together(std::move(even).Map(&RecordRowOf).To(StoreRows{parts.rows}),
                                std::move(odd).Map(&RecordRowOf).To(StoreRows{parts.rows}));
              },
              [](const Event&) { return true; }),
          CountsInTwoSinks()};
}

}  // namespace glaive::sim
