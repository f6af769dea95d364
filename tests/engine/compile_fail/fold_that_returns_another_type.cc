// expect: glaive: Fold() and Scan() take a function of a state, State&, and a record, const Record&, which changes the
// state and returns nothing, or returns the new state
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().KeyBy(&Click::page).Fold(0, [](int count, const Click&) { return count + 1.5; }).To(Discard{});

}  // namespace glaive::engine
