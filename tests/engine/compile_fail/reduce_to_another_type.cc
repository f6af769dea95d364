// expect: glaive: Reduce() takes a function of a record, Record&, and the next one, const Record&, which changes the
// first and returns nothing, or returns the new one
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query =
    Clicks().KeyBy(&Click::page).Reduce([](const Click& a, const Click& b) { return a.price + b.price; }).To(Discard{});

}  // namespace glaive::engine
