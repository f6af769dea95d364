// expect: glaive: Distinct{} is not for CountWindow or Transaction
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Window(CountWindow{.size = 10}).Aggregate(Distinct{&Click::page}).To(Discard{});

}  // namespace glaive::engine
