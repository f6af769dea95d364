// The queries of the suite: what each file of this folder defines, and AllQueries, which lists them.
//
//   const QueryDefinition& query = AllQueries()[1];    // q1
#pragma once

#include <span>

#include "queries/nexmark/suite/query_definition.h"

namespace glaive::queries::nexmark::suite {

BuildFunction BuildQ0;
BuildFunction BuildQ1;
BuildFunction BuildQ2;
BuildFunction BuildQ3;
BuildFunction BuildQ4;
BuildFunction BuildQ5;
BuildFunction BuildQ6;
BuildFunction BuildQ7;
BuildFunction BuildQ8;
BuildFunction BuildQ9;
BuildFunction BuildQ10;
BuildFunction BuildQ11;
BuildFunction BuildQ12;
BuildFunction BuildQ13;
BuildFunction BuildQ14;
BuildFunction BuildQ15;
BuildFunction BuildQ16;
BuildFunction BuildQ17;
BuildFunction BuildQ18;
BuildFunction BuildQ19;
BuildFunction BuildQ20;
BuildFunction BuildQ21;
BuildFunction BuildQ22;

LoopFunction LoopQ1;
LoopFunction LoopQ2;
LoopFunction LoopQ5;
LoopFunction LoopQ7;
LoopFunction LoopQ8;

RecomputeFunction RecomputeQ0;
RecomputeFunction RecomputeQ1;
RecomputeFunction RecomputeQ2;
RecomputeFunction RecomputeQ3;
RecomputeFunction RecomputeQ4;
RecomputeFunction RecomputeQ5;
RecomputeFunction RecomputeQ6;
RecomputeFunction RecomputeQ7;
RecomputeFunction RecomputeQ8;
RecomputeFunction RecomputeQ9;
RecomputeFunction RecomputeQ10;
RecomputeFunction RecomputeQ11;
RecomputeFunction RecomputeQ12;
RecomputeFunction RecomputeQ13;
RecomputeFunction RecomputeQ14;
RecomputeFunction RecomputeQ15;
RecomputeFunction RecomputeQ16;
RecomputeFunction RecomputeQ17;
RecomputeFunction RecomputeQ18;
RecomputeFunction RecomputeQ19;
RecomputeFunction RecomputeQ20;
RecomputeFunction RecomputeQ21;
RecomputeFunction RecomputeQ22;

/// In the order of their numbers.
std::span<const QueryDefinition> AllQueries();

}  // namespace glaive::queries::nexmark::suite
