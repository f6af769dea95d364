#include "queries/collisions/collisions_query.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"

#include "engine/api/join.h"
#include "engine/api/stream.h"
#include "engine/graph/graph_query.h"
#include "queries/common/date_texts.h"
#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::queries::collisions {
namespace {

using engine::AllRecords;
using engine::WindowResult;

struct InWeek {
  std::int32_t week;
  std::uint32_t lethal;
};

struct WithFactor {
  Text factor;
  std::uint32_t lethal;
};
GLAIVE_RECORD(WithFactor, factor, lethal)

struct BoroughWeek {
  Text borough;
  std::int32_t week;

  friend bool operator==(const BoroughWeek&, const BoroughWeek&) = default;
};
GLAIVE_RECORD(BoroughWeek, borough, week)

struct InBorough {
  BoroughWeek at;
  std::uint32_t lethal;
};
GLAIVE_RECORD(InBorough, at, lethal)

/// Of a borough's week.
struct Counts {
  BoroughWeek at;
  std::uint64_t accidents;
  std::uint64_t lethal_accidents;
};
GLAIVE_RECORD(Counts, at, accidents, lethal_accidents)

/// Of all of a borough's weeks.
struct LethalOfBorough {
  Text borough;
  std::uint64_t accidents;
};
GLAIVE_RECORD(LethalOfBorough, borough, accidents)

struct Mean {
  Text borough;
  double lethal_accidents_a_week;
};
GLAIVE_RECORD(Mean, borough, lethal_accidents_a_week)

struct WeekRow {
  Text week;
  std::uint64_t lethal_accidents;
};
GLAIVE_RECORD(WeekRow, week, lethal_accidents)

struct FactorRow {
  Text factor;
  std::uint64_t accidents;
  std::uint64_t lethal_accidents;
  double lethal_percent;
};
GLAIVE_RECORD(FactorRow, factor, accidents, lethal_accidents, lethal_percent)

struct BoroughRow {
  Text borough;
  Text week;
  std::uint64_t accidents;
  std::uint64_t lethal_accidents;
  double lethal_accidents_a_week;
};
GLAIVE_RECORD(BoroughRow, borough, week, accidents, lethal_accidents, lethal_accidents_a_week)

/// The different factors of an accident, as a range.
class FactorsOf {
 public:
  explicit FactorsOf(const Collision& collision) {
    for (const Text& factor : collision.factors) {
      const auto is_it = [&factor](const WithFactor& other) { return other.factor == factor; };
      if (!factor.empty() && std::none_of(begin(), end(), is_it)) {
        factors_[count_++] = {.factor = factor, .lethal = collision.lethal};
      }
    }
  }

  const WithFactor* begin() const { return factors_.data(); }
  const WithFactor* end() const { return factors_.data() + count_; }

 private:
  std::array<WithFactor, kMostFactors> factors_{};
  std::size_t count_ = 0;
};

Text NameOfWeek(std::int32_t monday) { return DayOf(std::int64_t{monday} * 86'400'000); }

std::uint64_t CountOf(absl::int128 sum) { return static_cast<std::uint64_t>(sum); }

WeekRow ToWeekRow(const WindowResult<std::int32_t, absl::int128>& week) {
  return {.week = NameOfWeek(week.key), .lethal_accidents = CountOf(week.value)};
}

FactorRow ToFactorRow(const WindowResult<Text, std::tuple<std::uint64_t, absl::int128>>& factor) {
  const auto& [accidents, lethal] = factor.value;
  return {.factor = factor.key,
          .accidents = accidents,
          .lethal_accidents = CountOf(lethal),
          .lethal_percent = 100.0 * static_cast<double>(CountOf(lethal)) / static_cast<double>(accidents)};
}

Counts ToCounts(const WindowResult<BoroughWeek, std::tuple<std::uint64_t, absl::int128>>& week) {
  const auto& [accidents, lethal] = week.value;
  return {.at = week.key, .accidents = accidents, .lethal_accidents = CountOf(lethal)};
}

LethalOfBorough ToLethalOfBorough(const WindowResult<Text, absl::int128>& borough) {
  return {.borough = borough.key, .accidents = CountOf(borough.value)};
}

Mean ToMean(const WindowResult<std::uint32_t, std::tuple<LethalOfBorough, std::uint64_t>>& pair) {
  const auto& [lethal, weeks] = pair.value;
  return {.borough = lethal.borough,
          .lethal_accidents_a_week = static_cast<double>(lethal.accidents) / static_cast<double>(weeks)};
}

BoroughRow ToBoroughRow(const WindowResult<Text, std::tuple<Counts, Mean>>& pair) {
  const auto& [counts, mean] = pair.value;
  return {.borough = counts.at.borough,
          .week = NameOfWeek(counts.at.week),
          .accidents = counts.accidents,
          .lethal_accidents = counts.lethal_accidents,
          .lethal_accidents_a_week = mean.lethal_accidents_a_week};
}

/// The key by which every record meets every other.
constexpr auto kAllTogether = [](const auto& /*record*/) { return std::uint32_t{0}; };

}  // namespace

std::unique_ptr<engine::Query> BuildCollisions(const engine::SourceSpec<Collision, engine::NoEventTime>& collisions,
                                               const Answers& answers) {
  const auto place_of = [&answers](Question question) -> const std::optional<engine::Results>& {
    return answers[static_cast<std::size_t>(question)];
  };
  const auto accidents = engine::From(collisions);
  const auto weeks = engine::Stream(accidents)
                         .Map([](const Collision& collision) { return InWeek{collision.week, collision.lethal}; })
                         .KeyBy([](const InWeek& accident) { return accident.week; })
                         .Aggregate(engine::Sum{&InWeek::lethal});
  std::vector<std::unique_ptr<engine::GraphQuery>> asked;
  if (const auto& place = place_of(Question::kWeeks)) {
    asked.push_back(engine::Stream(weeks).Map(&ToWeekRow).To(*place));
  }
  if (const auto& place = place_of(Question::kFactors)) {
    asked.push_back(engine::Stream(accidents)
                        .FlatMap([](const Collision& collision) { return FactorsOf(collision); })
                        .KeyBy([](const WithFactor& accident) { return accident.factor; })
                        .Aggregate(engine::Several{engine::Count{}, engine::Sum{&WithFactor::lethal}})
                        .Map(&ToFactorRow)
                        .To(*place));
  }
  if (const auto& place = place_of(Question::kBoroughs)) {
    const auto counts = engine::Stream(accidents)
                            .Filter([](const Collision& collision) { return !collision.borough.empty(); })
                            .Map([](const Collision& collision) {
                              return InBorough{{collision.borough, collision.week}, collision.lethal};
                            })
                            .KeyBy([](const InBorough& accident) { return accident.at; })
                            .Aggregate(engine::Several{engine::Count{}, engine::Sum{&InBorough::lethal}})
                            .Map(&ToCounts);
    auto lethal_of_boroughs = engine::Stream(counts)
                                  .KeyBy([](const Counts& week) { return week.at.borough; })
                                  .Aggregate(engine::Sum{&Counts::lethal_accidents})
                                  .Map(&ToLethalOfBorough);
    auto number_of_weeks =
        engine::Stream(weeks).Aggregate(engine::Count{}).Map([](const WindowResult<AllRecords, std::uint64_t>& all) {
          return all.value;
        });
    auto means = engine::Join(std::move(lethal_of_boroughs), std::move(number_of_weeks))
                     .On(kAllTogether, kAllTogether)
                     .Window(engine::Unbounded{})
                     .Map(&ToMean);
    asked.push_back(
        engine::Join(engine::Stream(counts), std::move(means))
            .On([](const Counts& week) { return week.at.borough; }, [](const Mean& mean) { return mean.borough; })
            .Window(engine::Unbounded{})
            .Map(&ToBoroughRow)
            .To(*place));
  }
  GLAIVE_CHECK(!asked.empty(), "no question about collisions is asked");
  std::vector<const engine::GraphQuery*> queries;
  for (const std::unique_ptr<engine::GraphQuery>& query : asked) {
    queries.push_back(query.get());
  }
  return engine::GraphQuery::Unite(queries);
}

}  // namespace glaive::queries::collisions
