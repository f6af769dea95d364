// expect: glaive: JoinTable() takes the key of a record as the table has it, of the table's key type
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

std::shared_ptr<const StaticTable<Text, std::uint64_t>> sites;
auto query =
    Clicks().JoinTable(sites, &Click::page, [](const Click&, std::uint64_t site) { return site; }).To(Discard{});

}  // namespace glaive::engine
