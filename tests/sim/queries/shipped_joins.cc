// Joins whose records an exchange brings together, and joins by sorting. Behind an exchange, which records are late
// depends on how far the executors had come, so no record of these inputs is late.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kShippedMs = 600;
constexpr std::int64_t kShippedSlideMs = 200;

/// `expect` is given both sides. The inputs of the join are none of the sources where an exchange stands before one.
CatalogueEntry ShippedJoin(
    std::string_view name, std::string_view join, std::string_view window, std::string_view key,
    std::vector<std::string_view> operators, RowsWaitFor rows_wait_for,
    const std::function<std::unique_ptr<Query>(const QueryParts&)>& build,
    const std::function<std::vector<std::string>(const std::vector<Seen>&, const std::vector<Seen>&)>& expect) {
  return {.name = name,
          .window = window,
          .aggregates = {},
          .join = join,
          .key = key,
          .sources = 2,
          .share = 2,
          .rows_wait_for = rows_wait_for,
          .compares_flows = false,
          .none_is_late = true,
          .operators = std::move(operators),
          .build = build,
          .expect = [expect](const Input& input) {
            return Expected{.rows = expect(Read(input, 0), Read(input, 1)), .late = {}};
          }};
}

std::vector<Pair> ShippedPairs(const std::vector<Seen>& left, const std::vector<Seen>& right, std::int64_t slide_ms,
                               const KeyFunction& key_of, bool is_left, bool is_full) {
  std::vector<Event> none_late;
  return PairsOf(GroupByWindows(left, kShippedMs, slide_ms, key_of, none_late),
                 GroupByWindows(right, kShippedMs, slide_ms, key_of, none_late), is_left, is_full);
}

}  // namespace

std::vector<CatalogueEntry> ShippedJoinQueries() {
  using Sides = const std::vector<Seen>&;
  return {ShippedJoin(
              "full join by a text, both streams by key, sorted", "full", "tumbling", KeyOracleOf<Text>().name,
              {"Ship", "Local"}, RowsWaitFor::kInput,
              [](const QueryParts& parts) {
                return FullJoin(FirstOfAll(parts), SecondOfAll(parts))
                    .On(&KeyAs<Text>, &KeyAs<Text>)
                    .Ship(BothByKey{})
                    .Local(SortMerge{})
                    .Window(Tumbling{Millis(kShippedMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](Sides left, Sides right) {
                const auto key = KeyOracleOf<Text>();
                return PairRows(ShippedPairs(left, right, kShippedMs, key.key_of, true, true), key.text);
              }),
          ShippedJoin(
              "sliding left join, the right stream at all executors", "left", "sliding", "8 bytes", {"Ship"},
              RowsWaitFor::kStages,
              [](const QueryParts& parts) {
                return LeftJoin(FirstOfAll(parts), SecondOfAll(parts))
                    .On(&Event::key, &Event::key)
                    .Ship(RightToAll{})
                    .Window(Sliding{Millis(kShippedMs), Millis(kShippedSlideMs)})
                    .AllowedLateness(Millis(parts.lateness_ms))
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](Sides left, Sides right) {
                return PairRows(ShippedPairs(left, right, kShippedSlideMs, KeyOf, true, false));
              }),
          ShippedJoin(
              "unwindowed semi join, the right stream at all executors", "semi", "unbounded", "8 bytes", {"Ship"},
              RowsWaitFor::kOwnTimes,
              [](const QueryParts& parts) {
                return SemiJoin(FirstOfAll(parts), SecondOfAll(parts))
                    .On(&Event::key, &Event::key)
                    .Ship(RightToAll{})
                    .Window(Unbounded{})
                    .Keep(&Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](Sides left, Sides right) {
                const auto pairs =
                    PairsOf(GroupUnbounded(left, 0, KeyOf), GroupUnbounded(right, 0, KeyOf), true, false);
                return OneSidedRows(pairs, /*with_partner=*/true, &PlainText);
              }),
          ShippedJoin(
              "unwindowed join, sorted", "inner", "unbounded", "8 bytes", {"Local"}, RowsWaitFor::kNothing,
              [](const QueryParts& parts) {
                return Join(FirstOfAll(parts), SecondOfAll(parts))
                    .On(&Event::key, &Event::key)
                    .Local(SortMerge{})
                    .Window(Unbounded{})
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](Sides left, Sides right) {
                return PairRows(PairsOf(GroupUnbounded(left, 0, KeyOf), GroupUnbounded(right, 0, KeyOf), false, false));
              })};
}

}  // namespace glaive::sim
