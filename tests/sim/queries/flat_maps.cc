// Streams of which a record becomes none, one or two, and steps of single records without a window.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/api/union.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kCopiesWindowMs = 600;
constexpr std::int64_t kDigitsWindowMs = 1'800;

// The engine's functions.
std::vector<Event> CopiesOf(const Event& event) {
  std::vector<Event> copies(event.kind, event);  // 0, 1 or 2
  if (copies.size() == 2) copies.back().amount += 7;
  return copies;
}
std::vector<std::uint64_t> DigitsOf(const Summed& row) {
  auto rest = static_cast<std::uint64_t>(row.value < 0 ? -row.value : row.value);
  std::vector<std::uint64_t> digits;
  for (; rest > 0; rest /= 10) digits.push_back(rest % 10);
  return digits;
}

// The oracle's.
std::vector<Seen> SeenCopies(const Input& input) {
  std::vector<Seen> copies;
  for (const Seen& seen : Read(input, 0)) {
    for (std::uint64_t copy = 0; copy < seen.event.kind; ++copy) {
      copies.push_back(seen);
      copies.back().event.amount += copy == 1 ? 7 : 0;
    }
  }
  return copies;
}
/// A record of the next stage for each digit, whose key it is.
std::vector<Seen> SeenDigits(const std::vector<Seen>& sums) {
  std::vector<Seen> digits;
  for (const Seen& sum : sums) {
    for (auto rest = static_cast<std::uint64_t>(std::abs(sum.event.amount)); rest > 0; rest /= 10) {
      digits.push_back(sum);
      digits.back().event.key = rest % 10;
    }
  }
  return digits;
}

CatalogueEntry CopiesInWindows() {
  return {.name = "sums of records that become none, one or two",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .build =
              [](const QueryParts& parts) {
                auto copies = FirstOfAll(parts).FlatMap(&CopiesOf);
                return Judged(std::move(copies).KeyBy(&Event::key).Window(Tumbling{Millis(kCopiesWindowMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups groups = GroupByWindows(SeenCopies(input), kCopiesWindowMs, kCopiesWindowMs, KeyOf, late);
                return Expected{.rows = RowsOf(groups, SumOf), .late = LateRowsOf(late)};
              }};
}

CatalogueEntry DigitsOfSums() {
  return {.name = "digits of sums, counted",
          .window = "tumbling",
          .aggregates = {"sum"},
          .join = "",
          .shape = "two stages",
          .rows_wait_for = RowsWaitFor::kStages,
          .build =
              [](const QueryParts& parts) {
                return Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kCopiesWindowMs)}), parts)
                    .Aggregate(Sum{&Event::amount})
                    .FlatMap(&DigitsOf)
                    .KeyBy([](std::uint64_t digit) { return digit; })  // not HandedOnBy: a row hands on several
                    .Window(Tumbling{Millis(kDigitsWindowMs)})
                    .Aggregate(Count{})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Event> late;
                const Groups sums = GroupByWindows(Read(input, 0), kCopiesWindowMs, kCopiesWindowMs, KeyOf, late);
                const Groups digits =
                    Regrouped(SeenDigits(ResultsOf(sums, PlainSum)), TumblingOf(kDigitsWindowMs), KeyOf);
                return Expected{.rows = RowsOf(digits, CountOf), .late = LateRowsOf(late)};
              }};
}

/// An array of a record and of another one with its key.
CatalogueEntry Flattened() {
  return WithoutStage(
      "pairs of records, flattened",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .Map([](const Event& event) {
              std::array<Event, 2> pair{event, event};
              pair.back().amount += 11;
              return pair;
            })
            .Flatten()
            .Map(&RecordRowOf)
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (Seen& seen : Read(input, 0)) {
          rows.push_back(RecordRowText(seen.event));
          seen.event.amount += 11;
          rows.push_back(RecordRowText(seen.event));
        }
        return rows;
      });
}

/// Three branches, of which each marks its records, are one stream again. Records of none are dropped.
constexpr std::int64_t kMark = 10'000;
template <int kBranch>
Event Marked(Event event) {
  event.amount += kBranch * kMark;
  return event;
}
bool IsOfKindZero(const Event& event) { return event.kind == 0; }
bool IsOfKindOne(const Event& event) { return event.kind == 1; }
CatalogueEntry RoutedAndUnited() {
  return WithoutStage(
      "records routed to three branches, united",
      [](const QueryParts& parts) {
        auto [zeros, even, ones] = FirstOfAll(parts).Route(&IsOfKindZero, &IsEven, &IsOfKindOne);
        return Union(std::move(zeros).Map(&Marked<1>), std::move(even).Map(&Marked<2>), std::move(ones).Map(&Marked<3>))
            .Map(&RecordRowOf)
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (Seen& seen : Read(input, 0)) {
          if (seen.event.kind == 2 && seen.event.amount % 2 != 0) continue;
          const std::int64_t branch = seen.event.kind == 0 ? 1 : seen.event.amount % 2 == 0 ? 2 : 3;
          seen.event.amount += branch * kMark;
          rows.push_back(RecordRowText(seen.event));
        }
        return rows;
      });
}

/// Two copies of a stream, whose records were changed before.
CatalogueEntry CachedAndCopied() {
  return WithoutStage(
      "copies of a cached stream, united",
      [](const QueryParts& parts) {
        const auto cached = FirstOfAll(parts).Filter(&IsEven).Map(&Marked<3>).Cache();
        return Union(Stream(cached).Map(&Marked<1>), Stream(cached).Filter(&IsOfKindOne).Map(&Marked<2>))
            .Map(&RecordRowOf)
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (const Seen& seen : Read(input, 0)) {
          if (seen.event.amount % 2 != 0) continue;
          for (const std::int64_t branch : {1, 2}) {
            Event copy = seen.event;
            copy.amount += (3 + branch) * kMark;
            if (branch == 1 || copy.kind == 1) rows.push_back(RecordRowText(copy));
          }
        }
        return rows;
      });
}

/// Sums of records whose event times were taken away: none of them waits for another.
CatalogueEntry SumsWithoutEventTimes() {
  return {.name = "sums at the end of records without their event times",
          .window = "unbounded",
          .aggregates = {"sum"},
          .join = "",
          .rows_wait_for = RowsWaitFor::kOwnTimes,
          .compares_flows = false,
          .build =
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .Filter(&IsEven)
                    .WithoutEventTime()
                    .KeyBy(&Event::key)
                    .Aggregate(Sum{&Event::amount})
                    .To(StoreRows{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<Seen> even;
                for (const Seen& seen : Read(input, 0)) {
                  if (seen.event.amount % 2 == 0) even.push_back(seen);
                }
                return Expected{.rows = RowsOf(GroupUnbounded(even, 0, KeyOf), SumOf), .late = {}};
              }};
}

CatalogueEntry Unkeyed() {
  return WithoutStage(
      "records with their keys, no longer grouped",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .KeyBy([](const Event& event) { return event.key % 7; })
            .Unkey()
            .Map([](const KeyedRecord<std::uint64_t, Event>& keyed) {
              Event event = keyed.record;
              event.key = keyed.key;
              return RecordRowOf(event);
            })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (Seen& seen : Read(input, 0)) {
          seen.event.key %= 7;
          rows.push_back(RecordRowText(seen.event));
        }
        return rows;
      });
}

/// A counter that the step before a row adds to, and that the row takes: 1, if the step was called once.
CatalogueEntry Inspected() {
  return WithoutStage(
      "records, each with how often it was inspected",
      [](const QueryParts& parts) {
        const auto count = std::make_shared<std::int64_t>(0);  // of one thread: all executors of the simulated node
        return FirstOfAll(parts)
            .Inspect([count](const Event&) { ++*count; })
            .Map([count](const Event& event) { return RecordRow{.key = event.key, .value = std::exchange(*count, 0)}; })
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (const Seen& seen : Read(input, 0)) rows.push_back(RowText({}, PlainText(seen.event.key), "1"));
        return rows;
      });
}

/// Rows of the n-th record of each executor, `copies(n)` times. Each executor reads one flow.
std::vector<std::string> NthOfExecutors(const Input& input, std::uint64_t (*copies)(std::uint64_t n)) {
  std::vector<std::string> rows;
  for (const Flow& flow : input.sources[0]) {
    std::uint64_t n = 0;
    for (const Batch& batch : flow) {
      for (std::size_t i = 0; i < batch.events.size(); ++i) {
        ++n;
        rows.insert(rows.end(), copies(n), NumberRowText(n));
      }
    }
  }
  return rows;
}
CatalogueEntry FlatMappedByExecutor() {
  return WithoutStage(
      "the n-th record of each executor becomes none, one or two",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .RichFlatMap(std::uint64_t{0},
                         [](std::uint64_t& count, const Event&) {
                           ++count;
                           return std::vector<std::uint64_t>(count % 3, count);
                         })
            .Map(&NumberRowOf)
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) { return NthOfExecutors(input, [](std::uint64_t n) { return n % 3; }); });
}
CatalogueEntry FilteredByExecutor() {
  return WithoutStage(
      "each fourth record of an executor",
      [](const QueryParts& parts) {
        return FirstOfAll(parts)
            .RichFilterMap(std::uint64_t{0},
                           [](std::uint64_t& count, const Event&) {
                             return ++count % 4 == 0 ? std::optional(count) : std::nullopt;
                           })
            .Map(&NumberRowOf)
            .To(StoreRows{parts.rows});
      },
      [](const Input& input) {
        return NthOfExecutors(input, [](std::uint64_t n) { return std::uint64_t{n % 4 == 0 ? 1U : 0U}; });
      });
}

/// Which window a record is in depends on when it is read. So a window's row is its key, as often as it has records.
struct KeysOfCounts {
  static constexpr RowKind kKind = RowKind::kResult;
  void operator()(const WindowResult<std::uint64_t, std::uint64_t>& row, StoredRows& stored) const {
    stored.rows.insert(stored.rows.end(), row.value, absl::StrCat(row.key));
  }
};
CatalogueEntry CountedByTheClock() {
  return {.name = "records counted by the time at which they are read",
          .window = "tumbling",
          .aggregates = {"count"},
          .join = "",
          .rows_wait_for = RowsWaitFor::kOwnTimes,
          .compares_flows = false,
          .build =
              [](const QueryParts& parts) {
                return FirstOfAll(parts)
                    .WithProcessingTime()
                    .KeyBy(&Event::key)
                    .Window(Tumbling{Millis(3)})
                    .Aggregate(Count{})
                    .To(StoreAs<KeysOfCounts>{parts.rows});
              },
          .expect =
              [](const Input& input) {
                std::vector<std::string> rows;
                for (const Seen& seen : Read(input, 0)) rows.push_back(absl::StrCat(seen.event.key));
                return Expected{.rows = std::move(rows), .late = {}};
              }};
}

}  // namespace

std::vector<CatalogueEntry> FlatMapQueries() {
  return {Having({"FlatMap"}, CopiesInWindows()),
          Having({"FlatMap"}, DigitsOfSums()),
          Having({"Map", "Flatten"}, Flattened()),
          Having({"Route", "Union"}, RoutedAndUnited()),
          Having({"Cache"}, CachedAndCopied()),
          Having({"WithoutEventTime"}, SumsWithoutEventTimes()),
          Having({"Unkey"}, Unkeyed()),
          Having({"Inspect"}, Inspected()),
          Having({"RichFlatMap"}, FlatMappedByExecutor()),
          Having({"RichFilterMap"}, FilteredByExecutor()),
          Having({"WithProcessingTime"}, CountedByTheClock())};
}

}  // namespace glaive::sim
