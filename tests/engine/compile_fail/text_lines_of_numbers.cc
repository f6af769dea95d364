// expect: glaive: TextLines writes a Text
#include "engine/sink/text_lines.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().Map([](const Click& click) { return click.page; }).To(TextLines{"clicks.txt"});

}  // namespace glaive::engine
