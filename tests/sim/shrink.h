// Shrinking: makes a failing scenario smaller as long as it fails.
#pragma once

#include <functional>

#include "tests/sim/scenario.h"

namespace glaive::sim {

/// `fails` says whether a scenario does; it is tried some hundred times at most.
Scenario Shrink(const Scenario& scenario, const std::function<bool(const Scenario&)>& fails);

}  // namespace glaive::sim
