// expect: glaive: GLAIVE_RECORD(Word, ...) names all members of the struct, in the order in which it declares them
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Word {
  std::uint64_t number;
  std::uint32_t count;
  std::uint32_t other;
};
GLAIVE_RECORD(Word, number, count)

auto query = Clicks().FlatMap([](const Click&) { return std::vector<Word>(); });

}  // namespace glaive::engine
