// expect: glaive: CsvFile<R>() takes a struct R with GLAIVE_RECORD
#include <optional>

#include "engine/source/csv_file.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

struct Inner {
  int x;
};
GLAIVE_RECORD(Inner, x)
struct Outer {
  std::optional<Inner> inner;
};
GLAIVE_RECORD(Outer, inner)

auto source = CsvFile<Outer>({});

}  // namespace glaive::engine
