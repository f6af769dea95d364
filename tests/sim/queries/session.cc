#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

template <typename A>
CatalogueEntry InSessions(std::string_view name, std::int64_t gap_ms, const A& aggregate,
                          std::string (*show)(const std::vector<Event>&)) {
  return {.name = name,
          .window = "session",
          .aggregate = name.substr(name.rfind(' ') + 1),
          .join = "",
          .build =
              [=](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Session{Millis(gap_ms)}), parts)
                    .Aggregate(aggregate)
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [=](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupBySessions(Read(input, 0), gap_ms, KeyOf, late);
                return Expected{.rows = RowsOf(groups, show), .late = LateRowsOf(late)};
              }};
}

}  // namespace

std::vector<CatalogueEntry> SessionQueries() {
  return {InSessions("session count", 150, Count{}, CountOf),
          InSessions("session exact-sum", 400, Sum{&Event::weight}, WeightOf),
          InSessions("session mean", 40, Mean{&Event::weight}, MeanOf),
          InSessions("session first", 1'000, First{&Event::time_ms, &Event::amount}, FirstOf)};
}

}  // namespace glaive::sim
