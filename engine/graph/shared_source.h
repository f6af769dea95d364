// FamiliesBySource: which streams of a query have records of one source. They are a family.
//
// How far the streams of a family have come cannot be compared: WithEventTime may give one of them times that are an
// hour earlier, and the source would wait for the hour that only its own records bring.
//
//   const bool are_comparable = FamiliesBySource({left, right})[1] != 0;
#pragma once

#include <cstddef>
#include <vector>

#include "engine/graph/vertex.h"

namespace glaive::engine {

/// Of each stream the number of the first one in its family: of those with which it shares a source, also by way of
/// others. Its own number if there is none.
std::vector<std::size_t> FamiliesBySource(const std::vector<const Vertex*>& streams);

}  // namespace glaive::engine
