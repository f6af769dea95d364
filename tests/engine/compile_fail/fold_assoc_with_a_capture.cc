// expect: glaive: FoldAssoc() takes lambdas without captures, or other functions that are types of their own
#include "engine/steps/fold.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

int step = 1;
auto query = Clicks().Aggregate(FoldAssoc(
    0, [by = step](int& count, const Click&) { count += by; }, [](int& count, int other) { count += other; }));

}  // namespace glaive::engine
