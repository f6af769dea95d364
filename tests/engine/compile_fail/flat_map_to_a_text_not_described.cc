// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Word {
  std::uint64_t number;
  std::optional<Text> text;
};

auto query = Clicks().FlatMap([](const Click&) { return std::vector<Word>(); });

}  // namespace glaive::engine
