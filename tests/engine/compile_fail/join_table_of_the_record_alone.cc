// expect: glaive: this step takes a function of a record, const Record&, and of a second value: of JoinTable() the
// table's
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::shared_ptr<const StaticTable<std::uint64_t, std::uint64_t>> sites;
auto query = Clicks().JoinTable(sites, &Click::page, [](const Click& click) { return click; }).To(Discard{});

}  // namespace glaive::engine
