// Queries by processing time: a record's windows follow from when it was read, or taken in, so from the schedule that a
// seed draws.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/union.h"
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

/// Likewise, with the time at which an operator behind the source takes records in, which is when they were read.
CatalogueEntry ByTimeOfTaking() {
  CatalogueEntry entry = ByProcessingTime("sliding count by the time at which records are taken in", SlidingOf(4, 2),
                                          Count{}, {"count"}, CountOf);
  entry.rows_wait_for = RowsWaitFor::kOwnTimes;
  entry.build = [](const QueryParts& parts) {
    return Judged(From(parts.flows.TimedSourceOf(0))
                      .KeyBy(&Event::key)
                      .Window(ProcessingTime(Sliding{Millis(4), Millis(2)})),
                  parts)
        .Aggregate(Count{})
        .To(StoreRows{parts.rows});
  };
  return entry;
}

/// Behind an exchange nobody notes the time. The counts of all windows of a key add up to its records.
CatalogueEntry ByTimeBehindAnExchange() {
  return {.name = "counts by the time at which records come through an exchange, added up",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .rows_wait_for = RowsWaitFor::kOwnTimes,
          .compares_flows = false,
          .counts_records = true,
          .build =
              [](const QueryParts& parts) {
                using Counted = WindowResult<std::uint64_t, std::uint64_t>;
                return FirstOfAll(parts)
                    .KeyBy(&Event::key)
                    .Partition()
                    .DropKey()
                    .WithProcessingTime()
                    .KeyBy(&Event::key)
                    .Window(Tumbling{Millis(2)})
                    .Aggregate(Count{})
                    .KeyBy(&Counted::key)
                    .Fold(std::uint64_t{0}, [](std::uint64_t sum, const Counted& row) { return sum + row.value; })
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                return Expected{.rows = RowsOf(GroupUnbounded(Read(input, 0), 0, KeyOf), CountOf), .late = {}};
              }};
}

/// A number that counts for a key.
struct Weighed {
  std::uint64_t key;
  std::uint64_t weight;
};

/// Results of a stage, and the records that they are made of, by the times at which operators take them in. A key's sum
/// has each of its records once, and once more if it was not late for the stage.
CatalogueEntry ByTimeBehindAStage() {
  constexpr std::int64_t kCountedMs = 500;
  return {
      .name = "counts of windows and their records by the times at which they are taken in, added up",
      .window = "tumbling",
      .aggregates = {"count"},
      .join = "",
      .shape = "two stages",
      .rows_wait_for = RowsWaitFor::kOwnTimes,
      .build =
          [](const QueryParts& parts) {
            using Counted = WindowResult<std::uint64_t, std::uint64_t>;
            const auto all = FirstOfAll(parts);
            auto counts = Judged(Stream(all).KeyBy(&Event::key).Window(Tumbling{Millis(kCountedMs)}), parts)
                              .Aggregate(Count{})
                              .Map([](const Counted& row) { return Weighed{.key = row.key, .weight = row.value}; });
            auto records = Stream(all).Map([](const Event& event) { return Weighed{.key = event.key, .weight = 1}; });
            return Union(std::move(counts).WithProcessingTime(), std::move(records).WithProcessingTime())
                .KeyBy(&Weighed::key)
                .Window(Tumbling{Millis(2)})
                .Aggregate(Sum{&Weighed::weight})
                .KeyBy(&Summed::key)
                .Fold(std::uint64_t{0},
                      [](std::uint64_t sum, const Summed& row) { return sum + static_cast<std::uint64_t>(row.value); })
                .To(StoreRows{parts.rows});
          },
      .expect =
          [](const Input& input) {
            std::vector<Event> late;
            std::vector<Seen> counted = Read(input, 0);
            for (const auto& [window, events] : GroupByWindows(counted, kCountedMs, kCountedMs, KeyOf, late)) {
              for (const Event& event : events) counted.push_back({.event = event});
            }
            return Expected{.rows = RowsOf(GroupUnbounded(counted, 0, KeyOf), CountOf), .late = LateRowsOf(late)};
          }};
}

Event WithTimeOfReading(Event event, std::int64_t time_ms) {
  event.time_ms = time_ms;
  return event;
}

std::string SumAndLastTimeOf(const std::vector<Event>& events) {
  return SumOf(events) + ", " + LeastOf(events) + ", " +
         absl::StrCat(std::ranges::max(events, {}, &Event::time_ms).time_ms);
}

/// Their records are told the times at which they are read.
CatalogueEntry SessionsWithTimes() {
  const Several aggregate{Sum{&Event::amount}, Min{&Event::amount}, Max{&Event::time_ms}};
  CatalogueEntry entry = ByProcessingTime("sessions by processing time, sum, least and last time", SessionOf(3),
                                          aggregate, {"sum", "min", "max"}, SumAndLastTimeOf);
  entry.build = [aggregate](const QueryParts& parts) {
    return Judged(From(ProcessingTime(parts.flows.TimedSourceOf(0)))
                      .MapWithTime(&WithTimeOfReading)
                      .KeyBy(&Event::key)
                      .Window(Session{Millis(3)}),
                  parts)
        .Aggregate(aggregate)
        .To(StoreRows{parts.rows});
  };
  return Having({"MapWithTime"}, std::move(entry));
}

}  // namespace

// A run without a silence is some milliseconds of virtual time. Slots have room for the values of both queries.
std::vector<CatalogueEntry> ProcessingTimeQueries() {
  return {ByProcessingTime("tumbling count by processing time", TumblingOf(2), Count{}, {"count"}, CountOf),
          SessionsWithTimes(), ByTimeOfTaking(), ByTimeBehindAnExchange(),
          Having({"WithProcessingTime", "Union"}, ByTimeBehindAStage())};
}

}  // namespace glaive::sim
