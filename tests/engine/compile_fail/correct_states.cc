// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

// States of keys and of all records: functions that change the state, and functions that return the new one.
struct Total {
  std::uint64_t count = 0;
  double price = 0;
};

Total Added(const Total& total, const Click& click) {
  return {.count = total.count + 1, .price = total.price + click.price};
}

auto scan =
    Clicks().KeyBy(&Click::page).Scan(Total{}, &Added).Filter([](const auto& row) { return row.value.count > 1; });
auto fold = Clicks().Fold(Total{}, [](Total& total, const Click& click) { total.price += click.price; }).To(Discard{});
auto dearest = Clicks().KeyBy(&Click::page).Partition().Reduce([](const Click& a, const Click& b) {
  return a.price < b.price ? b : a;
});
auto latest = Clicks().Reduce([](Click& a, const Click& b) { a.time_ms = b.time_ms; }).To(Discard{});
// With texts.
auto last_page = Clicks().RichMap(Text(), [](Text& last, const Click& click) {
  last = Text("page");
  return click;
});
auto pages = Clicks().KeyBy(&Click::page).Scan(std::array<Text, 2>{}, [](std::array<Text, 2>& last, const Click&) {
  last = {Text("page"), last[0]};
});
auto numbered = Clicks().KeyBy(&Click::page).RichMap(0, [](int& count, const Click&) { return ++count; }).Shuffle();

}  // namespace glaive::engine
