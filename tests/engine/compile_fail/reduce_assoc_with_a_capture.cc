// expect: glaive: ReduceAssoc() takes a lambda without captures, or another function that is a type of its own
#include "engine/steps/fold.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

int step = 1;
auto query =
    Clicks().Aggregate(ReduceAssoc([by = step](const Click& a, const Click&) { return by == 0 ? Click{} : a; }));

}  // namespace glaive::engine
