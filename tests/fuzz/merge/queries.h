// The queries of merge_fuzz. Templates of queries take long to compile, so they are in several files.
#pragma once

#include "tests/fuzz/ticks.h"

namespace glaive::engine {

/// Each appends some; the corpus selects queries by their place in the order of these functions.
void AddSimpleQueries(Queries& queries);
void AddWideQueries(Queries& queries);
void AddJoins(Queries& queries);
void AddTexts(Queries& queries);

}  // namespace glaive::engine
