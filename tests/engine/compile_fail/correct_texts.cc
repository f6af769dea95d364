// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Page {
  Text site;
  std::uint64_t number;
  std::array<Text, 2> words;

  friend bool operator==(const Page&, const Page&) = default;
};
GLAIVE_RECORD(Page, site, number, words)

/// What is chosen of a page: all compares with all.
struct Place {
  Text site;
  std::uint64_t number;

  friend auto operator<=>(const Place&, const Place&) = default;
};
GLAIVE_RECORD(Place, site, number)

struct Visit {
  Page page;
  std::optional<Text> referrer;
  double seconds;
  std::uint64_t seconds_in_full;
};
GLAIVE_RECORD(Visit, page, referrer, seconds, seconds_in_full)

auto Visits() {
  return Clicks().Map([](const Click&) { return Visit{}; });
}

auto by_page = Visits()
                   .KeyBy(&Visit::page)
                   .Window(Tumbling{absl::Seconds(1)})
                   .Aggregate(Several{Count{}, Sum{&Visit::seconds}})
                   .Map([](const auto& row) { return row.key.site; })
                   .KeyBy([](const Text& site) { return site; })
                   .Window(Tumbling{absl::Seconds(2)})
                   .Aggregate(Distinct{[](const Text& site) { return site; }})
                   .To(Discard{});
Place PlaceOf(const Visit& visit) { return {.site = visit.page.site, .number = visit.page.number}; }
auto chosen = Visits()
                  .KeyBy(&Visit::seconds_in_full)
                  .Window(Session{absl::Seconds(1)})
                  .Aggregate(Several{Last{&Visit::seconds_in_full, &PlaceOf}, First{&PlaceOf, &Visit::seconds_in_full},
                                     TopK<3>(&PlaceOf), Min{[](const Visit& visit) { return visit.page.site; }}})
                  .To(Discard{});
auto pairs = Join(Visits(), Visits())
                 .On(&Visit::seconds_in_full, &Visit::seconds_in_full)
                 .Window(Tumbling{absl::Seconds(1)})
                 .Keep(&PlaceOf, &Visit::referrer)
                 .To(Discard{});
auto moved = Visits().Shuffle().KeyBy(&Visit::page).Partition().DropKey().Broadcast().To(Discard{});

}  // namespace glaive::engine
