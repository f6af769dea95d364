// expect: glaive: a function of a query takes its record by value or as const Record&, and cannot change it;
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .Map([](Click& click) {
                   click.page = 1;
                   return click;
                 })
                 .To(Discard{});

}  // namespace glaive::engine
