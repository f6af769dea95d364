// expect: glaive: Fold() and Scan() take a function of a state, State&, and a record, const Record&, which changes the
// state and returns nothing, or returns the new state
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Scan(0, [](int& count, const std::string_view&) { ++count; }).To(Discard{});

}  // namespace glaive::engine
