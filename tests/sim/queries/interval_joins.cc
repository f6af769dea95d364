// Interval joins: records of two streams that are near each other in event time. They compare records that have moved,
// so no record of these inputs is late.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

/// How much later the right event is at least and at most, ms.
struct Bounds {
  std::int64_t lower_ms;
  std::int64_t upper_ms;

  bool Hold(const Event& left, const Event& right) const {
    const std::int64_t apart_ms = right.time_ms - left.time_ms;
    return apart_ms >= lower_ms && apart_ms <= upper_ms;
  }
};
constexpr Bounds kAround{.lower_ms = -40, .upper_ms = 110};
/// Further behind the left event than most watermarks are.
constexpr Bounds kBehind{.lower_ms = 1'200, .upper_ms = 1'500};

/// The oracle's nested loop. Without keys the key of all is 0, and only events of kind 0 are joined. `is_left` and
/// `is_full`: also those without a partner.
std::vector<Pair> PairsWithin(const Input& input, const Bounds& bounds, bool by_key, bool is_left, bool is_full) {
  const std::vector<Seen> left = Read(input, 0);
  const std::vector<Seen> right = Read(input, 1);
  std::vector<bool> right_has_met(right.size());
  std::vector<Pair> pairs;
  const auto add = [&](const Event& first, const Event& last, std::optional<std::int64_t> left_amount,
                       std::optional<std::int64_t> right_amount) {
    const std::int64_t start_ms = std::min(first.time_ms, last.time_ms);
    const std::int64_t end_ms = std::max(first.time_ms, last.time_ms) + 1;
    pairs.push_back({{start_ms, end_ms, by_key ? first.key : 0}, left_amount, right_amount});
  };
  for (const Seen& one : left) {
    bool has_met = false;
    if (!by_key && one.event.kind != 0) continue;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const Event& other = right[i].event;
      if (!by_key && other.kind != 0) continue;
      if ((by_key && other.key != one.event.key) || !bounds.Hold(one.event, other)) continue;
      add(one.event, other, one.event.amount, other.amount);
      has_met = true;
      right_has_met[i] = true;
    }
    if (!has_met && is_left) add(one.event, one.event, one.event.amount, std::nullopt);
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Event& other = right[i].event;
    if (!right_has_met[i] && is_full) add(other, other, std::nullopt, other.amount);
  }
  return pairs;
}

/// A row for each left event that has a partner far behind it, by key.
std::vector<std::string> RowsWithPartner(const Input& input) {
  const std::vector<Seen> right = Read(input, 1);
  std::vector<std::string> rows;
  for (const auto& [one, judged_by_ms] : Read(input, 0)) {
    const bool has_met = std::ranges::any_of(
        right, [&one](const Seen& other) { return other.event.key == one.key && kBehind.Hold(one, other.event); });
    if (has_met) {
      rows.push_back(RowText({one.time_ms, one.time_ms + 1, one.key}, PlainText(one.key), absl::StrCat(one.amount)));
    }
  }
  return rows;
}

CatalogueEntry Interval(std::string_view name, std::string_view key,
                        const std::function<std::unique_ptr<Query>(const QueryParts&)>& build,
                        const std::function<std::vector<std::string>(const Input&)>& rows) {
  return {.name = name,
          .window = "",
          .aggregates = {},
          .join = "",
          .key = key,
          .shape = "no stage",
          .sources = 2,
          .share = 4,
          .rows_wait_for = RowsWaitFor::kNothing,
          .compares_flows = false,
          .unites_sources = true,
          .none_is_late = true,
          .operators = {"Within"},
          .build = build,
          .expect = [rows](const Input& input) { return Expected{.rows = rows(input), .late = {}}; }};
}

template <JoinKind kKind>
auto WithinOf(const QueryParts& parts, const Bounds& bounds) {
  return JoinOfKind<kKind>(FirstOfAll(parts), SecondOfAll(parts))
      .On(&Event::key, &Event::key)
      .Within(Millis(bounds.lower_ms), Millis(bounds.upper_ms));
}

}  // namespace

std::vector<CatalogueEntry> IntervalJoinQueries() {
  return {Interval(
              "interval full join by key", "8 bytes",
              [](const QueryParts& parts) {
                return WithinOf<JoinKind::kFull>(parts, kAround)
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](const Input& input) { return PairRows(PairsWithin(input, kAround, true, true, true)); }),
          Interval(
              "interval semi join by key", "8 bytes",
              [](const QueryParts& parts) {
                return WithinOf<JoinKind::kSemi>(parts, kBehind).Keep(&Event::amount).To(StoreRows{parts.rows});
              },
              &RowsWithPartner),
          Interval(
              "interval join without a key", "none",
              [](const QueryParts& parts) {
                return Join(FirstOfAll(parts).Filter([](const Event& event) { return event.kind == 0; }),
                            SecondOfAll(parts).Filter([](const Event& event) { return event.kind == 0; }))
                    .Within(Millis(kBehind.lower_ms), Millis(kBehind.upper_ms))
                    .Keep(&Event::amount, &Event::amount)
                    .To(StoreRows{parts.rows});
              },
              [](const Input& input) {
                return PairRows(PairsWithin(input, kBehind, false, false, false),
                                [](std::uint64_t) { return std::string("all"); });
              })};
}

}  // namespace glaive::sim
