// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Seen {
  Text last;
  std::uint64_t count;
};

auto query = Clicks().KeyBy(&Click::page).Fold(Seen{}, [](Seen& seen, const Click&) { seen.last = Text("page"); });

}  // namespace glaive::engine
