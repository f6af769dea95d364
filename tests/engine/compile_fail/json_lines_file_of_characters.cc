// expect: glaive: JsonLinesFile<R>() takes a struct R with GLAIVE_RECORD
#include <array>

#include "engine/source/json_lines_file.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Named {
  std::array<char, 8> name;
};
GLAIVE_RECORD(Named, name)

auto source = JsonLinesFile<Named>({});

}  // namespace glaive::engine
