// The queries of exchange_fuzz: all their messages are those of exchanges.
#pragma once

#include "tests/fuzz/ticks.h"

namespace glaive::engine {

Queries ExchangeQueries();

}  // namespace glaive::engine
