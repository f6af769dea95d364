// Queries by processing time: a record's windows follow from when it was read, so from the schedule that a seed draws.

#include "engine/source/processing_time.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

template <typename W, typename A>
CatalogueEntry ByProcessingTime(std::string_view name, const WindowKind<W>& kind, const A& aggregate,
                                const std::vector<std::string_view>& shown, ShowEvents show) {
  return {.name = name,
          .window = kind.name,
          .aggregates = shown,
          .join = "",
          .by_processing_time = true,
          .build =
              [window = kind.window, aggregate](const QueryParts& parts) {
                auto records = From(ProcessingTime(parts.flows.TimedSourceOf(0)));
                return Judged(std::move(records).KeyBy(&Event::key).Window(window), parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [group = kind.group, show](const Input& noted) {
                std::vector<Event> late;
                const Groups groups = group(Read(noted, 0), KeyOf, late);
                return Expected{.rows = RowsOf(groups, show), .late = LateRowsOf(late)};
              }};
}

std::string SumAndBoundsOf(const std::vector<Event>& events) {
  return SumOf(events) + ", " + LeastOf(events) + ", " + GreatestOf(events);
}

}  // namespace

// A run without a silence is some milliseconds of virtual time. Slots have room for the values of both queries.
std::vector<CatalogueEntry> ProcessingTimeQueries() {
  return {ByProcessingTime("tumbling count by processing time", TumblingOf(2), Count{}, {"count"}, CountOf),
          ByProcessingTime("sessions by processing time, sum and bounds", SessionOf(3),
                           Several{Sum{&Event::amount}, Min{&Event::amount}, Max{&Event::amount}},
                           {"sum", "min", "max"}, SumAndBoundsOf)};
}

}  // namespace glaive::sim
