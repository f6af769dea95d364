// expect: glaive: a struct with a Text is described by GLAIVE_RECORD(Struct, member, member, ...) beside it; texts may
// be in structs, std::array and std::optional
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Page {
  Text site;
  std::uint64_t number;
};

auto query = OnPages().Window(Tumbling{absl::Seconds(1)}).Keep([](const Click&) { return Page{}; }, &Click::price);

}  // namespace glaive::engine
