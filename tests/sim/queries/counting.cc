// Queries whose rows say of each record that it was counted once: in a result, in a late result, or as a late record.
// That holds whichever of them are late, so the whole of their first source may fall silent while others go on.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/union.h"
#include "engine/sink/discard.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kCountedMs = 500;
constexpr std::int64_t kTotalMs = 2'000;
constexpr std::uint64_t kTotalKeys = 7;

std::string LineOf(std::int64_t start_ms, std::int64_t size_ms, std::uint64_t key) {
  return absl::StrCat("[", start_ms, ", ", start_ms + size_ms, ") ", key);
}

/// The start of the tumbling window that a time is in.
std::int64_t StartOf(std::int64_t time_ms, std::int64_t size_ms) {
  return (time_ms - (time_ms % size_ms + size_ms) % size_ms);
}

/// A line for each record of the first source: where it is counted.
template <typename LineOfEvent>
std::vector<std::string> LinesOf(const Input& input, const LineOfEvent& line_of) {
  std::vector<std::string> lines;
  for (const Seen& seen : Read(input, 0)) lines.push_back(line_of(seen.event));
  return lines;
}

using Counted = WindowResult<std::uint64_t, std::uint64_t>;
using CountedAndOther = WindowResult<std::uint64_t, std::tuple<std::uint64_t, std::optional<std::int64_t>>>;

std::string CountedLine(const Event& event) {
  return LineOf(StartOf(event.time_ms, kCountedMs), kCountedMs, event.key);
}
std::string TotalLine(const Event& event) {
  // A count's event time is its window's last millisecond.
  const std::int64_t counted_ms = StartOf(event.time_ms, kCountedMs) + kCountedMs - 1;
  return LineOf(StartOf(counted_ms, kTotalMs), kTotalMs, event.key % kTotalKeys);
}

/// Adds a result's line as often as it has counted records.
struct TotalRows {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const WindowResult<std::uint64_t, absl::int128>& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), static_cast<std::size_t>(row.value),
                       LineOf(row.window_start_ms, kTotalMs, row.key));
  }
};
struct JoinedRows {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const CountedAndOther& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), std::get<0>(row.value), LineOf(row.window_start_ms, kCountedMs, row.key));
  }
};
struct LateCounts {
  static constexpr RowKind kKind = RowKind::kLateResult;
  void operator()(const LateRecord<Counted>& late, StoredRows& stored) const {
    const Counted& row = late.record;
    stored.rows.insert(stored.rows.end(), row.value, LineOf(row.window_start_ms, kCountedMs, row.key));
  }
};
template <std::string (*kLineOf)(const Event&)>
struct LateEvents {
  static constexpr RowKind kKind = RowKind::kLateRecord;
  void operator()(const LateRecord<Event>& late, StoredRows& stored) const {
    stored.rows.push_back(kLineOf(late.record));
  }
};

/// The counts of the first source's keys.
template <std::string (*kLineOf)(const Event&)>
auto CountsOfFirst(const QueryParts& parts) {
  return FirstOfAll(parts)
      .KeyBy(&Event::key)
      .Window(Tumbling{Millis(kCountedMs)})
      .AllowedLateness(Millis(parts.lateness_ms))
      .LateTo(StoreAs<LateEvents<kLineOf>>{parts.rows})
      .Aggregate(Count{});
}

/// Of stages behind each other no result is late: the second one has no LateTo.
CatalogueEntry CountsSummed() {
  return {.name = "counts of a silent source, summed",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .counts_records = true,
          .build =
              [](const QueryParts& parts) {
                return CountsOfFirst<TotalLine>(parts)
                    .KeyBy(HandedOnBy([](const Counted& row) { return row.key % kTotalKeys; }, parts))
                    .Window(Tumbling{Millis(kTotalMs)})
                    .Aggregate(Sum{&Counted::value})
                    .To(StoreAs<TotalRows>{parts.rows});
              },
          .expect = [](const Input& input) { return Expected{.rows = LinesOf(input, TotalLine), .late = {}}; }};
}

/// A join goes on while the counts' source is silent, so counts may be late. The other source has none of their keys.
CatalogueEntry CountsJoined() {
  return {.name = "counts of a silent source, joined with another",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "left",
          .shape = "two stages",
          .sources = 2,
          .share = 3,
          .rows_wait_for = RowsWaitFor::kStages,
          .results_delay_ms = 2 * kCountedMs + 1,
          .counts_records = true,
          .build =
              [](const QueryParts& parts) {
                return LeftJoin(CountsOfFirst<CountedLine>(parts), SecondOfAll(parts))
                    .On(&Counted::key, [](const Event& event) { return ~event.key; })
                    .Window(Tumbling{Millis(kCountedMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreAs<LateCounts>{parts.rows}, Discard{})
                    .Keep(&Counted::value, &Event::amount)
                    .To(StoreAs<JoinedRows>{parts.rows});
              },
          .expect = [](const Input& input) { return Expected{.rows = LinesOf(input, CountedLine), .late = {}}; }};
}

/// Adds a result's line as often as it has counted records.
struct CountedRows {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const Counted& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), row.value, LineOf(row.window_start_ms, kCountedMs, row.key));
  }
};

/// Which records are late depends on how far the streams had come when they met. The first one may fall silent.
CatalogueEntry UnionCounted() {
  return {.name = "two sources united, counted",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .sources = 2,
          .share = 2,
          .unites_sources = true,
          .counts_records = true,
          .build =
              [](const QueryParts& parts) {
                return Union(FirstOfAll(parts), SecondOfAll(parts))
                    .KeyBy(&Event::key)
                    .Window(Tumbling{Millis(kCountedMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .LateTo(StoreAs<LateEvents<CountedLine>>{parts.rows})
                    .Aggregate(Count{})
                    .To(StoreAs<CountedRows>{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<std::string> lines;
                for (const std::size_t source : {0, 1}) {
                  for (const Seen& seen : Read(input, source)) lines.push_back(CountedLine(seen.event));
                }
                return Expected{.rows = std::move(lines), .late = {}};
              }};
}

}  // namespace

std::vector<CatalogueEntry> CountingQueries() { return {CountsSummed(), CountsJoined(), UnionCounted()}; }

}  // namespace glaive::sim
