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

struct Visit {
  Page page;
  std::optional<Text> referrer;
  double seconds;
};
GLAIVE_RECORD(Visit, page, referrer, seconds)

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
auto moved = Visits().Shuffle().KeyBy(&Visit::page).Partition().DropKey().Broadcast().To(Discard{});

}  // namespace glaive::engine
