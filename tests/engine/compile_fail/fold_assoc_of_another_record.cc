// expect: glaive: the first function of FoldAssoc() takes an accumulator, A&, and a record of the stream, const Record&
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct View {};
auto query =
    Clicks().FoldAssoc(0, [](int& count, const View&) { ++count; }, [](int& count, int other) { count += other; });

}  // namespace glaive::engine
