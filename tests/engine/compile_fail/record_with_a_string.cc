// expect: glaive: From() takes a source of plain data
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Named {
  std::string name;
  std::int64_t time_ms;
};

auto query = From(SourceSpec<Named, std::int64_t (*)(const Named&)>{}).KeyBy([](const Named&) { return 1; });

}  // namespace glaive::engine
