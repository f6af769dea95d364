// expect: glaive: JsonLines needs GLAIVE_RECORD of each type T it writes
#include "engine/sink/json_lines.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().To(JsonLines{"clicks.jsonl"});

}  // namespace glaive::engine
