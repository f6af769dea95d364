// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Word {
  std::array<Text, 2> texts;
};

auto query = Clicks().Map([](const Click&) { return Word{}; }).Shuffle();

}  // namespace glaive::engine
