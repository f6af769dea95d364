// Which processors the executors and threads of a run keep to: the same for the loop as for the engine, since one may
// have a busier neighbour than another.
#pragma once

#include <cstddef>
#include <vector>

namespace glaive::bench {

/// A processor for each of `count` executors or threads, the last ones first; empty, for none, if there are fewer.
std::vector<int> ProcessorsFor(std::size_t count);

}  // namespace glaive::bench
