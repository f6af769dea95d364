// expect: glaive: GLAIVE_RECORD(Word, ...) names all members of the struct, in the order in which it declares them
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Word {
  Text text;
  Text other;
};
GLAIVE_RECORD(Word, other, text)

auto query = Clicks().FlatMap([](const Click&) { return std::vector<Word>(); });

}  // namespace glaive::engine
