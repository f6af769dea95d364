// expect: glaive: CsvFile<R>() takes a struct R with GLAIVE_RECORD
#include "engine/source/csv_file.h"
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

auto source = CsvFile<Click>({}, [](const Click&) { return 0; });

}  // namespace glaive::engine
