// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

// Windows by order and of all records: which functions Process and Transaction take.
std::optional<double> Dearest(const NumberedWindow&, std::span<const Click> clicks) {
  return clicks.size() > 1 ? std::optional(clicks.back().price) : std::nullopt;
}
std::vector<double> Prices(std::uint64_t, const TimeWindow&, std::span<const Click> clicks) {
  return std::vector<double>(clicks.size(), clicks.front().price);
}
InTransaction IsBoundary(const Click& click) {
  return click.price > 9 ? InTransaction::kCloses : InTransaction::kGoesOn;
}

auto by_count =
    Clicks().KeyBy(&Click::page).Window(CountWindow{.size = 10, .slide = 5}).Aggregate(Count{}).To(Discard{});
auto of_all = Clicks().Window(CountWindow{.size = 10}).Process(&Dearest).Filter([](const auto& row) {
  return row.records == 10;
});
auto closed = Clicks().KeyBy(&Click::page).Partition().Window(Transaction(&IsBoundary)).Aggregate(Max{&Click::price});
auto prices = Clicks().KeyBy(&Click::page).Window(Session{absl::Seconds(1)}).Process(&Prices).To(Discard{});
auto by_clock =
    Clicks().KeyBy(&Click::page).Window(ProcessingTime(Tumbling{absl::Seconds(1)})).Aggregate(Count{}).To(Discard{});
auto with_times = Clicks().WithProcessingTime().MapWithTime([](const Click&, std::int64_t time_ms) { return time_ms; });
auto with_clock = Clicks().WithProcessingTime().Window(Tumbling{absl::Seconds(1)}).Aggregate(Count{}).To(Discard{});

}  // namespace glaive::engine
