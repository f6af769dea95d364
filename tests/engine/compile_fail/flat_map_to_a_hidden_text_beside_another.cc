// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Tags {
  Text tags[2];
};
struct Word {
  Text text;
  Tags more;
};
GLAIVE_RECORD(Word, text, more)

auto query = Clicks().FlatMap([](const Click&) { return std::vector<Word>(); });

}  // namespace glaive::engine
