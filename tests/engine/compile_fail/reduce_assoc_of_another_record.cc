// expect: glaive: ReduceAssoc() takes a function of two records of the stream, const Record&, which returns one; this
// one is
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct View {};
auto query = Clicks().KeyBy(&Click::page).ReduceAssoc([](const View& a, const View&) { return a; }).To(Discard{});

}  // namespace glaive::engine
