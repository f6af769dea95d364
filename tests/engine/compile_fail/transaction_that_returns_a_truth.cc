// expect: glaive: Transaction() takes a function of a record, const Record&, which returns an InTransaction
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks()
                 .KeyBy(&Click::page)
                 .Window(Transaction([](const Click&) { return true; }))
                 .Aggregate(Count{})
                 .To(Discard{});

}  // namespace glaive::engine
