// expect: glaive: a state with a Text is plain data; in a container such as std::vector its bytes would be gone when
// the next record comes: store a std::string there
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto query = Clicks().RichMap(std::vector<Text>(), [](std::vector<Text>& seen, const Click& click) {
  seen.push_back(Text("page"));
  return click.page;
});

}  // namespace glaive::engine
